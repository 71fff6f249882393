use super::*;

fn worker(name: &str, slots: u32, running: u32, load: u32, labels: &[&str]) -> WorkerPresence {
    WorkerPresence {
        name: name.to_owned(),
        instance: String::new(),
        machine: String::new(),
        os: String::new(),
        arch: String::new(),
        cpus: 2,
        load,
        version: String::new(),
        labels: labels.iter().map(|&it| it.to_owned()).collect(),
        slots,
        running,
        is_draining: false,
        heartbeat_ms: 1000,
        programs: Vec::new(),
    }
}

fn candidates(workers: &[WorkerPresence]) -> Vec<WorkerCandidate<'_>> {
    let candidate = |presence| WorkerCandidate {
        presence,
        placed: 0,
        related: 0,
        is_last: false,
        is_avoided: false,
    };
    workers.iter().map(candidate).collect()
}

#[test]
fn the_worker_with_the_smallest_part_of_its_slots_taken_is_chosen() {
    let workers = [
        worker("a", 10, 5, 0, &[]),
        worker("b", 100, 6, 900, &[]),
        worker("c", 4, 4, 0, &[]),
    ];
    let mut candidates = candidates(&workers);
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Worker("b"));
    candidates[1].placed = 90;
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Worker("a"));
}

#[test]
fn load_decides_between_equals() {
    let workers = [worker("a", 4, 1, 3000, &[]), worker("b", 4, 1, 1000, &[])];
    assert_eq!(
        choose(&candidates(&workers), &[]),
        PlacementChoice::Worker("b")
    );
}

#[test]
fn a_session_stays_where_its_handles_are_while_half_of_the_slots_are_free() {
    let workers = [worker("a", 4, 1, 3000, &[]), worker("b", 4, 0, 0, &[])];
    let mut candidates = candidates(&workers);
    candidates[0].related = 1;
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Worker("a"));
    candidates[0].placed = 1;
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Worker("b"));
}

#[test]
fn most_handles_decide_before_the_last_place() {
    let workers = [
        worker("a", 20, 3, 0, &[]),
        worker("b", 20, 1, 0, &[]),
        worker("c", 20, 0, 0, &[]),
    ];
    let mut candidates = candidates(&workers);
    candidates[0].related = 3;
    candidates[1].related = 1;
    candidates[1].is_last = true;
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Worker("a"));
    // Its handles have ended.
    candidates[0].related = 0;
    candidates[1].related = 0;
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Worker("b"));
}

#[test]
fn all_labels_are_needed() {
    let workers = [
        worker("a", 4, 0, 0, &["linux"]),
        worker("b", 4, 3, 9000, &["linux", "gpu"]),
    ];
    let labels = ["linux".to_owned(), "gpu".to_owned()];
    let mut candidates = candidates(&workers);
    candidates[0].related = 1;
    assert_eq!(choose(&candidates, &labels), PlacementChoice::Worker("b"));
    assert_eq!(
        choose(&candidates, &["mac".to_owned()]),
        PlacementChoice::Unlabelled
    );
}

#[test]
fn nothing_is_placed_on_a_worker_that_drains_is_full_or_has_refused() {
    let mut workers = [
        worker("a", 4, 0, 0, &[]),
        worker("b", 4, 4, 0, &[]),
        worker("c", 4, 0, 0, &[]),
    ];
    workers[0].is_draining = true;
    let mut candidates = candidates(&workers);
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Worker("c"));
    candidates[2].is_avoided = true;
    assert_eq!(choose(&candidates, &[]), PlacementChoice::Full);
    assert_eq!(choose(&[], &[]), PlacementChoice::Empty);
}
