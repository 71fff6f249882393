//! The order in which tests begin.

use super::*;

fn tests(groups: &[Option<usize>]) -> Vec<Test> {
    let tests = groups.iter().enumerate();
    tests
        .map(|(index, group)| Test {
            name: format!("a it {index}"),
            path: index.to_string(),
            binary: 0,
            group: *group,
        })
        .collect()
}

/// The index of the next test that may begin now.
fn next(queue: &Queue) -> Option<usize> {
    locked(&queue.state).next().map(|(index, _)| index)
}

#[test]
fn a_group_has_no_more_than_its_limit_at_once() {
    // The first group's limit is one.
    assert_eq!(GROUPS[0].at_once, 1);
    let tests = tests(&[Some(0), Some(0), None, Some(0)]);
    let queue = Queue::new(&tests);
    assert_eq!(next(&queue), Some(0));
    assert_eq!(next(&queue), Some(2));
    assert_eq!(next(&queue), None);
    queue.finish(&tests[2]);
    assert_eq!(next(&queue), None);
    queue.finish(&tests[0]);
    assert_eq!(next(&queue), Some(1));
    queue.finish(&tests[1]);
    assert_eq!(next(&queue), Some(3));
    assert_eq!(queue.take(), None);
}

#[test]
fn the_reason_of_a_failure_is_what_the_guard_saw() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    let reason = |raw: Option<i32>, killed: &[&str]| {
        let report = GuardReport {
            status: raw.map(ExitStatus::from_raw),
            taken: Duration::ZERO,
            cpu: None,
            killed: killed.iter().map(|line| (*line).to_owned()).collect(),
        };
        fault(&Ok(report), Duration::from_mins(1))
    };
    assert_eq!(reason(Some(0), &[]), None);
    insta::assert_snapshot!(reason(Some(101 << 8), &[]).unwrap(), @"it ended with exit status: 101");
    assert_eq!(reason(Some(0), &["7 sleep 1", "8 sh"]), None);
    insta::assert_snapshot!(reason(None, &["7 sleep 1"]).unwrap(), @"
    killed after 60 s, with these processes:
      7 sleep 1
    ");
    let broken = fault(&Err(anyhow::anyhow!("no guard")), Duration::ZERO);
    assert_eq!(broken.as_deref(), Some("no guard"));
}
