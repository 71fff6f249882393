use windlass_skip::skip;

use super::*;

const MOUNTS: &str = "\
25 30 0:23 / /sys rw - sysfs sysfs rw
31 25 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
40 25 0:30 /part /elsewhere rw - cgroup2 cgroup2 rw
";

#[test]
fn the_own_group_is_found_by_its_mount() {
    let own = "8:pids:/x\n0::/user.slice/app.slice/a.scope\n";
    let expected = "/sys/fs/cgroup/user.slice/app.slice/a.scope";
    assert_eq!(own_folder(MOUNTS, own), Some(PathBuf::from(expected)));
    assert_eq!(own_folder(MOUNTS, "8:pids:/x\n"), None);
    assert_eq!(own_folder("", own), None);
}

#[test]
fn a_folder_without_the_controllers_is_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    assert!(!is_usable(folder.path(), CONTROLLERS));
    write("cgroup.procs", "");
    write("cgroup.subtree_control", "cpu memory\n");
    assert!(!is_usable(folder.path(), CONTROLLERS));
    write("cgroup.subtree_control", "cpu memory pids\n");
    assert!(is_usable(folder.path(), CONTROLLERS));
}

#[test]
fn limits_are_written_and_events_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own");
    fs::create_dir(&own).expect("a folder");
    let limits = ResourceLimits {
        memory: Some(200 << 20),
        processes: Some(64),
        ..ResourceLimits::default()
    };
    set_limits(&own, &limits).expect("written");
    let read = |name: &str| fs::read_to_string(own.join(name)).expect("a file");
    assert_eq!(read("memory.max"), "209715200");
    assert_eq!(read("memory.oom.group"), "1");
    assert_eq!(read("pids.max"), "192");
    fs::write(own.join("cgroup.procs"), "").expect("a file");
    let processes = File::options().write(true).open(own.join("cgroup.procs"));
    let group = ControlGroup {
        processes: processes.expect("opened").into(),
        folder: own.clone(),
    };
    fs::write(own.join("memory.events"), "low 0\noom 1\noom_kill 0\n").expect("a file");
    assert!(!group.ran_out_of_memory());
    fs::write(own.join("memory.events"), "low 0\noom 1\noom_kill 3\n").expect("a file");
    assert!(group.ran_out_of_memory());
    fs::write(own.join("cpu.stat"), "usage_usec 1500000\nuser_usec 1\n").expect("a file");
    assert_eq!(group.cpu(), Some(Duration::from_millis(1500)));
}

/// With the kernel's own files, wherever this user can make groups at all.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the group is tried with any process"
)]
fn a_group_ends_its_processes_in_one_stroke() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let own = fs::read_to_string("/proc/self/cgroup").expect("groups");
    let Some(folder) = own_folder(&mounts, &own).filter(|folder| is_usable(folder, &[])) else {
        skip!("this user can make no group of cgroup v2 here");
    };
    let group = ControlGroup::make(&folder, 4242, &ResourceLimits::default()).expect("a group");
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .spawn()
        .expect("a process");
    let pid = child.id().to_string();
    rustix::io::write(group.processes(), pid.as_bytes()).expect("moved");
    assert!(group.cpu().is_some());
    group.kill();
    let status = child.wait().expect("a status");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
    let path = group.folder.clone();
    drop(group);
    assert!(!path.exists());
}
