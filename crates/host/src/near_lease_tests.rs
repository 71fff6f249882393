//! Silence, leases and backoff, with a clock that advances when everything waits for it.

use windlass_process::Stdin;

use super::*;

/// The lease of programs that are not kept.
const LEASE: Duration = Duration::from_mins(10);
/// The interval of heartbeats in the options of a [`Stage`].
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The precision of timers.
const TICK: Duration = Duration::from_millis(1);

/// This time has passed since `begun`.
#[track_caller]
fn assert_passed(begun: Instant, time: Duration) {
    let passed = begun.elapsed();
    assert!(passed >= time && passed <= time + TICK, "{passed:?}");
}

impl Stage {
    /// Loses the link, and refuses others until the stage is back.
    async fn lose(&self, far: FarSide, process: &Process) {
        self.source.is_away.store(true, Ordering::Relaxed);
        drop(far);
        process.unreachable_for(Duration::ZERO).await;
    }

    fn come_back(&self) {
        self.source.is_away.store(false, Ordering::Relaxed);
    }
}

#[track_caller]
fn assert_lost(exit: &Exit, expected: &str) {
    let Exit::Lost(why) = exit else {
        panic!("{exit:?}");
    };
    assert_eq!(why, expected);
}

#[tokio::test(start_paused = true)]
async fn a_silent_link_is_lost_after_three_heartbeats() {
    let mut stage = Stage::new();
    let (process, _far, _) = stage.started().await;
    let begun = Instant::now();
    process.unreachable_for(Duration::ZERO).await;
    assert_passed(begun, HEARTBEAT * 3);
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_within_each_three_keeps_a_quiet_link() {
    let mut stage = Stage::new();
    let (process, far, _) = stage.started().await;
    for _ in 0..100 {
        tokio::time::sleep((HEARTBEAT * 3).saturating_sub(TICK * 2)).await;
        assert!(process.unreachable().is_none());
        far.send(&FarFrame::Beat);
    }
    assert_eq!(stage.source.opened.lock().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_near_end_sends_heartbeats_itself() {
    let mut stage = Stage::new();
    let begun = Instant::now();
    let (_process, mut far, _) = stage.started().await;
    for number in 1..=2 {
        let beat = far.reader.next(NearFrame::read).await.unwrap();
        assert_eq!(beat, NearFrame::Beat);
        assert_passed(begun, HEARTBEAT * number);
    }
}

#[tokio::test(start_paused = true)]
async fn each_program_is_lost_with_its_own_lease() {
    let mut stage = Stage::new();
    let longer = Duration::from_secs(1234);
    let kept = OwnedKept::take(stage.key()).unwrap();
    kept.note_lease(longer);
    drop(kept);
    let (kept, mut far, _) = adopted(&mut stage, false).await;
    let starting = stage.start(Command::new("it"));
    far.start().await;
    let own = starting.await.unwrap().unwrap();
    let begun = Instant::now();
    stage.lose(far, &own).await;
    let lost = own.wait().await;
    assert_passed(begun, LEASE);
    assert_lost(
        &lost,
        "host `there` was unreachable for its lease of 600 s (it is away); the host ends the program",
    );
    assert_eq!(kept.exit(), None);
    kept.wait().await;
    assert_passed(begun, longer);
}

#[tokio::test(start_paused = true)]
async fn an_outage_shorter_than_the_lease_costs_nothing() {
    let mut stage = Stage::new();
    let starting = stage.start(Command::new("it").stdin(Stdin::Pipe));
    let mut far = stage.link().await;
    let number = far.start().await;
    let process = starting.await.unwrap().unwrap();
    far.output(number, 0, b"first");
    received(&process, 5).await;
    stage.lose(far, &process).await;
    for line in ["one\n", "two\n"] {
        process.write(line.as_bytes()).unwrap();
    }
    tokio::time::sleep(LEASE.saturating_sub(Duration::from_secs(6))).await;
    stage.come_back();
    let mut far = stage.link().await;
    assert_eq!(far.resume().await, (number, 5));
    far.resumed(number, false);
    for (id, line) in [(1, "one\n"), (2, "two\n")] {
        let order = HolderOrder::Write(line.as_bytes().to_vec());
        let program = number;
        assert_eq!(far.next().await, NearFrame::Order { program, id, order });
    }
    // The lease was for one outage.
    far.output(number, 5, b" part");
    received(&process, 10).await;
    stage.lose(far, &process).await;
    tokio::time::sleep(LEASE.saturating_sub(Duration::from_secs(6))).await;
    assert_eq!(process.exit(), None);
}

#[tokio::test(start_paused = true)]
async fn a_lease_does_not_count_while_the_far_side_cannot_know_of_the_loss() {
    let mut stage = Stage::new();
    *stage.source.since.lock() = None;
    let (process, far, _) = stage.started().await;
    stage.lose(far, &process).await;
    tokio::time::sleep(LEASE * 100).await;
    assert_eq!(process.unreachable().unwrap().lease, None);
    assert_eq!(process.exit(), None);
    let begun = Instant::now();
    *stage.source.since.lock() = Some(begun);
    process.wait().await;
    assert_passed(begun, LEASE);
}

#[tokio::test(start_paused = true)]
async fn a_lease_counts_while_an_attempt_to_connect_hangs() {
    let lease = Duration::from_secs(20);
    let mut stage = Stage::with_lease(lease);
    let (process, far, _) = stage.started().await;
    let begun = Instant::now();
    drop(far);
    // Nobody answers the hello.
    let _silent = stage.links.recv().await.unwrap();
    let lost = process.wait().await;
    assert_passed(begun, lease);
    assert_lost(
        &lost,
        "host `there` was unreachable for its lease of 20 s (it does not answer); the host ends the program",
    );
}

#[tokio::test(start_paused = true)]
async fn attempts_to_connect_become_rarer() {
    let mut stage = Stage::new();
    let (process, far, _) = stage.started().await;
    let lost = Instant::now();
    stage.lose(far, &process).await;
    stage.source.opened.lock().clear();
    tokio::time::sleep(Duration::from_secs(22)).await;
    let opened = stage.source.opened.lock().clone();
    let expected = [0.1, 0.3, 0.7, 1.5, 3.1, 6.3, 11.3, 16.3, 21.3];
    let opened: Vec<f64> = opened.iter().map(|it| (*it - lost).as_secs_f64()).collect();
    assert_eq!(opened.len(), expected.len(), "{opened:?}");
    for (opened, expected) in opened.iter().zip(expected) {
        assert!((opened - expected).abs() < 0.02, "{opened} {expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn all_programs_of_a_dead_machine_are_lost_with_the_first_answer() {
    let mut stage = Stage::new();
    let (first, mut far, _) = stage.started().await;
    let mut all = vec![first];
    for _ in 1..40 {
        let starting = stage.start(Command::new("it"));
        far.start().await;
        all.push(starting.await.unwrap().unwrap());
    }
    let begun = Instant::now();
    // Silent from now on, but not closed.
    let _dead = far;
    let mut far = stage.link().await;
    for _ in &all {
        let (number, _) = far.resume().await;
        far.gone(number, "its machine was silent");
    }
    for process in &all {
        let lost = process.wait().await;
        assert_lost(&lost, "host `there`: its machine was silent");
    }
    assert_passed(begun, HEARTBEAT * 3);
}

#[tokio::test(start_paused = true)]
async fn a_time_without_a_link_begins_again_with_each_loss() {
    let mut stage = Stage::new();
    let (process, far, number) = stage.started().await;
    let time = Duration::from_secs(10);
    let waiting = process.clone();
    let waiting = tokio::spawn(async move { waiting.unreachable_for(time).await });
    stage.lose(far, &process).await;
    tokio::time::sleep(time / 2).await;
    stage.come_back();
    let mut far = stage.link().await;
    assert_eq!(far.resume().await, (number, 0));
    far.resumed(number, false);
    tokio::time::sleep(time).await;
    assert!(!waiting.is_finished());
    let begun = Instant::now();
    stage.lose(far, &process).await;
    waiting.await.unwrap();
    assert_passed(begun, time);
}
