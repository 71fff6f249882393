//! Output beyond all measure: replies stay small, the log has all of it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use serde_json::json;

use crate::support::{Project, files_below, spawn};

/// Twenty million bytes in numbered lines.
const FLOOD: &str = "seq 1 10000000 | head -c 20000000";

#[test]
fn a_flood_through_a_one_shot_is_cut_and_logged() {
    let project = Project::new();
    let mut drive = project.drive();
    let content = drive.content("shell", json!({"command": FLOOD}));
    let content = content.as_str().unwrap();
    assert!(content.starts_with("1\n2\n3\n"), "the head is there");
    assert!(content.len() < (32 << 10) + 512, "{} bytes", content.len());
    let (content, footer) = content.rsplit_once('\n').unwrap();
    assert_eq!(footer, "[left-out lines: fetch shell-1]");
    let (text, log) = content.rsplit_once("[all of it: ").unwrap();
    let log = PathBuf::from(log.trim_end().strip_suffix(']').unwrap());
    assert!(text.contains(" lines: "), "there is a marker");
    let middle = json!({"action": "fetch", "id": "shell-1", "lines": "1000000-1000001"});
    let middle = drive.content("shell", middle);
    assert_eq!(middle["content"], json!("1000000\n1000001\n"));
    assert!(log.starts_with(project.state_dir()), "{}", log.display());
    let metadata = std::fs::metadata(&log).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(metadata.len(), 20_000_000);
    let folder = std::fs::metadata(log.parent().unwrap()).unwrap();
    assert_eq!(
        folder.permissions().mode() & 0o077,
        0,
        "nobody else may look"
    );
    assert_eq!(drive.finish().1, Some(0));
    let logs = files_below(&project.state_dir().join("logs"));
    assert_eq!(logs, [log], "it lives as long as its record");
}

#[test]
fn a_limit_may_be_set() {
    let project = Project::with_config(
        "[conversation.tools.shell]\noutput_limit = \"1KiB\"\nlog_limit = \"1MiB\"\n",
    );
    let mut drive = project.drive();
    drive.run([spawn("it", FLOOD)]);
    drive.content("await", json!({"all": ["it"]}));
    let view = drive.content("shell", json!({"action": "fetch", "id": "it"}));
    let result = view["result"].as_str().unwrap();
    assert!(result.len() < 1024 + 256, "{} bytes", result.len());
    assert!(
        view["omitted_bytes"].as_u64().unwrap() > 19_900_000,
        "{view}"
    );
    let log = view["log"].as_str().unwrap();
    // A byte's place in the file is its place in the output, so the file is as
    // long as that and has a hole in it.
    let taken = std::fs::metadata(log).unwrap().blocks() * 512;
    assert!(taken <= 2 << 20, "{taken} bytes");
    drive.finish();
}

#[test]
fn little_output_makes_no_log() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.content("shell", json!({"command": "seq 1 1000"}));
    assert_eq!(
        files_below(&project.state_dir().join("logs")),
        Vec::<PathBuf>::new()
    );
}

#[test]
fn logs_of_a_killed_runtime_are_not_in_the_way() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.content("shell", json!({"command": FLOOD}));
    drive.kill();
    let mut drive = project.drive();
    drive.content("shell", json!({"command": FLOOD}));
    assert_eq!(drive.finish().1, Some(0));
}
