//! An `sshd` on loopback, with its own keys and configuration.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

/// How long it may take to listen.
const LISTENING: Duration = Duration::from_secs(20);

/// A running server. Dropping this ends it; connections end with their clients.
pub(super) struct LoopbackSsh {
    folder: TempDir,
    child: Child,
    port: u16,
}

impl LoopbackSsh {
    /// Starts it; the error names what is missing.
    #[expect(clippy::disallowed_methods, reason = "it is a floor, and no tool")]
    pub(super) fn start() -> anyhow::Result<Self> {
        let program = Path::new("/usr/sbin/sshd");
        ensure!(program.is_file(), "openssh-server is not installed");
        let folder = TempDir::new()?;
        let path = |name: &str| folder.path().join(name);
        for name in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path(name))
                .status()
                .context("openssh-client is not installed")?;
            ensure!(made.success(), "no key can be made");
        }
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let config = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n\
             ListenAddress 127.0.0.1:{port}\n",
            path("host").display(),
            path("user.pub").display(),
        );
        std::fs::write(path("config"), config)?;
        let _ = std::fs::create_dir_all("/run/sshd");
        let said = path("said");
        let child = Command::new(program)
            .args(["-D", "-e", "-f"])
            .arg(path("config"))
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(&said)?)
            .spawn()?;
        let mut server = Self {
            folder,
            child,
            port,
        };
        server.wait_until_it_listens(&said)?;
        Ok(server)
    }

    fn wait_until_it_listens(&mut self, said: &PathBuf) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let text = std::fs::read_to_string(said)?;
            if text.contains("Server listening") {
                return Ok(());
            }
            if self.child.try_wait()?.is_some() || start.elapsed() > LISTENING {
                bail!("sshd does not listen: {text}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The command that runs a program on the server.
    #[expect(clippy::disallowed_methods, reason = "it asks for a name")]
    pub(super) fn ssh(&self, program: &[String]) -> Vec<String> {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let user = Command::new("id").arg("-un").output().expect("id is there");
        let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
        let port = self.port.to_string();
        let known = format!("UserKnownHostsFile={}", path("known"));
        let words = [
            "ssh",
            "-T",
            "-F",
            "/dev/null",
            "-i",
            &path("user"),
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
            &format!("{user}@127.0.0.1"),
        ]
        .map(str::to_owned);
        words.into_iter().chain(program.iter().cloned()).collect()
    }
}

impl Drop for LoopbackSsh {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
