//! The key with which a child passes its inherited filter, in the hands of an attacker: as the user that runs the tests,
//! and again as an ordinary user.

use std::fs;
use std::path::PathBuf;

use windlass_sandbox::{ProjectPlaces, SandboxMode, SandboxSettings, resolve};

use super::super::filter::{EntryKey, FilterOptions, ProgramFilter};
use crate::{Command, Exit, Launcher, LauncherOptions};

/// A project outside of `/tmp`, and a launcher that confines programs to it.
struct Project {
    _folder: tempfile::TempDir,
    root: PathBuf,
    launcher: Launcher,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = folder.path().canonicalize().unwrap();
        let root = home.join("project");
        fs::create_dir(&root).unwrap();
        let places = ProjectPlaces {
            root: root.clone(),
            home,
            ..ProjectPlaces::default()
        };
        let settings = SandboxSettings::of_mode(SandboxMode::Workspace);
        let confinement = resolve(&settings, None, &places).confinement.unwrap();
        let launcher = Launcher::new(LauncherOptions::default()).unwrap();
        assert!(launcher.holds_trees());
        Self {
            _folder: folder,
            root,
            launcher: launcher.confined(confinement),
        }
    }

    async fn run(&self, script: &str) -> (String, Exit) {
        let command = Command::new("python3")
            .args(["-c", script])
            .cwd(&self.root)
            .merge_output();
        let process = self.launcher.start(command).await.unwrap();
        let exit = process.wait().await;
        (process.output().read_all(usize::MAX).text, exit)
    }
}

/// The key of this process.
fn key() -> EntryKey {
    let options = FilterOptions {
        internet: false,
        unix: true,
        debuggers: true,
    };
    ProgramFilter::new(options).unwrap().key
}

/// Everything that a program can read of itself: its memory with its arguments and environment, and its files in
/// `/proc`.
const DUMP: &str = r"
import os, re
dump = open('dump', 'wb')
memory = open('/proc/self/mem', 'rb', 0)
for line in open('/proc/self/maps'):
    first, last, rights = re.match(r'(\w+)-(\w+) (\S+)', line).groups()
    if rights[0] != 'r' or '[v' in line:
        continue
    memory.seek(int(first, 16))
    dump.write(memory.read(int(last, 16) - int(first, 16)))
for name in ('auxv', 'environ', 'cmdline', 'syscall', 'stat', 'personality', 'stack'):
    try:
        dump.write(open('/proc/self/' + name, 'rb').read())
    except OSError:
        pass
print('dumped', dump.tell() > 1_000_000)
";

async fn a_program_does_not_find_the_key() {
    let project = Project::new();
    let (text, exit) = project.run(DUMP).await;
    assert!(
        exit.success() && text.ends_with("dumped True\n"),
        "{exit:?}: {text}"
    );
    let dump = fs::read(project.root.join("dump")).unwrap();
    for word in key().0 {
        for bytes in [word.to_le_bytes(), word.to_be_bytes()] {
            assert_eq!(memchr::memmem::find(&dump, &bytes), None);
        }
        let digits = format!("{word:x}");
        assert_eq!(memchr::memmem::find(&dump, digits.as_bytes()), None);
    }
    // The dump has what the program was given.
    assert!(memchr::memmem::find(&dump, b"print('dumped'").is_some());
}

async fn the_key_opens_no_namespace() {
    let project = Project::new();
    let EntryKey([first, second]) = key();
    let (setns, outside) = (libc::SYS_setns, std::process::id());
    let script = format!(
        r"
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def enter(fd, kind, *key):
    words = [ctypes.c_ulong(it) for it in (0, 0, *key)]
    assert libc.syscall({setns}, fd, kind, *words) == -1, 'entered a namespace'
    return errno.errorcode[ctypes.get_errno()]
key = ({first}, {second})
# The filter refuses other keys, and this one passes it.
print(enter(-1, 0, 0, 0), enter(-1, 0, key[0], 0), enter(-1, 0, *key))
kinds = os.listdir('/proc/self/ns')
child = os.fork()
if child == 0:
    import signal
    signal.pause()
found = set()
for process in ('self', child):
    for kind in kinds:
        fd = os.open(f'/proc/{{process}}/ns/{{kind}}', os.O_RDONLY)
        found.add(enter(fd, 0, *key))
    found.add(enter(os.pidfd_open(os.getpid() if process == 'self' else process), 0x7E020080, *key))
os.kill(child, 9)
print(sorted(found - {{'EINVAL', 'EPERM'}}))
for kind in kinds:
    try:
        os.open(f'/proc/{outside}/ns/{{kind}}', os.O_RDONLY)
        print('opened', kind)
    except PermissionError:
        pass
print(enter(os.pidfd_open({outside}), 0x7E020000, *key))
"
    );
    let (text, exit) = project.run(&script).await;
    assert!(exit.success(), "{exit:?}: {text}");
    assert_eq!(text, "EPERM EPERM EBADF\n[]\nEPERM\n");
}

macro_rules! as_both_users {
    ($($name:ident),*) => {
        mod as_this_user {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    super::$name().await;
                }
            )*
        }

        mod as_ordinary_user {
            $(
                #[test]
                fn $name() {
                    super::run_as_ordinary_user(stringify!($name));
                }
            )*
        }
    };
}

as_both_users!(a_program_does_not_find_the_key, the_key_opens_no_namespace);

#[expect(
    clippy::disallowed_methods,
    reason = "the runtime itself is nobody's program"
)]
fn run_as_ordinary_user(name: &str) {
    const NOBODY: &str = "65534";
    let mut words = vec!["env"];
    if rustix::process::geteuid().is_root() {
        words = vec!["setpriv", "--reuid", NOBODY, "--regid", NOBODY];
        words.push("--clear-groups");
    }
    // The user may not be able to reach the folder of the executable.
    let exe = fs::File::open(std::env::current_exe().unwrap()).unwrap();
    rustix::io::fcntl_setfd(&exe, rustix::io::FdFlags::empty()).unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&exe));
    let output = std::process::Command::new(words[0])
        .args(&words[1..])
        .arg(path)
        .args(["--exact", "--nocapture"])
        .arg(format!("linux::enter::tests::as_this_user::{name}"))
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{errors}"
    );
}
