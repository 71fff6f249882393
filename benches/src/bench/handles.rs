//! The cost of a live handle, in this process and in its shim.

use std::collections::HashSet;

use serde_json::json;
use windlass_protocol::HandleState;
use windlass_runtime::{RunOptions, Session};
use windlass_testing::batch;

use super::fixture::{Fixture, expect_well, view};
use super::plan::Pace;
use super::proc;
use super::table::{Goal, Line, Quantity, Unit};

/// How many are spawned per batch.
const AT_ONCE: usize = 10;

#[expect(clippy::cast_precision_loss, reason = "there are a thousand")]
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    // One-time costs are not counted.
    spawn(&session, 0).await;
    let before = proc::proportional(std::process::id());
    let batches = pace.pick(100, 10);
    for number in 1..=batches {
        spawn(&session, number).await;
    }
    let grown = proc::proportional(std::process::id()) - before;
    let shims = shims();
    let everyone = (batches + 1) * AT_ONCE;
    assert_eq!(shims.len(), everyone, "every handle has a shim");
    let total: f64 = shims.into_iter().map(proc::proportional).sum();
    session.close().await;
    let count = batches * AT_ONCE;
    let line = |what: String, measured, most| Line {
        what,
        measured: Quantity::once(measured, Unit::KiB),
        floor: None,
        goal: Goal::AtMost(most),
    };
    vec![
        line(
            format!("{count} live handles, each in the runtime"),
            grown / count as f64,
            24.0,
        ),
        line(
            "… each in its shim".to_owned(),
            total / everyone as f64,
            256.0,
        ),
    ]
}

async fn spawn(session: &Session, number: usize) {
    let calls: [_; AT_ONCE] = std::array::from_fn(|place| {
        let id = format!("h{number}-{place}");
        ("idle", json!({"action": "spawn", "id": id}))
    });
    let reply = session.run(batch(calls), RunOptions::default()).await;
    expect_well(&reply);
    for reply in reply.replies {
        assert_eq!(view(reply.content).state, HandleState::Running);
    }
}

/// Those of our descendants that are the parent of a tool: the zygote is our
/// child, the shim its child, and the tool the child of the shim.
fn shims() -> HashSet<u32> {
    let all = proc::descendants();
    let children_of = |parents: &HashSet<u32>| -> HashSet<u32> {
        let children = all.iter().filter(|seen| parents.contains(&seen.parent));
        children.map(|seen| seen.pid).collect()
    };
    let zygotes = children_of(&HashSet::from([std::process::id()]));
    let mut shims = children_of(&zygotes);
    shims.retain(|shim| all.iter().any(|seen| seen.parent == *shim));
    shims
}
