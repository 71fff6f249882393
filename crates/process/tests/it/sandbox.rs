//! A sandbox, attacked from within: as the user that runs the tests, and again as an ordinary user.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_process::{Exit, Launcher, Process, sandbox_support};
use windlass_sandbox::{
    HostPattern, NetworkRule, OnUnavailable, ProjectPlaces, SandboxMode, SandboxSettings, resolve,
};

use crate::support::{eventually, launcher, run_without_namespaces, shell, text, token};

/// A machine in small: a home with secrets and a project in it, outside of `/tmp`.
pub(crate) struct Machine {
    _folder: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = folder.path().canonicalize().unwrap();
        let root = home.join("project");
        for path in [
            ".ssh",
            ".cargo/registry",
            ".cache/zsh",
            "state",
            "project/.git/hooks",
        ] {
            fs::create_dir_all(home.join(path)).unwrap();
        }
        for (path, content) in [
            (".ssh/id_rsa", "the key"),
            (".npmrc", "the token"),
            (".bashrc", "profile"),
            ("notes", "plain"),
            ("state/token", "our token"),
            ("project/.git/config", "[core]\n"),
            ("project/file", "content"),
        ] {
            fs::write(home.join(path), content).unwrap();
        }
        Self {
            _folder: folder,
            home,
            root,
        }
    }

    fn places(&self) -> ProjectPlaces {
        ProjectPlaces {
            root: self.root.clone(),
            home: self.home.clone(),
            own: vec![self.home.join("state")],
            git_files: vec![self.root.join(".git/commondir")],
            ..ProjectPlaces::default()
        }
    }

    pub(crate) fn launcher(&self, settings: &SandboxSettings) -> Launcher {
        self.confine(&launcher(), settings)
    }

    /// A launcher that shares the shims of another one.
    pub(crate) fn confine(&self, launcher: &Launcher, settings: &SandboxSettings) -> Launcher {
        let resolution = resolve(settings, None, &self.places());
        launcher.confined(resolution.confinement.expect("a sandbox"))
    }

    /// Runs a script in the project, in a sandbox, and returns its output and exit.
    async fn run_with(&self, settings: &SandboxSettings, script: &str) -> (String, Exit) {
        run(&self.launcher(settings), script, &self.root, &self.home).await
    }

    async fn run(&self, script: &str) -> (String, Exit) {
        self.run_with(&workspace(), script).await
    }

    /// Asserts that a script succeeds, and returns its output.
    #[track_caller]
    fn allows(&self, script: &str) -> impl Future<Output = String> {
        let caller = std::panic::Location::caller();
        async move {
            let (text, exit) = self.run(script).await;
            assert!(exit.success(), "{caller}: {script}: {exit:?}: {text}");
            text
        }
    }

    /// Asserts that a script fails.
    #[track_caller]
    fn denies(&self, script: &str) -> impl Future<Output = String> {
        let caller = std::panic::Location::caller();
        async move {
            let (text, exit) = self.run(script).await;
            assert!(!exit.success(), "{caller}: {script}: {text}");
            text
        }
    }
}

pub(crate) fn workspace() -> SandboxSettings {
    SandboxSettings::of_mode(SandboxMode::Workspace)
}

pub(crate) fn with_network(network: NetworkRule) -> SandboxSettings {
    SandboxSettings {
        network,
        ..workspace()
    }
}

pub(crate) async fn start(launcher: &Launcher, script: &str, root: &Path, home: &Path) -> Process {
    let command = shell(script).cwd(root).env("HOME", home).merge_output();
    match launcher.start(command).await {
        Ok(process) => process,
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            panic!("{script}: {error}: {cause:?}")
        }
    }
}

pub(crate) async fn run(
    launcher: &Launcher,
    script: &str,
    root: &Path,
    home: &Path,
) -> (String, Exit) {
    let process = start(launcher, script, root, home).await;
    let exit = process.wait().await;
    (text(&process), exit)
}

/// Makes a test of an ordinary test function, and another that runs it as an ordinary user.
macro_rules! as_both_users {
    ($module:literal: $($name:ident),* $(,)?) => {
        mod as_this_user {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    super::$name().await;
                }
            )*
        }

        mod as_ordinary_user {
            use crate::support::run_as_ordinary_user;

            $(
                #[test]
                fn $name() {
                    run_as_ordinary_user(concat!($module, "::as_this_user::", stringify!($name)));
                }
            )*
        }
    };
}

pub(crate) use as_both_users;

as_both_users!(
    "sandbox":
    a_workspace_reads_and_writes_what_it_may,
    files_outside_are_not_written,
    secrets_are_not_read,
    files_that_run_later_outside_are_not_written,
    a_project_below_tmp_is_there,
    tmp_itself_is_refused_by_name,
    read_only_leaves_a_project_below_tmp_alone,
    temporary_files_are_private_and_shared_by_the_calls_of_a_sandbox,
    no_socket_leads_out,
    loopback_is_shared_within_a_sandbox_and_not_with_the_machine,
    allowed_hosts_are_reached_through_the_proxy_and_others_are_refused,
    namespaces_mounts_and_keyrings_are_refused,
    processes_outside_are_out_of_reach,
    unix_sockets_outside_are_out_of_reach,
    sockets_that_come_and_go_hinder_no_start,
    hundreds_of_sockets_hinder_no_start,
    devices_are_not_read,
    a_new_socket_leaves_network_and_temporary_files_alone,
    limits_of_processes_outside_are_not_changed,
    terminals_outside_are_out_of_reach,
    no_descriptor_is_left_open,
    placeholders_are_removed,
    a_hole_that_is_replaced_from_outside_is_made_again,
    sandboxes_that_come_and_go_open_no_hole,
    a_terminal_works_in_a_sandbox,
);

async fn a_workspace_reads_and_writes_what_it_may() {
    let machine = Machine::new();
    let text = machine
        .allows(
            "set -e; cat file; echo > new; mkdir sub; echo x > sub/y; mv sub/y z; rm new; ln z w; ln -s z l; \
             cat ~/notes ~/.bashrc; echo x > ~/.cache/x; echo x > ~/.cargo/registry/x; \
             echo x > $TMPDIR/x; cat /tmp/x; echo > /dev/null; head -c1 /dev/urandom | wc -c; \
             ls / ~ > /dev/null; echo i > .git/index",
        )
        .await;
    assert!(text.starts_with("contentplainprofilex\n1\n"), "{text}");
    assert!(machine.root.join("z").exists());
}

async fn files_outside_are_not_written() {
    let machine = Machine::new();
    for script in [
        "echo evil >> ~/.bashrc",
        "echo evil > ~/new",
        "rm ~/notes",
        "mv ~/notes ~/moved",
        "truncate -s 0 ~/notes",
        "ln ~/notes link && echo evil > link",
        "ln -s ~/notes link && echo evil > link",
        "ln -s ~ dir && echo evil > dir/notes",
        "echo evil > /proc/self/cwd/../notes",
        "echo evil > /proc/self/root$HOME/notes",
        "exec 3<~/notes; echo evil > /proc/self/fd/3",
        "echo evil > /var/tmp/evil",
        "mkdir -p ~/.cargo/bin && echo evil > ~/.cargo/bin/cargo",
        "chmod 777 ~/notes",
        "touch -d 2001-01-01 ~/notes",
        "setfattr -n user.x -v y ~/notes",
        "chmod 600 .git/config",
        "touch /etc/evil",
        "mknod dev c 1 1",
        "echo evil > /proc/sys/kernel/core_pattern",
        "cp ~/notes x && mv x ..",
        "mv . ../moved",
        "mv ~/project ~/moved",
    ] {
        machine.denies(script).await;
    }
    assert_eq!(
        fs::read_to_string(machine.home.join("notes")).unwrap(),
        "plain"
    );
    assert_eq!(
        fs::read_to_string(machine.home.join(".bashrc")).unwrap(),
        "profile"
    );
    assert!(!machine.home.join("new").exists());
}

async fn secrets_are_not_read() {
    let machine = Machine::new();
    for script in [
        "cat ~/.ssh/id_rsa",
        "cat ~/.npmrc",
        "cat ~/state/token",
        "ln -s ~/.ssh/id_rsa l; cat l",
        "cd ~/.ssh && cat id_rsa",
        "cat /proc/self/root$HOME/.ssh/id_rsa",
        "cp -r ~/.ssh stolen && cat stolen/id_rsa",
        "mv ~/.ssh stolen && cat stolen/id_rsa",
        "ln ~/.npmrc stolen && cat stolen",
        "tar cf - ~/.ssh | grep -q 'the key'",
        "cat ~/.ssh/../state/token",
    ] {
        let text = machine.denies(script).await;
        assert!(
            !text.contains("the key") && !text.contains("token\n"),
            "{script}: {text}"
        );
    }
    // A secret that comes later is none the less one.
    let launcher = machine.launcher(&workspace());
    run(&launcher, "true", &machine.root, &machine.home).await;
    fs::write(machine.home.join(".netrc"), "the password").unwrap();
    let (text, exit) = run(&launcher, "cat ~/.netrc", &machine.root, &machine.home).await;
    assert!(!exit.success() && !text.contains("password"), "{text}");
    // Other new files are readable.
    fs::write(machine.home.join("later"), "later").unwrap();
    let (text, _) = run(&launcher, "cat ~/later", &machine.root, &machine.home).await;
    assert_eq!(text, "later");
}

async fn files_that_run_later_outside_are_not_written() {
    let machine = Machine::new();
    for script in [
        "echo evil > .git/hooks/pre-commit",
        "echo evil >> .git/config",
        "rm .git/config",
        "mv .git/hooks .git/old",
        "rm -rf .git/hooks && mkdir .git/hooks",
        "mv .git moved && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "echo c > .git/c && mv .git/c .git/config",
        "ln -sf /tmp/c .git/config",
        "echo evil > .git/commondir",
        "rm .git/commondir",
        "echo ../evil > x && mv x .git/commondir",
        "echo evil > .envrc",
        "echo evil > ~/.cache/zsh/zcompdump",
        "mv ~/.cache/zsh ~/.cache/old",
        "mkdir -p .windlass && echo evil > .windlass/config.toml",
        "mkdir -p .claude && echo evil > .claude/settings.json",
        "echo evil > .mcp.json",
        "ln -s /tmp .cursor",
        "rmdir .claude && mkdir .claude && echo evil > .claude/settings.json",
        "mv .vscode x",
        "git init -q other && mv -T other/.git .git",
        "mkdir a && echo evil > a/x && mv -T a .claude",
        "mkdir -p .github/hooks && echo evil > .github/hooks/evil.json",
        "mv .github old && mkdir -p .github/hooks && echo evil > .github/hooks/evil.json",
        "mkdir -p gh/hooks && echo evil > gh/hooks/evil.json && mv -T gh/hooks .github/hooks",
        "mkdir -p .pi/extensions && echo evil > .pi/extensions/evil.ts",
        "echo evil > opencode.json",
        "echo evil > o && mv -f o opencode.jsonc",
        "rm -f .crushrc && echo evil > .crushrc",
        "ln .git/hooks/../index h; ln -s .. up && echo evil > up/project/.git/hooks/post-merge",
    ] {
        machine.denies(script).await;
    }
    assert_eq!(
        fs::read_to_string(machine.root.join(".git/config")).unwrap(),
        "[core]\n"
    );
    assert_eq!(
        fs::read_dir(machine.root.join(".git/hooks"))
            .unwrap()
            .count(),
        0
    );
    assert!(!machine.root.join(".claude/settings.json").exists());
    assert!(!machine.root.join(".envrc").is_file());
    // Other files beside those can be made.
    machine
        .allows("mkdir .github/workflows && echo ok > .github/workflows/ci.yml")
        .await;
    eventually("the placeholder beside them is removed", || {
        !machine.root.join(".github/hooks").exists()
    });
    assert!(machine.root.join(".github/workflows/ci.yml").exists());
}

async fn a_project_below_tmp_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("file"), "content").unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    let machine = Machine {
        root: root.clone(),
        ..Machine::new()
    };
    let text = machine
        .allows("cat file; echo x > new; ls -A /tmp | wc -l")
        .await;
    assert!(root.join("new").exists());
    assert_eq!(text, "content1\n");
    machine.denies("echo evil > .git/hooks/x").await;
}

/// Programs have their own `/tmp`, so there is no project to protect: this is reported, and not mistaken for a race.
async fn tmp_itself_is_refused_by_name() {
    let machine = Machine {
        root: PathBuf::from("/tmp"),
        ..Machine::new()
    };
    let command = shell("true").cwd("/tmp").env("HOME", &machine.home);
    let refused = machine.launcher(&workspace()).start(command).await;
    let error = refused.err().map(|error| error.to_string());
    assert!(
        error.as_ref().is_some_and(|error| error.contains("cannot")),
        "{error:?}"
    );
}

async fn read_only_leaves_a_project_below_tmp_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("file"), "content").unwrap();
    let machine = Machine {
        root: root.clone(),
        ..Machine::new()
    };
    let settings = SandboxSettings::of_mode(SandboxMode::ReadOnly);
    let (text, exit) = machine.run_with(&settings, "cat file; echo x > new").await;
    assert!(!exit.success() && text.starts_with("content"), "{text}");
    let (text, exit) = machine.run_with(&settings, "echo x > file").await;
    assert!(!exit.success(), "{text}");
    let (text, exit) = machine
        .run_with(&settings, "echo x > /tmp/x; cat /tmp/x")
        .await;
    assert!(exit.success(), "{text}");
    assert_eq!(fs::read_to_string(root.join("file")).unwrap(), "content");
}

async fn temporary_files_are_private_and_shared_by_the_calls_of_a_sandbox() {
    let machine = Machine::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "x").unwrap();
    let launcher = machine.launcher(&workspace());
    let name = outside.path().display();
    let mine = format!("/tmp/mine-{}", token());
    let script =
        format!("ls {name} 2>/dev/null || echo hidden; echo mine > {mine}; echo s > /dev/shm/s");
    let (text, _) = run(&launcher, &script, &machine.root, &machine.home).await;
    assert_eq!(text, "hidden\n");
    let show = format!("cat {mine} /dev/shm/s");
    let (text, _) = run(&launcher, &show, &machine.root, &machine.home).await;
    assert_eq!(text, "mine\ns\n");
    assert!(!Path::new(&mine).exists());
}

/// Every family of sockets, and what became of it.
const FAMILIES: &str = r"
import socket, errno
allowed = []
for family in range(0, 48):
    for kind in (1, 2, 3, 5):
        for protocol in (0, 1, 2, 4, 9, 15, 16, 262):
            try:
                socket.socket(family, kind, protocol).close()
                allowed.append((family, kind, protocol))
            except OSError:
                pass
print(allowed)
";

async fn no_socket_leads_out() {
    let machine = Machine::new();
    let script = format!("python3 -c '{FAMILIES}'");
    let text = machine.allows(&script).await;
    // Unix sockets, and the part of netlink that lists interfaces.
    let families: std::collections::BTreeSet<&str> = text
        .trim()
        .trim_matches(['[', ']'])
        .split("), ")
        .map(|it| it.trim_start_matches('(').split(',').next().unwrap())
        .collect();
    assert_eq!(
        families.into_iter().collect::<Vec<_>>(),
        ["1", "16"],
        "{text}"
    );
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for settings in [
        with_network(NetworkRule::None),
        with_network(NetworkRule::Loopback),
        with_network(NetworkRule::Allow(Vec::new())),
    ] {
        let tcp = format!(
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'"
        );
        let (text, exit) = machine.run_with(&settings, &tcp).await;
        assert!(!exit.success(), "{text}");
        let udp =
            "python3 -c 'import socket; socket.socket(2, 2).sendto(b\"x\", (\"192.0.2.1\", 53))'";
        let (text, exit) = machine.run_with(&settings, udp).await;
        assert!(!exit.success(), "{text}");
        let dns = "python3 -c 'import socket; socket.getaddrinfo(\"secret.example.com\", 80)'";
        let (text, exit) = machine.run_with(&settings, dns).await;
        assert!(!exit.success(), "{text}");
    }
    let full = with_network(NetworkRule::Full);
    let tcp =
        format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'");
    let (text, exit) = machine.run_with(&full, &tcp).await;
    assert!(exit.success(), "{text}");
}

async fn loopback_is_shared_within_a_sandbox_and_not_with_the_machine() {
    let machine = Machine::new();
    let launcher = machine.launcher(&with_network(NetworkRule::Loopback));
    // The machine's own server has the same port meanwhile.
    let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let server = format!(
        "exec python3 -u -c 'import socket; s = socket.create_server((\"127.0.0.1\", {port})); print(\"up\"); c, _ = s.accept(); c.sendall(b\"hello\")'"
    );
    let server = start(&launcher, &server, &machine.root, &machine.home).await;
    eventually("the server is up", || text(&server).contains("up"));
    let client = format!(
        "python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\", {port})).recv(9))'"
    );
    let (text, _) = run(&launcher, &client, &machine.root, &machine.home).await;
    assert_eq!(text, "b'hello'\n");
    outside.set_nonblocking(true).unwrap();
    assert!(outside.accept().is_err(), "it came to the machine's server");
}

async fn allowed_hosts_are_reached_through_the_proxy_and_others_are_refused() {
    let machine = Machine::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let denied = other.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(3) {
            use std::io::{Read, Write};
            let mut stream = stream.unwrap();
            let mut bytes = [0; 1024];
            let _ = stream.read(&mut bytes).unwrap();
            let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nyes";
            stream.write_all(reply).unwrap();
        }
    });
    let host = HostPattern::parse(&format!("127.0.0.1:{port}")).unwrap();
    let launcher = machine.launcher(&with_network(NetworkRule::Allow(vec![host])));
    let get = |port: u16| {
        format!(
            "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:{port}/\").read())'"
        )
    };
    let (text_seen, exit) = run(&launcher, &get(port), &machine.root, &machine.home).await;
    assert!(exit.success(), "{text_seen}");
    assert_eq!(text_seen, "b'yes'\n");
    // CONNECT and SOCKS5 lead to the same host, and neither leads to another one.
    let tunnel = |port: u16| {
        format!(
            "python3 -c '
import os, socket
proxy = os.environ[\"HTTP_PROXY\"].rsplit(\":\", 1)
s = socket.create_connection((\"127.0.0.1\", int(proxy[1])))
s.sendall(b\"CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n\")
print(s.recv(99).split(b\"\\r\")[0])
s = socket.create_connection((\"127.0.0.1\", int(proxy[1])))
s.sendall(b\"\\x05\\x01\\x00\"); s.recv(2)
s.sendall(b\"\\x05\\x01\\x00\\x01\\x7f\\0\\0\\x01\" + ({port}).to_bytes(2, \"big\"))
print(s.recv(2))
'"
        )
    };
    let (seen, _) = run(&launcher, &tunnel(port), &machine.root, &machine.home).await;
    assert_eq!(
        seen,
        "b'HTTP/1.1 200 Connection established'\nb'\\x05\\x00'\n"
    );
    let process = start(&launcher, &tunnel(denied), &machine.root, &machine.home).await;
    process.wait().await;
    assert_eq!(text(&process), "b'HTTP/1.1 403 Forbidden'\nb'\\x05\\x02'\n");
    assert_eq!(process.refused_hosts(), [format!("127.0.0.1:{denied}")]);
}

async fn namespaces_mounts_and_keyrings_are_refused() {
    let machine = Machine::new();
    for script in [
        "unshare -U true",
        "unshare -Urm true",
        "unshare -n true",
        "nsenter -t 1 -m true",
        "mount -t tmpfs x /mnt",
        "umount .git/hooks",
        "umount -l /tmp",
        "mount -o remount,rw,bind .git/hooks",
        "chroot / true",
    ] {
        machine.denies(script).await;
    }
    // Calls by number: io_uring_setup, keyctl, add_key, bpf, perf_event_open, open_by_handle_at, userfaultfd, clone3,
    // fsopen, open_tree, mount_setattr, init_module, the same numbers of the x32 interface, unshare and setns.
    let script = r"python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
calls = [425, 250, 248, 321, 298, 304, 323, 435, 430, 428, 442, 175, 246, 169, 308]
calls += [0x40000000 + 41, 0x40000000 + 165]
for call in calls:
    ctypes.set_errno(0)
    result = libc.syscall(call, 0, 0, 0, 0, 0)
    assert result == -1 and ctypes.get_errno() in (1, 38), (call, result, ctypes.get_errno())
for flag in (0x20000, 0x10000000, 0x40000000, 0x20000000):
    assert libc.syscall(272, flag) == -1 and ctypes.get_errno() == 1, flag
    assert libc.syscall(56, flag | 17, 0, 0, 0, 0) == -1 and ctypes.get_errno() == 1, flag
'";
    if cfg!(target_arch = "x86_64") {
        machine.allows(script).await;
    }
}

async fn processes_outside_are_out_of_reach() {
    let machine = Machine::new();
    let victim = launcher().start(shell("exec sleep 1000")).await.unwrap();
    let pid = victim.pid();
    let own = std::process::id();
    for script in [
        format!("kill -0 {pid}"),
        format!("kill -9 {pid}"),
        format!("kill -STOP {own}"),
        format!("kill -0 {own}"),
        format!("cat /proc/{pid}/environ"),
        format!("cat /proc/{own}/environ"),
        format!("cat /proc/{pid}/mem"),
        format!("ls /proc/{pid}/root/"),
        format!("ls -l /proc/{pid}/fd/"),
        format!("ls -l /proc/{own}/fd/"),
        format!("cat /proc/{own}/root/etc/hosts"),
        format!("cat /proc/{pid}/cwd/Cargo.toml"),
        format!(
            "python3 -c 'import ctypes; exit(0 if ctypes.CDLL(None).ptrace(16, {pid}, 0, 0) == 0 else 1)'"
        ),
    ] {
        machine.denies(&script).await;
    }
    assert!(victim.exit().is_none());
    // Within, signals and debuggers work.
    machine
        .allows("sleep 1000 & kill -0 $! && kill $! && ! wait $!")
        .await;
    let traced = "sleep 1000 & python3 -c \"import ctypes; exit(0 if ctypes.CDLL(None).ptrace(16, $!, 0, 0) == 0 else 1)\"; \
                  code=$?; kill -9 $!; exit $code";
    machine.allows(traced).await;
}

async fn sockets_that_come_and_go_hinder_no_start() {
    let machine = Machine::new();
    let home = machine.home.clone();
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&over);
    let others = std::thread::spawn(move || {
        while !seen.load(std::sync::atomic::Ordering::Relaxed) {
            let path = home.join("brief.sock");
            drop(UnixListener::bind(&path).unwrap());
            fs::remove_file(&path).unwrap();
        }
    });
    for _ in 0..30 {
        machine.allows("true").await;
    }
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    others.join().unwrap();
}

async fn hundreds_of_sockets_hinder_no_start() {
    let machine = Machine::new();
    let paths = (0..700).map(|number| {
        let name = format!("a-socket-with-a-name-of-some-length-{number}");
        machine.home.join(name)
    });
    let paths: Vec<PathBuf> = paths.collect();
    let _listeners: Vec<UnixListener> = paths
        .iter()
        .map(|path| UnixListener::bind(path).unwrap())
        .collect();
    machine.allows("true").await;
    let last = paths.last().unwrap().display();
    machine
        .denies(&format!(
            "python3 -c 'import socket; socket.socket(1).connect(\"{last}\")'"
        ))
        .await;
}

async fn a_new_socket_leaves_network_and_temporary_files_alone() {
    let machine = Machine::new();
    let launcher = machine.launcher(&with_network(NetworkRule::Loopback));
    let server = start(
        &launcher,
        "echo kept > /tmp/kept; exec python3 -u -c 'import socket; s = socket.create_server((\"127.0.0.1\", 4568)); print(\"up\"); c, _ = s.accept(); c.sendall(b\"hello\")'",
        &machine.root,
        &machine.home,
    )
    .await;
    eventually("the server is up", || text(&server).contains("up"));
    let path = machine.home.join("new.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let client = format!(
        "cat /tmp/kept; python3 -c 'import socket
print(socket.create_connection((\"127.0.0.1\", 4568)).recv(9))
socket.socket(1).connect(\"{}\")'",
        path.display()
    );
    let (text, exit) = run(&launcher, &client, &machine.root, &machine.home).await;
    assert!(text.starts_with("kept\nb'hello'\n"), "{text}");
    assert!(!exit.success() && text.contains("Error"), "{text}");
}

async fn limits_of_processes_outside_are_not_changed() {
    let machine = Machine::new();
    let victim = launcher().start(shell("exec sleep 1000")).await.unwrap();
    let pid = victim.pid();
    machine
        .denies(&format!("prlimit --pid {pid} --cpu=1:1"))
        .await;
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits.lines().find(|it| it.starts_with("Max cpu time"));
    assert!(line.unwrap().contains("unlimited"), "{line:?}");
    // Its own can be changed, and others' be seen.
    machine
        .allows(&format!("ulimit -n 99; prlimit --pid {pid} --nofile"))
        .await;
}

async fn devices_are_not_read() {
    let machine = Machine::new();
    let is_usual = |path: &Path| {
        let usual = [
            "null", "zero", "full", "random", "urandom", "tty", "ptmx", "stdin", "stdout", "stderr",
        ];
        usual.iter().any(|name| path.ends_with(name))
    };
    let devices = fs::read_dir("/dev").unwrap().map(|it| it.unwrap().path());
    let mut devices: Vec<PathBuf> = devices
        .filter(|path| !is_usual(path) && !path.is_dir())
        .collect();
    devices.sort();
    let names: Vec<String> = devices.iter().map(|it| it.display().to_string()).collect();
    let script = format!(
        "python3 -c 'import os
for path in \"{}\".split():
    try:
        os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        print(path)
    except OSError:
        pass'",
        names.join(" ")
    );
    assert_eq!(machine.allows(&script).await, "");
}

async fn terminals_outside_are_out_of_reach() {
    let machine = Machine::new();
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let master = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let path = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let path = path.to_str().unwrap();
    assert!(fs::File::options().write(true).open(path).is_ok());
    for mode in ["O_RDONLY", "O_WRONLY"] {
        machine
            .denies(&format!(
                "python3 -c 'import os; os.open(\"{path}\", os.{mode} | os.O_NOCTTY)'"
            ))
            .await;
    }
    // Programs make terminals of their own.
    let own = "python3 -c 'import os, pty
master, slave = pty.openpty()
os.write(slave, b\"hello\")
print(os.read(master, 9), os.ttyname(slave))
os.close(os.open(os.ttyname(slave), os.O_RDWR | os.O_NOCTTY))'";
    let text = machine.allows(own).await;
    assert!(text.starts_with("b'hello' /dev/pts/"), "{text}");
}

async fn unix_sockets_outside_are_out_of_reach() {
    let machine = Machine::new();
    let connect = |path: &Path| {
        let path = path.display();
        format!("python3 -c 'import socket; socket.socket(1).connect(\"{path}\")'")
    };
    let in_state = machine.home.join("state/control.sock");
    let in_home = machine.home.join("some socket");
    let tmp = tempfile::tempdir().unwrap();
    let in_tmp = tmp.path().join("agent.sock");
    let in_project = machine.root.join("server.sock");
    let paths = [&in_state, &in_home, &in_tmp, &in_project];
    let _listeners = paths.map(|path| UnixListener::bind(path).unwrap());
    for path in paths {
        machine.denies(&connect(path)).await;
    }
    let datagrams = machine.home.join("datagrams.sock");
    let _receiver = std::os::unix::net::UnixDatagram::bind(&datagrams).unwrap();
    let path = datagrams.display();
    machine
        .denies(&format!(
            "python3 -c 'import socket; socket.socket(1, 2).sendto(b\"x\", \"{path}\")'"
        ))
        .await;
    // One that comes later.
    let launcher = machine.launcher(&workspace());
    run(&launcher, "true", &machine.root, &machine.home).await;
    let later = machine.home.join("later.sock");
    let _listener = UnixListener::bind(&later).unwrap();
    let (text, exit) = run(&launcher, &connect(&later), &machine.root, &machine.home).await;
    assert!(!exit.success(), "{text}");
    // An abstract one.
    let name = format!("windlass-test-{}", std::process::id());
    let address =
        <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
            &name,
        )
        .unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    machine
        .denies(&format!(
            "python3 -c 'import socket; socket.socket(1).connect(\"\\0{name}\")'"
        ))
        .await;
    // Sockets of its own work.
    machine
        .allows(
            "python3 -c 'import socket
s = socket.socket(1); s.bind(\"/tmp/own.sock\"); s.listen()
socket.socket(1).connect(\"/tmp/own.sock\"); s.accept()'",
        )
        .await;
}

async fn no_descriptor_is_left_open() {
    let machine = Machine::new();
    let text = machine.allows("ls /proc/self/fd | tr '\\n' ' '").await;
    assert_eq!(text, "0 1 2 3 ");
    let text = machine
        .allows("grep -E 'NoNewPrivs|Seccomp:' /proc/self/status | tr '\\n\\t' '  '")
        .await;
    assert_eq!(text, "NoNewPrivs: 1 Seccomp: 2 ");
}

async fn placeholders_are_removed() {
    let machine = Machine::new();
    let before: Vec<_> = entries(&machine.root);
    let launcher = machine.launcher(&workspace());
    run(&launcher, "true", &machine.root, &machine.home).await;
    assert!(machine.root.join(".claude").is_dir());
    drop(launcher);
    eventually("they are gone", || entries(&machine.root) == before);
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    entries.sort();
    entries
}

async fn a_hole_that_is_replaced_from_outside_is_made_again() {
    let machine = Machine::new();
    let launcher = machine.launcher(&workspace());
    run(&launcher, "true", &machine.root, &machine.home).await;
    fs::remove_dir_all(machine.root.join(".git")).unwrap();
    fs::create_dir_all(machine.root.join(".git/hooks")).unwrap();
    let script = "echo evil > .git/hooks/x";
    let (text, exit) = run(&launcher, script, &machine.root, &machine.home).await;
    assert!(!exit.success(), "{text}");
}

/// A sandbox removes its empty folders while the next one is made.
async fn sandboxes_that_come_and_go_open_no_hole() {
    let machine = Machine::new();
    for _ in 0..60 {
        machine.denies("echo evil > .envrc").await;
        assert!(!machine.root.join(".envrc").is_file());
    }
}

async fn a_terminal_works_in_a_sandbox() {
    let machine = Machine::new();
    let launcher = machine.launcher(&workspace());
    let command =
        shell("tty; test -t 0 && echo x > /dev/tty; stty size; read line; echo got $line")
            .cwd(&machine.root)
            .terminal(windlass_process::TerminalSize { rows: 20, cols: 70 });
    let process = launcher.start(command).await.unwrap();
    process.settle(Duration::from_secs(20)).await;
    process.write(b"hello\n").unwrap();
    assert!(process.wait().await.success());
    let text = text(&process);
    assert!(
        text.contains("/dev/pts/") && text.contains("x\n20 70") && text.contains("got hello"),
        "{text}"
    );
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_told_as_ever() {
    let machine = Machine::new();
    let launcher = machine.launcher(&workspace());
    let missing = launcher
        .start(windlass_process::Command::new("/no/such").cwd(&machine.root))
        .await;
    let error = missing.unwrap_err().to_string();
    assert!(error.contains("was not found"), "{error}");
    let missing = launcher.start(shell("true").cwd("/no/such")).await;
    let error = missing.unwrap_err().to_string();
    assert!(error.contains("working directory"), "{error}");
}

#[test]
fn without_namespaces_a_sandbox_is_refused_or_told_to_be_weaker() {
    run_without_namespaces("sandbox::try_without_namespaces");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run without namespaces by the test above"]
async fn try_without_namespaces() {
    let machine = Machine::new();
    let support = sandbox_support(&launcher()).await;
    assert!(
        support.mounts.is_err() && support.network.is_err(),
        "{support:?}"
    );
    let refused = machine.launcher(&workspace());
    let command = || shell("true").cwd(&machine.root);
    let error = refused.start(command()).await.unwrap_err().to_string();
    let hooks = machine.root.join(".git/hooks").display().to_string();
    assert!(
        error.contains("cannot keep it from writing") && error.contains(&hooks),
        "{error}"
    );
    assert!(!machine.root.join(".claude").exists());

    let warns = SandboxSettings {
        unavailable: OnUnavailable::Warn,
        ..workspace()
    };
    let launcher = machine.launcher(&warns);
    let process = start(&launcher, "cat file", &machine.root, &machine.home).await;
    assert!(process.wait().await.success(), "{}", text(&process));
    assert!(
        process.unprotected()[0].contains(&hooks),
        "{:?}",
        process.unprotected()
    );
    let denied = [
        "cat ~/.ssh/id_rsa",
        "echo evil > ~/.bashrc",
        "echo x > /tmp/evil",
        "python3 -c 'import socket; socket.socket(2, 2)'",
        "python3 -c 'import socket; socket.socket(1)'",
        "unshare -U true",
    ];
    for script in denied {
        let (text, exit) = run(&launcher, script, &machine.root, &machine.home).await;
        assert!(!exit.success(), "{script}: {text}");
    }
    let (text, exit) = run(
        &launcher,
        "echo x > $TMPDIR/x; cat $TMPDIR/x",
        &machine.root,
        &machine.home,
    )
    .await;
    assert!(exit.success() && text == "x\n", "{text}");
}

#[tokio::test]
async fn support_is_told_as_data() {
    let support = sandbox_support(&launcher()).await;
    assert!(support.seccomp);
    assert_eq!(support.lines().len(), 7);
}
