use super::*;

#[test]
fn a_brand_names_its_runtime() {
    for (pid, start) in [
        (1, 0),
        (4_194_303, (1 << START_BITS) - 1),
        (1234, 5_678_901),
    ] {
        let id = RuntimeId { pid, start };
        assert_eq!(encode(id).and_then(decode), Some(id));
    }
}

#[test]
fn a_later_runtime_has_a_lower_brand() {
    let earlier = encode(RuntimeId { pid: 1, start: 100 });
    let later = encode(RuntimeId {
        pid: 4_194_303,
        start: 101,
    });
    assert!(later < earlier);
}

#[test]
fn usual_limits_are_no_brands() {
    for limit in [0, 1, 1024, 65_536, 1 << 40, TOP, TOP + 1, u64::MAX] {
        assert_eq!(decode(limit), None, "{limit}");
    }
}

#[test]
fn the_limit_of_a_process_is_read() {
    let own = std::process::id().cast_signed();
    let limit = getrlimit(Resource::Locks).maximum;
    assert_eq!(hard_limit(own, LIMIT).unwrap(), limit);
    assert!(!is_below_ours(own).unwrap());
}
