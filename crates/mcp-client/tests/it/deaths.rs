//! Servers that do not come up, go away, or talk nonsense.

use std::time::Duration;

use serde_json::json;
use windlass_mcp_client::Reach;
use windlass_outside::needs;
use windlass_protocol::{NoticeKind, NoticeLevel};
use windlass_runtime::Catalogue;

use crate::support::{Stage, eventually, listing, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_come_up_says_why() {
    needs!("python3");
    let error = |flags: &'static [&'static str], limit| async move {
        listing(flags, limit).await.unwrap_err().to_string()
    };
    assert_eq!(
        error(&["--exit", "7"], None).await,
        "MCP server `fixture` has ended: exited with code 7: no key"
    );
    assert_eq!(
        error(&["--hang"], Some(Duration::from_millis(700))).await,
        "MCP server `fixture` did not answer within 0.7 s; \
         raise `startup_timeout_secs` in its table"
    );
    let missing = Reach::Program {
        program: "no-such-server".to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: std::env::temp_dir(),
    };
    let missing = server(&Catalogue::new(), missing, None).tools().await;
    let missing = missing.unwrap_err().to_string();
    assert!(
        missing
            .starts_with("MCP server `fixture` could not be started: program \"no-such-server\""),
        "{missing}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_takes_its_calls_along_and_is_started_again() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    stage
        .call("forever", json!({"action": "spawn", "id": "f"}))
        .await;
    let crashed = stage.call("crash", json!({})).await;
    let why = "MCP server `fixture` has ended: exited with code 3: out of cheese";
    assert_eq!(crashed, json!({"error": format!("{why}\ntransient: true")}));
    let stopped = stage.stopped("f").await;
    assert_eq!(stopped["result"], why);
    assert_eq!(stopped["error"], json!({"transient": true}));
    assert_eq!(stage.call("echo", json!({"text": "x"})).await, json!("x"));
    let started = stage.came().iter().filter(|it| *it == "started").count();
    assert_eq!(started, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_hear_of_a_death_and_of_the_new_start() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let reply = stage.batch("crash", json!({})).await;
    let notice = reply.notices.into_iter().next();
    let notice = match notice {
        Some(notice) => notice,
        None => stage.notice("has ended").await,
    };
    assert_eq!(notice.kind, NoticeKind::Server);
    assert_eq!(notice.level, NoticeLevel::Warning);
    assert_eq!(
        notice.text,
        "MCP server `fixture` has ended: exited with code 3: out of cheese; \
         it is restarted when one of its tools is next called"
    );
    let reply = stage.batch("echo", json!({"text": "x"})).await;
    assert_eq!(reply.notices[0].text, "MCP server `fixture` was restarted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_its_output_is_gone() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let reply = stage.call("close", json!({})).await;
    assert_eq!(
        reply,
        json!({"error": "MCP server `fixture` has ended: it closed its output\ntransient: true"})
    );
    assert_eq!(stage.call("echo", json!({"text": "x"})).await, json!("x"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_between_the_messages_is_passed_over() {
    needs!("python3");
    let stage = Stage::new(&["--garbage"]).await;
    for text in ["a", "b"] {
        assert_eq!(stage.call("echo", json!({"text": text})).await, json!(text));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_of_a_server_that_is_gone_for_good_fails() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    // What is left of it cannot be started any more.
    std::fs::remove_dir_all(stage.folder.path()).unwrap();
    stage.call("crash", json!({})).await;
    let reply = stage.call("echo", json!({"text": "x"})).await;
    let error = reply["error"].as_str().unwrap();
    assert!(error.contains("could not be started"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_ends_with_its_tools() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let seconds = format!("7{:07}.25", std::process::id());
    stage.call("child", json!({"seconds": seconds})).await;
    stage.session.close().await;
    let path = stage.path("came").display().to_string();
    let runs = move || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok())
            .filter(|args| String::from_utf8_lossy(args).contains(&path))
            .count()
    };
    assert_eq!(runs(), 1);
    let Stage {
        session,
        server,
        folder,
        ..
    } = stage;
    drop((session, server));
    eventually("the server has ended", || runs() == 0).await;
    drop(folder);
}
