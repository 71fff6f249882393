use super::MachineReport;

#[test]
fn checks_are_read_between_messages_of_the_kernel() {
    let console = "[    0.1] Linux\r\n@@\troot\tmount\tok\theld\r\nnoise\n@@\troot\tread a key\tFAILED\tgot out\n\
                   @@\tmachine\tend\tok\t\n";
    let report = MachineReport::read(console);
    assert_eq!(report.failures(), 1);
    let text = report.to_string();
    assert!(
        text.contains("FAILED  root: read a key: got out\n"),
        "{text}"
    );
    assert!(text.ends_with("2 passed, 1 failed, 0 open\n"), "{text}");
}

#[test]
fn a_machine_that_stops_early_has_failed() {
    assert_eq!(MachineReport::read("").failures(), 1);
    let console = "@@\troot\tmount\tok\theld\n[ 3.1] Kernel panic\n";
    assert_eq!(MachineReport::read(console).failures(), 1);
}
