use super::*;

#[test]
fn the_lower_limit_counts() {
    let user = ResourceLimits {
        memory: Some(1 << 30),
        processes: Some(64),
        ..ResourceLimits::default()
    };
    let project = ResourceLimits {
        memory: Some(2 << 30),
        wall: Some(Duration::from_mins(1)),
        ..ResourceLimits::default()
    };
    let both = project.within(user);
    assert_eq!(both.memory, Some(1 << 30));
    assert_eq!(both.processes, Some(64));
    assert_eq!(both.wall, Some(Duration::from_mins(1)));
}

#[test]
fn a_limit_is_described_as_it_is_written() {
    let limits = ResourceLimits {
        memory: Some(200 << 20),
        cpu: Some(Duration::from_mins(10)),
        file_size: Some(1001),
        ..ResourceLimits::default()
    };
    assert_eq!(limits.describe(LimitKind::Memory), "memory = 200MiB");
    assert_eq!(limits.describe(LimitKind::Cpu), "cpu_secs = 600");
    assert_eq!(limits.describe(LimitKind::FileSize), "file_size = 1001");
}
