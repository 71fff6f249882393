//! Ten thousand spawns, and a check that nothing leaks.

use std::time::{Duration, Instant};

use serde_json::json;
use windlass_protocol::{HandleState, ReplyContent};
use windlass_runtime::{RunOptions, Session};
use windlass_testing::batch;

use super::fixture::{Fixture, expect_well};
use super::plan::Pace;
use super::proc;
use super::table::{Goal, Line, Quantity, Unit};

/// A batch is half handles, half one-shots.
const AT_ONCE: usize = 20;

/// Resources that may leak.
#[derive(Debug, Clone, Copy)]
struct Left {
    zombies: usize,
    /// Descriptors of this process and of the zygote.
    descriptors: usize,
    memory: f64,
}

impl Left {
    fn now() -> Self {
        let descendants = proc::descendants();
        let own = std::process::id();
        let zygotes = descendants.iter().filter(|seen| seen.parent == own);
        let others: usize = zygotes
            .filter(|zygote| !zygote.is_zombie())
            .map(|zygote| proc::descriptors(zygote.pid))
            .sum();
        Self {
            zombies: descendants.iter().filter(|seen| seen.is_zombie()).count(),
            descriptors: proc::descriptors(own) + others,
            memory: proc::proportional(own),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are small here")]
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let warm_up = fixture.session();
    run(&warm_up, 5).await;
    warm_up.close().await;
    let before = Left::now();
    let session = fixture.session();
    let batches = pace.pick(500, 25);
    let start = Instant::now();
    run(&session, batches).await;
    let rate = (batches * AT_ONCE) as f64 / start.elapsed().as_secs_f64();
    session.close().await;
    drop(session);
    let after = come_to_rest(before).await;
    let line = |what: String, measured, unit, floor: f64, goal| Line {
        what,
        measured: Quantity::once(measured, unit),
        floor: Some(Quantity::once(floor, unit)),
        goal,
    };
    vec![
        Line {
            what: format!("{} spawns, {AT_ONCE} at a time", batches * AT_ONCE),
            measured: Quantity::once(rate, Unit::PerSecond),
            floor: None,
            goal: Goal::Nothing,
        },
        line(
            "… zombies, against before".to_owned(),
            after.zombies as f64,
            Unit::Pieces,
            before.zombies as f64,
            Goal::AtMost(0.0),
        ),
        line(
            "… descriptors, against before".to_owned(),
            after.descriptors as f64,
            Unit::Pieces,
            before.descriptors as f64,
            Goal::AtMost(before.descriptors as f64),
        ),
        line(
            "… memory, against before".to_owned(),
            after.memory,
            Unit::KiB,
            before.memory,
            Goal::Times(1.1),
        ),
    ]
}

async fn run(session: &Session, batches: usize) {
    for _ in 0..batches {
        let calls: [_; AT_ONCE] = std::array::from_fn(|place| {
            let arguments = if place % 2 == 0 {
                json!({})
            } else {
                json!({"action": "spawn", "id": format!("n{place}")})
            };
            ("nothing", arguments)
        });
        let reply = session.run(batch(calls), RunOptions::default()).await;
        expect_well(&reply);
        for reply in reply.replies {
            if let ReplyContent::Handle(view) = reply.content {
                assert_eq!(view.state, HandleState::Stopped);
            }
        }
    }
}

/// The resources once they are as before, or after two seconds: cleanup by a
/// pool or a reaper after the reply is no leak.
async fn come_to_rest(before: Left) -> Left {
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        let now = Left::now();
        let rests = now.zombies == 0 && now.descriptors <= before.descriptors;
        if rests || Instant::now() >= deadline {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
