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
        check("prompts-list", "FAILURE"),
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
    assert_eq!(reason("prompts-list"), Some("prompts are not declared"));
    assert_eq!(reason("tools-list"), None);
}
