//! Installs this program on a host, through the pipe that will carry the link.
//!
//! Start at [`install`]. The carrier provides a shell, which executes one line at a time: it inspects its machine,
//! receives the binary if it does not have it yet, and executes `windlass host`. All of this uses one connection, so
//! that the user is asked only once. Other text, such as the output of login scripts, is skipped.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use crate::HostError;

/// The prefix of every line that is meant for us.
const MARK: &str = "windlass-install:";
/// How many bytes of other text are skipped.
const PASSED_OVER: usize = 64 * 1024;
/// How much of the binary is read at a time.
const CHUNK: usize = 256 * 1024;
/// How much of it is written at a time. A carrier that takes less within its time limit counts as silent.
const PIECE: usize = 16 * 1024;

/// Inspects the machine, and checks whether it has the binary. A binary in use is not removed.
const PROBE: &str = "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/windlass/bin\"; f=\"$d/windlass-@SUM\"; \
    if test -x \"$f\"; then touch \"$f\"; s=found; else s=missing; fi; \
    echo; echo \"windlass-install:$s $(uname -sm)\"\n";

/// Receives the binary. It must be complete, have the right checksum and run. A shell that could not read all of it
/// exits, so that it does not execute the rest as commands.
const TAKE: &str = "umask 077; mkdir -p \"$d\"; t=\"$d/.new.$$\"; echo windlass-install:send; \
    head -c @SIZE > \"$t\"; n=$(wc -c < \"$t\" | tr -d ' '); \
    if test \"$n\" != @SIZE; then rm -f \"$t\"; echo \"windlass-install:failed it cannot be written to $d\"; exit 1; fi; \
    s=$( (sha256sum \"$t\" || shasum -a 256 \"$t\") 2>/dev/null); s=${s%% *}; w=; \
    if test \"$s\" != @SUM; then w=\"its checksum there is ${s:-not known}\"; \
    elif ! chmod 700 \"$t\"; then w=\"it cannot be made executable in $d\"; \
    elif ! v=$(\"$t\" --version 2>&1); then w=\"it does not run there: $v\"; \
    elif ! mv \"$t\" \"$f\"; then w=\"it cannot be moved in $d\"; fi; rm -f \"$t\"; \
    find \"$d\" -name 'windlass-*' -mtime +30 -exec rm -f {} + 2>/dev/null; \
    if test -n \"$w\"; then echo \"windlass-install:failed $w\"; else echo windlass-install:taken; fi\n";

/// Replaces the shell by the far end.
const BECOME: &str = "echo windlass-install:host; exec \"$f\" host\n";

/// The binary to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnBinary {
    path: PathBuf,
    size: u64,
    checksum: String,
}

impl OwnBinary {
    /// Reads the binary and computes its checksum.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut chunk = vec![0; CHUNK];
        let mut size = 0;
        loop {
            let length = file.read(&mut chunk)?;
            if length == 0 {
                break;
            }
            hash.update(&chunk[..length]);
            size += length as u64;
        }
        let mut checksum = String::new();
        for byte in hash.finalize() {
            // Writing into a string does not fail.
            let _ = write!(checksum, "{byte:02x}");
        }
        Ok(Self {
            path: path.to_owned(),
            size,
            checksum,
        })
    }
}

/// The reason why an installation failed.
pub(crate) enum InstallEnd {
    /// The pipe was closed.
    Closed,
    /// The program cannot be installed.
    Error(HostError),
}

/// Turns the shell at the other end of the pipes into a far end. Returns whether the binary was copied. `progress`
/// counts the pieces that were sent: a slow carrier needs time for all of them.
pub(crate) async fn install(
    stdout: &mut (impl AsyncRead + Unpin),
    stdin: &mut (impl AsyncWrite + Unpin),
    binary: &OwnBinary,
    progress: &watch::Sender<u64>,
) -> Result<bool, InstallEnd> {
    let fill = |script: &str| {
        let script = script.replace("@SUM", &binary.checksum);
        script.replace("@SIZE", &binary.size.to_string())
    };
    let mut lines = MarkedLines { stdout, passed: 0 };
    send(stdin, fill(PROBE).as_bytes()).await?;
    let probed = lines.next().await?;
    let (state, machine) = probed.split_once(' ').unwrap_or((&probed, ""));
    let is_missing = state != "found";
    if is_missing {
        let own = own_machine();
        if machine != own {
            return Err(InstallEnd::Error(HostError::Platform {
                machine: machine.to_owned(),
                own,
            }));
        }
        send(stdin, fill(TAKE).as_bytes()).await?;
        lines.next().await?;
        match copy(stdin, &binary.path, progress).await {
            // The shell has printed the reason.
            Ok(()) | Err(InstallEnd::Closed) => {}
            Err(error) => return Err(error),
        }
        let taken = lines.next().await?;
        if taken != "taken" {
            let why = taken.trim_start_matches("failed").trim().to_owned();
            return Err(InstallEnd::Error(HostError::Install { why }));
        }
    }
    send(stdin, BECOME.as_bytes()).await?;
    lines.next().await?;
    Ok(is_missing)
}

/// This machine, in the format of `uname -sm`.
fn own_machine() -> String {
    let system = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "Darwin",
        other => other,
    };
    let cpu = match (system, std::env::consts::ARCH) {
        ("Darwin", "aarch64") => "arm64",
        (_, other) => other,
    };
    format!("{system} {cpu}")
}

async fn send(stdin: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Result<(), InstallEnd> {
    let sent = stdin.write_all(bytes).await;
    sent.map_err(|_| InstallEnd::Closed)
}

async fn copy(
    stdin: &mut (impl AsyncWrite + Unpin),
    path: &Path,
    progress: &watch::Sender<u64>,
) -> Result<(), InstallEnd> {
    let unreadable = |error: io::Error| {
        InstallEnd::Error(HostError::Install {
            why: format!("this program's own file cannot be read: {error}"),
        })
    };
    let mut file = File::open(path).map_err(unreadable)?;
    loop {
        let reading = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK];
            let length = file.read(&mut chunk)?;
            chunk.truncate(length);
            io::Result::Ok((file, chunk))
        });
        let read = reading.await.map_err(io::Error::other).flatten();
        let (rest, chunk) = read.map_err(unreadable)?;
        if chunk.is_empty() {
            return Ok(());
        }
        file = rest;
        for piece in chunk.chunks(PIECE) {
            send(stdin, piece).await?;
            progress.send_modify(|count| *count += 1);
        }
    }
}

/// Reads the marked lines of the shell.
struct MarkedLines<'a, R> {
    stdout: &'a mut R,
    passed: usize,
}

impl<R: AsyncRead + Unpin> MarkedLines<'_, R> {
    /// The next line, without its mark. Reads nothing beyond it, because frames may follow.
    async fn next(&mut self) -> Result<String, InstallEnd> {
        loop {
            let mut line = Vec::new();
            loop {
                let byte = self.stdout.read_u8().await;
                match byte.map_err(|_| InstallEnd::Closed)? {
                    b'\n' => break,
                    byte => line.push(byte),
                }
                self.passed += 1;
                if self.passed > PASSED_OVER {
                    let text = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                    return Err(InstallEnd::Error(HostError::Banner { text }));
                }
            }
            let line = String::from_utf8_lossy(&line);
            if let Some(rest) = line.trim_end().strip_prefix(MARK) {
                return Ok(rest.to_owned());
            }
        }
    }
}

#[cfg(test)]
#[path = "installing_tests.rs"]
mod tests;
