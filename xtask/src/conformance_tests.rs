use super::*;

fn check(id: &str, status: &str) -> String {
    format!(r#"{{"id":"{id}","status":"{status}","errorMessage":"why"}}"#)
}

#[test]
fn a_failed_check_is_a_fault_unless_it_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("server-x");
    std::fs::create_dir(&scenario).unwrap();
    let checks = [
        check("tools-list", "SUCCESS"),
        check("tasks-mrtr-partial-fulfillment", "FAILURE"),
        check("tasks-lifecycle", "FAILURE"),
        check("other", "INFO"),
    ];
    let checks = format!("[{}]", checks.join(","));
    std::fs::write(scenario.join("checks.json"), checks).unwrap();
    let (passed, faults) = read(folder.path()).unwrap();
    assert_eq!(passed, 1);
    assert_eq!(faults, ["tasks-lifecycle: why"]);
}

#[test]
fn every_exception_says_why() {
    assert!(NOT_OURS.iter().all(|(_, why)| !why.is_empty()));
    assert!(reason("tasks-mrtr-partial-fulfillment").is_some());
    assert_eq!(reason("prompts-list"), None);
}
