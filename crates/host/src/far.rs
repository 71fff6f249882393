//! The far end of a link: `windlass host`.
//!
//! Start at [`serve`]. Every program is kept by its own holder, not by this process. When this process ends, by end of
//! input, a signal or a crash, the holder keeps the program until its lease expires, and the next far end of the same
//! session adopts it.

mod files;
mod output_piece;
mod program;
mod session;
mod starting;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use windlass_hold_wire::{FarFrame, LINK_VERSION, NearFrame, NearHello, ProgramOrigin};
use windlass_process::{HeldKey, Launcher, LauncherOptions, sandbox_support};
use windlass_sandbox::{ProjectPlaces, ResourceLimits};

use self::files::ProgramFiles;
use self::program::FarProgram;
use self::session::SessionFolder;
use crate::machine;
use crate::pieces::{FrameReader, FrameSender};
use crate::{ServeError, UnknownLimits};

/// How often a port is probed. The system has no notification for new listeners.
const PORT_INTERVAL: Duration = Duration::from_millis(25);
/// How long programs that are still starting may take when the link ends.
const MAKING: Duration = Duration::from_secs(2);
/// The maximum number of characters of a reason to refuse a link. The near side takes a longer frame for a banner.
const LONGEST_REASON: usize = 1000;
/// How long the near side may take to send its hello.
const HELLO_LIMIT: Duration = Duration::from_mins(1);

/// The options of a far end.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The directory for the state files of held programs. It is created for this user only.
    pub folder: PathBuf,
    /// Upper limits for all programs here, regardless of the limits that the near side requests; or the reason why they
    /// are not known, for which every link is refused.
    pub limits: Result<ResourceLimits, UnknownLimits>,
    /// The labels of this machine.
    pub labels: Vec<String>,
    /// Finds the directories of a project here, for the sandboxes of its programs.
    pub places: fn(&Path) -> ProjectPlaces,
}

/// The address of the holder of a program that a far end with this directory has started; `None` if there is none.
pub fn held_key(folder: &Path, origin: &ProgramOrigin) -> Option<HeldKey> {
    let folder = folder.join(session::session_name(&origin.session));
    let key = ProgramFiles::new(&folder, origin.program, None).key();
    key.ok().flatten()
}

/// Serves one link, until its input ends, the near side times out, or `stopped` resolves. Programs that still run are
/// then held until their lease expires.
pub async fn serve(
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
    options: ServeOptions,
    stopped: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let mut reader = FrameReader::new(input);
    let mut stopped = std::pin::pin!(stopped);
    let hello = tokio::select! {
        hello = tokio::time::timeout(HELLO_LIMIT, reader.next(NearFrame::read)) => hello,
        () = &mut stopped => return Ok(()),
    };
    let Ok(Ok(NearFrame::Hello(hello))) = hello else {
        return Err(ServeError::NoLink);
    };
    let (sender, writing) = FrameSender::new(output);
    let writing = windlass_task::spawn(writing);
    if hello.version != LINK_VERSION {
        let error = ServeError::Version {
            version: hello.version,
            own: LINK_VERSION,
        };
        // The near side reports the mismatch when it reads our hello.
        sender.send(&FarFrame::Hello(machine::describe(&[], false)).write());
        drop(sender);
        let _ = writing.await;
        return Err(error);
    }
    let opened = FarEnd::open(&hello, &options, sender.clone()).await;
    let mut far = match opened {
        Ok(far) => far,
        Err(error) => {
            let why = explain(&error).chars().take(LONGEST_REASON).collect();
            sender.send(&FarFrame::Refused { why }.write());
            drop(sender);
            let _ = writing.await;
            return Err(error);
        }
    };
    let mut machine = machine::describe(&hello.asks, far.launcher.holds_trees());
    machine.labels.clone_from(&options.labels);
    if !hello.asks.is_empty() {
        machine.sandbox = sandbox_support(&far.launcher).await.lines();
    }
    sender.send(&FarFrame::Hello(machine).write());
    let beating = windlass_task::spawn(beat(sender.clone(), hello.heartbeat));
    let serving = far.serve(&mut reader, hello.heartbeat.saturating_mul(3));
    tokio::select! {
        () = serving => {}
        () = &mut stopped => {}
        () = sender.closed() => {}
    }
    beating.abort();
    far.leave().await;
    Ok(())
}

fn explain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", explain(source)),
        None => error.to_string(),
    }
}

async fn beat(sender: FrameSender, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        sender.send(&FarFrame::Beat.write());
    }
}

/// One link and its programs.
struct FarEnd {
    launcher: Launcher,
    folder: Arc<SessionFolder>,
    limits: ResourceLimits,
    places: fn(&Path) -> ProjectPlaces,
    sender: FrameSender,
    programs: HashMap<u64, Arc<FarProgram>>,
    /// Programs that were started or resumed, sent here by their tasks.
    ready: mpsc::UnboundedReceiver<(u64, Option<Arc<FarProgram>>)>,
    made: mpsc::UnboundedSender<(u64, Option<Arc<FarProgram>>)>,
    /// Frames for programs that are not ready yet, in order.
    waiting: HashMap<u64, Vec<NearFrame>>,
    lease: Duration,
}

impl FarEnd {
    async fn open(
        hello: &NearHello,
        options: &ServeOptions,
        sender: FrameSender,
    ) -> Result<Self, ServeError> {
        let limits = options.limits.clone()?;
        let folder = SessionFolder::open(&options.folder, &hello.session).await?;
        let launcher = Launcher::new(LauncherOptions::default()).map_err(ServeError::Launcher)?;
        let (made, ready) = mpsc::unbounded_channel();
        Ok(Self {
            launcher,
            folder: Arc::new(folder),
            limits,
            places: options.places,
            sender,
            programs: HashMap::new(),
            ready,
            made,
            waiting: HashMap::new(),
            lease: hello.lease,
        })
    }

    /// Handles frames until the input ends or the near side times out.
    async fn serve<R: AsyncRead + Unpin>(&mut self, reader: &mut FrameReader<R>, limit: Duration) {
        loop {
            tokio::select! {
                biased;
                Some((number, program)) = self.ready.recv() => self.add(number, program),
                frame = tokio::time::timeout(limit, reader.next(NearFrame::read)) => match frame {
                    Ok(Ok(frame)) => self.take(frame),
                    Ok(Err(_)) | Err(_) => return,
                },
            }
        }
    }

    /// Adds a program that has started, and gives it the frames that arrived meanwhile. `None`: it did not start.
    fn add(&mut self, number: u64, program: Option<Arc<FarProgram>>) {
        self.programs
            .extend(program.map(|program| (number, program)));
        for frame in self.waiting.remove(&number).unwrap_or_default() {
            self.take(frame);
        }
    }

    fn take(&mut self, frame: NearFrame) {
        let number = match &frame {
            NearFrame::Start { program, .. } | NearFrame::Resume { program, .. }
                if !self.waiting.contains_key(program) && !self.programs.contains_key(program) =>
            {
                self.waiting.insert(*program, Vec::new());
                self.make(frame);
                return;
            }
            // One that is resumed although it was just started over this link replies that it is there.
            NearFrame::Start { program, .. }
            | NearFrame::Resume { program, .. }
            | NearFrame::Order { program, .. }
            | NearFrame::Credit { program, .. }
            | NearFrame::Settle { program, .. }
            | NearFrame::Ask { program }
            | NearFrame::Port { program, .. }
            | NearFrame::Leave { program }
            | NearFrame::Forget { program } => *program,
            NearFrame::Beat | NearFrame::Hello(_) => return,
        };
        if let Some(waiting) = self.waiting.get_mut(&number) {
            waiting.push(frame);
            return;
        }
        if let NearFrame::Forget { program } = frame {
            match self.programs.remove(&program) {
                Some(program) => program.forget(),
                None => self.folder.files(program).remove(),
            }
            return;
        }
        if let NearFrame::Leave { program } = frame {
            if let Some(program) = self.programs.remove(&program) {
                windlass_task::spawn(async move { program.leave().await });
            }
            return;
        }
        if let Some(program) = self.programs.get(&number) {
            program.take(frame);
        }
    }

    /// Starts or resumes a program in a task of its own.
    fn make(&self, frame: NearFrame) {
        let (launcher, folder) = (self.launcher.clone(), Arc::clone(&self.folder));
        let (sender, made) = (self.sender.clone(), self.made.clone());
        let (limits, lease, places) = (self.limits, self.lease, self.places);
        windlass_task::spawn(async move {
            let (number, program) = match frame {
                NearFrame::Start { program, start } => {
                    let spec = program::StartSpec {
                        number: program,
                        start: *start,
                        limits,
                        lease,
                        places,
                    };
                    let started = FarProgram::start(&launcher, &folder, &sender, spec).await;
                    (program, started)
                }
                NearFrame::Resume {
                    program,
                    from,
                    credit,
                    origin,
                    sandbox,
                } => {
                    let resume = program::ResumeSpec {
                        number: program,
                        from,
                        credit,
                        origin,
                        sandbox: sandbox.map(|it| *it),
                        places,
                    };
                    let resumed = FarProgram::resume(&launcher, &folder, &sender, resume).await;
                    (program, resumed)
                }
                _ => return,
            };
            if let Err(mpsc::error::SendError((_, Some(program)))) = made.send((number, program)) {
                // The link has ended, and did not wait any longer.
                program.leave().await;
            }
        });
    }

    /// Releases every program. Running programs are held from now on.
    async fn leave(mut self) {
        let making = async {
            while !self.waiting.is_empty()
                && let Some((number, program)) = self.ready.recv().await
            {
                self.programs
                    .extend(program.map(|program| (number, program)));
                self.waiting.remove(&number);
            }
        };
        // Programs that are being started are released too. The task of one that takes longer releases it.
        let _ = tokio::time::timeout(MAKING, making).await;
        self.ready.close();
        while let Ok((number, program)) = self.ready.try_recv() {
            self.programs
                .extend(program.map(|program| (number, program)));
        }
        for (_, program) in self.programs.drain() {
            program.leave().await;
        }
    }
}

/// Resolves when a port of this machine is being listened on.
async fn port_open(port: u16) {
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
    let addresses: [SocketAddr; 2] = [
        (Ipv4Addr::LOCALHOST, port).into(),
        (Ipv6Addr::LOCALHOST, port).into(),
    ];
    loop {
        for address in addresses {
            if TcpStream::connect(address).await.is_ok() {
                return;
            }
        }
        tokio::time::sleep(PORT_INTERVAL).await;
    }
}

#[cfg(test)]
#[path = "far_tests.rs"]
mod tests;
