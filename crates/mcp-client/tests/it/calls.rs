//! Calls and their results, over pipes.

use serde_json::json;
use windlass_outside::needs;

use crate::support::{Stage, eventually, listing};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_are_listed_with_their_schemas() {
    needs!("python3");
    for flags in [
        &[][..],
        &["--modern"],
        &["--leave-on-discover"],
        &["--garbage"],
    ] {
        let tools = listing(flags, None).await.unwrap();
        let echo = tools.iter().find(|tool| tool.name == "echo").unwrap();
        let definition = echo.definition("fixture");
        assert_eq!(definition.summary.as_deref(), Some("Says it again."));
        assert_eq!(definition.shape.parameters.required, ["text"]);
        assert_eq!(definition.origin, "MCP server `fixture`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_answered_with_what_the_server_says() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let text = "first\n\u{1b}[1msecond\r\u{fc}";
    assert_eq!(stage.call("echo", json!({"text": text})).await, json!(text));
    assert_eq!(
        stage.call("structured", json!({})).await,
        json!("{\"answer\":42}")
    );
    let points = json!({"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}});
    assert_eq!(stage.call("add", points).await, json!("4,6"));
    stage.session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_and_refusals_are_distinguished() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    assert_eq!(
        stage.call("fail", json!({})).await,
        json!({"error": "it is broken"})
    );
    assert_eq!(
        stage.call("refuse", json!({})).await,
        json!({"error": "MCP server `fixture` refused the call: not like this (-32602)"})
    );
    let refused = stage.call("echo", json!({"text": 1})).await;
    assert!(refused["error"].as_str().unwrap().contains("`text`"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_is_a_file_beside_the_logs() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let shown = stage.call("picture", json!({})).await;
    let shown = shown.as_str().unwrap();
    let path = shown
        .strip_prefix("look:\n[image, image/png, 9 bytes: ")
        .unwrap();
    let path = path.strip_suffix(']').unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"\x89PNG fake");
    stage.session.close().await;
    assert!(!std::path::Path::new(path).exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_result_is_cut_and_logged() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let bytes = 5 << 20;
    let shown = stage.call("big", json!({"bytes": bytes})).await;
    let shown = shown.as_str().unwrap();
    assert!(shown.len() < 40 << 10, "{}", shown.len());
    let log = shown.rsplit_once("[all of it: ").unwrap().1;
    let log = std::fs::read(log.strip_suffix(']').unwrap()).unwrap();
    assert_eq!(log.len(), bytes);
    stage.session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_the_content_of_a_running_handle() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    let until = stage.path("go");
    let spawn = json!({"action": "spawn", "id": "p", "until": until});
    let spawned = stage.call("progress", spawn).await;
    assert_eq!(spawned["state"], "running");
    let until_said = json!({"until": [{"id": "p", "pattern": "step 3"}]});
    let matched = stage.call("await", until_said).await;
    assert_eq!(matched["matched"][0]["line"], "[3/3] step 3", "{matched}");
    let fetched = stage
        .call("progress", json!({"action": "fetch", "id": "p"}))
        .await;
    // The spawn's own reply may have told the beginning.
    let said = [spawned, fetched].map(|it| it["content"].as_str().unwrap_or_default().to_owned());
    let said: Vec<_> = said.iter().flat_map(|said| said.lines()).collect();
    assert_eq!(said, ["[1/3] step 1", "[2/3] step 2", "[3/3] step 3"]);
    std::fs::write(&until, "").unwrap();
    assert_eq!(stage.stopped("p").await["result"], "done");
    // The output of a one-shot cannot be read while it runs.
    assert_eq!(
        stage.call("progress", json!({"until": until})).await,
        json!("done")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_call_is_cancelled_at_the_server() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    stage
        .call("forever", json!({"action": "spawn", "id": "f"}))
        .await;
    let aborted = stage
        .call("forever", json!({"action": "abort", "id": "f"}))
        .await;
    assert_eq!(aborted["result"], "aborted by the assistant");
    eventually("the server is told", || {
        stage.came().contains(&"notifications/cancelled".to_owned())
    })
    .await;
    let refused = stage
        .call("forever", json!({"action": "spawn", "id": "g"}))
        .await;
    assert_eq!(refused["state"], "running");
    let refused = stage
        .call(
            "forever",
            json!({"action": "apply", "id": "g", "input": "x"}),
        )
        .await;
    assert!(
        refused["error"]
            .as_str()
            .unwrap()
            .contains("takes no input")
    );
    stage.session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_one_server_do_not_wait_for_each_other() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    stage
        .call("forever", json!({"action": "spawn", "id": "f"}))
        .await;
    assert_eq!(stage.call("echo", json!({"text": "x"})).await, json!("x"));
    stage.session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_tools_are_reported() {
    needs!("python3");
    let stage = Stage::new(&[]).await;
    // It may come with the reply, or after it.
    let mut reply = stage.batch("grow", json!({})).await;
    let notice = match reply.notices.pop() {
        Some(notice) => notice,
        None => stage.notice("changed its tools").await,
    };
    assert!(notice.text.contains("(new: `grown`)"), "{}", notice.text);
}
