//! A real `sshd` for a test, with keys and a configuration of its own in a temporary folder.
//!
//! Start at [`SshServer::start`]. Nothing of the user's or the machine's configuration is read, and nothing is left when
//! the server is dropped.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::processes::{descendants, has_exited, kill, name};
use crate::programs::windlass;
use crate::support::eventually;

/// The number of retries if another process takes the chosen port.
const ATTEMPTS: usize = 10;

/// A running server. Its sessions are ended with it.
pub struct SshServer {
    folder: TempDir,
    child: Child,
    address: String,
    port: u16,
    /// The words before each program that runs on the client's side of the network.
    near: Vec<String>,
}

impl SshServer {
    /// Listens on a port of the loopback.
    pub fn start() -> Self {
        for _ in 0..ATTEMPTS {
            let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            if let Some(server) = Self::listening("127.0.0.1", port, Vec::new(), &[]) {
                return server;
            }
        }
        panic!("no port stays free");
    }

    /// Listens on an address that only programs after the words `far` have. Clients run after the words `near`.
    pub fn across(address: &str, near: Vec<String>, far: &[String]) -> Self {
        Self::listening(address, 22, near, far).expect("nobody else is there")
    }

    /// `None` if it cannot listen there.
    fn listening(address: &str, port: u16, near: Vec<String>, far: &[String]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        make_key(&folder.path().join("host"));
        make_key(&folder.path().join("user"));
        let config = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n\
             MaxStartups 200\nListenAddress {address}:{port}\n",
            path("host"),
            path("user.pub"),
        );
        fs::write(path("config"), config).unwrap();
        // Where it shuts its unprivileged half in, if it is root.
        let _ = fs::create_dir_all("/run/sshd");
        let words = [sshd(), "-D", "-e", "-f", &path("config")].map(str::to_owned);
        let words: Vec<String> = far.iter().cloned().chain(words).collect();
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(path("said")).unwrap())
            .spawn()
            .unwrap();
        let said = || fs::read_to_string(path("said")).unwrap_or_default();
        let mut is_over = false;
        eventually("the server listens", || {
            is_over = child.try_wait().unwrap().is_some();
            is_over || said().contains("Server listening")
        });
        if is_over {
            assert!(said().contains("Bind to port"), "{}", said());
            return None;
        }
        Some(Self {
            folder,
            child,
            address: address.to_owned(),
            port,
            near,
        })
    }

    /// The words that run a program on the server.
    pub fn ssh(&self, program: &[&str]) -> Vec<String> {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let user = Command::new("id").arg("-un").output().unwrap();
        let user = String::from_utf8(user.stdout).unwrap();
        let known = format!("UserKnownHostsFile={}", path("known"));
        let port = self.port.to_string();
        let key = path("user");
        let words = [
            "ssh",
            "-T",
            "-F",
            "/dev/null",
            "-i",
            &key,
            "-p",
            &port,
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            &known,
            "-o",
            "LogLevel=ERROR",
            "-o",
            "BatchMode=yes",
            &format!("{}@{}", user.trim(), self.address),
        ]
        .map(str::to_owned);
        let program = program.iter().map(|word| (*word).to_owned());
        let near = self.near.iter().cloned();
        near.chain(words).chain(program).collect()
    }

    /// The words that run `windlass host` on the server, with a home of its own there.
    pub fn via(&self) -> Vec<String> {
        let home = self.folder.path().join("far");
        fs::create_dir_all(&home).unwrap();
        let home = home.display();
        let environment = [
            format!("HOME={home}"),
            format!("XDG_STATE_HOME={home}/state"),
            format!("XDG_CONFIG_HOME={home}/config"),
            format!("PATH={}", std::env::var("PATH").unwrap()),
            "SHELL=/bin/sh".to_owned(),
        ];
        let environment = environment.iter().map(String::as_str);
        let program: Vec<&str> = ["env"].into_iter().chain(environment).collect();
        self.ssh(&[&program[..], &[windlass(), "host"]].concat())
    }

    /// The folder with what leads to held programs on the server.
    pub fn sessions_folder(&self) -> std::path::PathBuf {
        self.folder.path().join("far/state/windlass/hosts")
    }

    /// The processes that serve connections.
    pub fn sessions(&self) -> Vec<u32> {
        let below = descendants(self.child.id()).into_iter();
        let pids = below.map(|(pid, _)| pid);
        pids.filter(|pid| name(*pid).starts_with("sshd") && !has_exited(*pid))
            .collect()
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let sessions = self.sessions();
        let _ = self.child.kill();
        let _ = self.child.wait();
        for session in sessions {
            kill(session);
        }
    }
}

/// `sshd` needs an absolute path, because it executes itself for each connection.
fn sshd() -> &'static str {
    let places = ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"];
    let found = places.into_iter().find(|place| Path::new(place).exists());
    found.expect("openssh-server is installed")
}

fn make_key(file: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(file)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}
