use serde_json::json;
use windlass_protocol::Millis;

use super::*;

fn part(id: &str, status: &str) -> Write {
    let state = match status {
        "pending" => json!({"status": "pending", "input": {}, "raw": "{}"}),
        _ => {
            json!({"status": "error", "input": {}, "error": status, "time": {"start": 1, "end": 2}})
        }
    };
    let part = json!({
        "type": "tool", "id": id, "sessionID": "ses_1", "messageID": "msg_1",
        "callID": "c", "tool": "t", "state": state,
    });
    Write::Part {
        part: Arc::new(serde_json::from_value(part).unwrap()),
        at: Millis(1),
    }
}

#[test]
fn of_a_part_only_the_last_change_is_written_where_the_first_one_stood() {
    let writes = vec![
        part("prt_a", "pending"),
        part("prt_b", "pending"),
        part("prt_b", "over"),
        part("prt_a", "over"),
        part("prt_c", "pending"),
    ];
    let left: Vec<String> = without_overtaken(writes)
        .iter()
        .map(|write| match write {
            Write::Part { part, .. } => {
                let state = serde_json::to_value(&part.state).unwrap();
                format!("{} {}", part.id, state["status"].as_str().unwrap())
            }
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(left, ["prt_a error", "prt_b error", "prt_c pending"]);
}

#[tokio::test]
async fn nobody_waits_for_a_thread_that_is_gone() {
    let connection = Connection::open_in_memory().unwrap();
    let writer = WriterThread::start(connection, PathBuf::new()).unwrap();
    assert_eq!(writer.work(|_| 1).await, Some(1));
    let gone: Option<()> = writer.work(|_| panic!("the thread ends")).await;
    assert_eq!(gone, None);
    writer.durable().await;
    assert_eq!(writer.work(|_| 2).await, None);
}
