//! A record that cannot be written: told, waited for, and written later.

use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;
use windlass_protocol::{Batch, BatchReply, NoticeKind, ToolCall};
use windlass_runtime::{RecordFailure, RunMode, RunOptions, Session};
use windlass_skip::{needs, skip};
use windlass_store::Store;
use windlass_testing::ScriptedJob;

use crate::support::{Record, Recorded, parts, record, record_or};

/// Calls the tool, which ends on its own.
async fn call(recorded: &Recorded, id: &str) -> BatchReply {
    call_in(&recorded.session, id).await
}

async fn call_in(session: &Session, id: &str) -> BatchReply {
    let batch = Batch {
        id: format!("b-{id}"),
        calls: vec![ToolCall {
            id: id.to_owned(),
            tool: "tool".to_owned(),
            arguments: json!({}).as_object().cloned().unwrap(),
        }],
    };
    session.run(batch, RunOptions::default()).await
}

fn ended(recorded: &Recorded) {
    recorded.tool.opening(ScriptedJob::end);
}

/// Another process that has the record to itself.
fn lock(record: &Record) -> Connection {
    let other = Connection::open(record.path().join("record.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    other
}

fn told(reply: &BatchReply) -> Vec<String> {
    let notices = reply.notices.iter();
    notices
        .filter(|notice| notice.kind == NoticeKind::Record)
        .map(|notice| notice.text.clone())
        .collect()
}

#[tokio::test]
async fn a_locked_record_is_reported_once_and_written_when_it_is_free() {
    let record = Record::new();
    let recorded = record.session("ses_a");
    ended(&recorded);
    assert_eq!(told(&call(&recorded, "c0").await), [""; 0]);

    let other = lock(&record);
    let reply = call(&recorded, "c1").await;
    let said = told(&reply);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("database is locked"), "{said:?}");
    // It is known to fail, so no call waits for it any more.
    let begun = std::time::Instant::now();
    for number in 2..12 {
        let reply = call(&recorded, &format!("c{number}")).await;
        assert_eq!(told(&reply), [""; 0]);
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
    let trouble = recorded.session.record_trouble().unwrap();
    assert!(trouble.error.is_some() && trouble.waiting > 0 && trouble.lost == 0);

    other.execute_batch("ROLLBACK").unwrap();
    while recorded.session.record_trouble().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let said = told(&call(&recorded, "c12").await);
    assert_eq!(
        said,
        ["the record can be written again; all waiting changes are recorded"]
    );
    assert_eq!(record.parts("ses_a").await.len(), 13);
}

#[tokio::test]
async fn calls_are_refused_where_nothing_may_run_unrecorded() {
    let record = Record::new();
    let recorded = record_or(
        &record.store,
        "ses_b",
        RunMode::Unattended,
        RecordFailure::Stop,
    );
    ended(&recorded);
    let strict = &recorded.session;
    assert!(!call_in(strict, "c0").await.replies[0].is_error);
    let other = lock(&record);
    let reply = call_in(strict, "c1").await;
    assert!(reply.replies[0].is_error);
    let text = reply.replies[0].content.to_text();
    assert!(
        text.contains("the record cannot be written (database is locked)"),
        "{text}"
    );
    assert_eq!(recorded.tool.started().len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    while strict.record_trouble().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!call_in(strict, "c2").await.replies[0].is_error);
}

/// The variable with the folder of the small file system.
const SMALL: &str = "WINDLASS_TEST_FULL_DISK";

/// A full disk: a file system that takes little, in a name space of its own.
#[expect(
    clippy::disallowed_methods,
    reason = "a test that needs a mount of its own"
)]
#[test]
fn a_full_disk_is_reported_and_everything_is_written_once_there_is_room() {
    needs!("unshare", "mount");
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=2m none {}", folder.path().display());
    if !with_own_mounts(&mount).status().unwrap().success() {
        skip!("no mounts of its own for a process");
    }
    let output = with_own_mounts(&format!("{mount} && exec \"$@\""))
        .arg("sh")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "failing::on_a_full_disk", "--ignored"])
        .env(SMALL, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{errors}"
    );
}

/// A shell in name spaces of its own, in which it may mount.
fn with_own_mounts(script: &str) -> std::process::Command {
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "--map-root-user", "sh", "-c", script]);
    command
}

#[ignore = "run on a small file system by the test above"]
#[tokio::test(flavor = "multi_thread")]
async fn on_a_full_disk() {
    let folder = std::path::PathBuf::from(std::env::var_os(SMALL).unwrap());
    let store = Store::open(&folder.join("record")).unwrap();
    let recorded = record(&store, "ses_a", RunMode::Unattended);
    ended(&recorded);
    assert_eq!(told(&call(&recorded, "c0").await), [""; 0]);
    let filler = folder.join("filler");
    // Writes until nothing fits any more.
    let mut size = 1 << 16;
    let mut file = std::fs::File::create(&filler).unwrap();
    while size > 0 {
        use std::io::Write as _;
        if file.write_all(&vec![0; size]).is_err() {
            size /= 2;
        }
    }
    let mut said = Vec::new();
    for number in 1..40 {
        said.extend(told(&call(&recorded, &format!("c{number}")).await));
    }
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("full"), "{said:?}");
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    while recorded.session.record_trouble().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(told(&call(&recorded, "c40").await).len(), 1);
    assert_eq!(parts(&store, "ses_a").await.len(), 41);
}
