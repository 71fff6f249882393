//! The cost of a terminal whose program waits at a prompt: memory and threads
//! of this process.

use serde_json::json;
use windlass_protocol::HandleState;
use windlass_runtime::{RunOptions, Session};
use windlass_testing::batch;

use super::fixture::{Fixture, at_prompt, expect_well, view};
use super::plan::Pace;
use super::proc;
use super::table::{Goal, Line, Quantity, Unit};

/// How many are spawned per batch.
const AT_ONCE: usize = 10;

/// Threads of the executor's blocking pool, independent of the number of
/// terminals.
const A_FEW: f64 = 8.0;

#[expect(clippy::cast_precision_loss, reason = "there are a thousand")]
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    // One-time costs are not counted.
    spawn(&session, 0).await;
    let before = proc::proportional(std::process::id());
    let threads_before = proc::threads();
    let batches = pace.pick(100, 10);
    for number in 1..=batches {
        spawn(&session, number).await;
    }
    let grown = proc::proportional(std::process::id()) - before;
    let threads = proc::threads() - threads_before;
    session.close().await;
    let count = batches * AT_ONCE;
    vec![
        Line {
            what: format!("{count} idle terminals, each in the runtime"),
            measured: Quantity::once(grown / count as f64, Unit::KiB),
            floor: None,
            goal: Goal::AtMost(192.0),
        },
        Line {
            what: "… threads that they add, all together".to_owned(),
            measured: Quantity::once(threads, Unit::Pieces),
            floor: None,
            goal: Goal::AtMost(A_FEW),
        },
    ]
}

async fn spawn(session: &Session, number: usize) {
    let ids: [String; AT_ONCE] = std::array::from_fn(|place| format!("t{number}-{place}"));
    let calls = ids.each_ref().map(|id| {
        let command = "echo ready; exec cat";
        let spawn = json!({"action": "spawn", "id": id, "command": command, "terminal": true});
        ("shell", spawn)
    });
    let reply = session.run(batch(calls), RunOptions::default()).await;
    expect_well(&reply);
    for reply in reply.replies {
        assert_eq!(view(reply.content).state, HandleState::Running);
    }
    for id in &ids {
        at_prompt(session, id).await;
    }
}
