use super::*;

#[test]
fn an_order_to_confine_is_read_as_it_was_written() {
    let order = ConfineOrder {
        parts: ConfineParts {
            ruleset: true,
            user: true,
            mount: true,
            no_new_privileges: true,
            ..ConfineParts::default()
        },
        filter: vec![7; 3 * INSTRUCTION],
        key: Some(EntryKey([1, u64::MAX])),
        limits: ResourceLimits {
            memory: Some(1 << 40),
            processes: Some(64),
            wall: Some(Duration::from_millis(1500)),
            ..ResourceLimits::default()
        },
        group: b"/sys/fs/cgroup/x".to_vec(),
    };
    assert_eq!(ConfineOrder::read(&order.write()), Some(order));
}

#[test]
fn an_order_to_prepare_is_read_as_it_was_written() {
    let step = |target: &CStr, read_only| MountStep {
        source: c"/a".to_owned(),
        target: target.to_owned(),
        read_only,
        may_vanish: !read_only,
    };
    let order = PrepareOrder {
        user: true,
        network: Some(OwnNetwork::Listening),
        terminals: true,
        known: true,
        mounts: vec![step(c"/b", true), step(c"/c d", false)],
    };
    assert_eq!(PrepareOrder::read(&order.write()), Some(order));
}

#[test]
fn replies_to_prepare_are_read_as_they_were_written() {
    let replies = [
        PrepareReply::Done,
        PrepareReply::Failed {
            stage: PrepareStage::Step(7),
            errno: libc::EPERM,
        },
        PrepareReply::Failed {
            stage: PrepareStage::User,
            errno: libc::ENOSPC,
        },
    ];
    for reply in replies {
        assert_eq!(PrepareReply::read(&reply.write()), Some(reply));
    }
}
