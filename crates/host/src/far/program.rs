//! One program of a link, at the far end.
//!
//! Start at [`FarProgram::start`] and [`FarProgram::resume`]. Four tasks serve a program: one executes its frames in
//! order (`orders`), one sends its output within the credit, one reports its exit, and one reports prompts of its terminal.

mod orders;
mod status;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use windlass_hold_wire::{
    AppliedRules, FarFrame, HolderOrder, LONGEST_FRAME, LONGEST_WINDOW, LinkExit, LinkSandbox,
    NearFrame, ProgramOrigin, ProgramStart, ProgramStatus, StartFailure,
};
use windlass_process::{Exit, Launcher, Process, ProgramTerminal, TakeOverError, is_port_open};
use windlass_sandbox::{LimitKind, NetworkRule, ProjectPlaces, ResourceLimits};

use self::orders::OrderNotes;
use super::files::{ProgramFiles, read_receipt};
use super::output_piece::LinkPiece;
use super::session::SessionFolder;
use super::starting::{
    AnsweringScreen, adopt_soon, command, confined, failure_of, take_over, words,
};
use super::{PORT_INTERVAL, port_open};
use crate::pieces::FrameSender;
use crate::rules::{limit_numbers, read_limits};

/// A program that runs here for the near side.
pub(super) struct FarProgram {
    number: u64,
    files: ProgramFiles,
    process: Process,
    /// Answers queries of its terminal, if it has one.
    screen: Option<AnsweringScreen>,
    sender: FrameSender,
    credit: watch::Sender<u64>,
    /// Whether received output is not needed again.
    is_brief: bool,
    /// The number of the last order that was executed.
    orders: AtomicU64,
    /// Notified after each order.
    ordered: Notify,
    frames: mpsc::UnboundedSender<NearFrame>,
    /// The number of settle requests in progress. They inspect the terminal themselves.
    settling: watch::Sender<u32>,
    /// The status that was reported last.
    told: Mutex<Option<ProgramStatus>>,
    /// Whether its exit was reported.
    exit_told: watch::Sender<bool>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A program to start.
pub(super) struct StartSpec {
    pub(super) number: u64,
    pub(super) start: ProgramStart,
    /// Upper limits of the user here.
    pub(super) limits: ResourceLimits,
    pub(super) lease: Duration,
    pub(super) places: fn(&Path) -> ProjectPlaces,
}

/// A program to resume.
pub(super) struct ResumeSpec {
    pub(super) number: u64,
    pub(super) from: u64,
    pub(super) credit: u64,
    /// The program, if it was started in another session.
    pub(super) origin: Option<ProgramOrigin>,
    pub(super) sandbox: Option<LinkSandbox>,
    pub(super) places: fn(&Path) -> ProjectPlaces,
}

/// The position of the link in a program's output.
struct OutputPlace {
    /// The offset of the first byte to send.
    from: u64,
    credit: u64,
    is_brief: bool,
}

/// Whether the output that the near side has received is not needed again: the program ends with the near session, no
/// screen is redrawn from its output, and no denials are searched in it.
fn is_brief(start: &ProgramStart) -> bool {
    start.keep.is_none() && start.terminal.is_none() && start.sandbox.is_none()
}

/// Reports that a program was resumed.
fn resumed(program: u64, process: &Process, orders: u64) -> FarFrame {
    let size = process.terminal().map(ProgramTerminal::size);
    FarFrame::Resumed {
        program,
        pid: process.pid(),
        orders,
        offset: process.output().position(),
        terminal: size.map(|size| (size.rows, size.cols)),
        input_closed: process.is_input_closed(),
    }
}

impl FarProgram {
    /// Starts a program and reports the outcome.
    pub(super) async fn start(
        launcher: &Launcher,
        folder: &SessionFolder,
        sender: &FrameSender,
        spec: StartSpec,
    ) -> Option<Arc<Self>> {
        let number = spec.number;
        let failed = |failure, problem| {
            let frame = FarFrame::Failed {
                program: number,
                failure,
                problem,
            };
            sender.send(&frame.write());
        };
        let credit = spec.start.credit;
        let is_brief = is_brief(&spec.start);
        let limits = read_limits(&spec.start.limits).within(spec.limits);
        let screen = spec.start.terminal.map(AnsweringScreen::new);
        let files = folder.files(number);
        let sandbox = spec.start.sandbox.as_ref();
        let Some(launcher) = confined(launcher, sandbox, spec.places).await else {
            let problem =
                "its sandbox is unknown to the host; install the same version on both sides";
            failed(StartFailure::Other, problem.to_owned());
            return None;
        };
        let command = command(spec, &files, screen.as_ref());
        let process = match launcher.limited(limits).start(command).await {
            Ok(process) => process,
            Err(error) => {
                failed(failure_of(&error), words(&error));
                return None;
            }
        };
        if let Some(key) = process.held_key()
            && let Err(error) = files.register(key)
        {
            // Without a registration, nobody could find it after a lost link.
            process.end(Duration::ZERO).await;
            failed(StartFailure::Other, format!("it cannot be held: {error}"));
            return None;
        }
        OrderNotes::of(&process).started_by(folder.tag_of(number));
        // Without the mark, all of its output is logged.
        let is_brief = is_brief && files.note_brief().is_ok();
        let started = FarFrame::Started {
            program: number,
            pid: process.pid(),
            rules: AppliedRules {
                limits: limit_numbers(&limits),
                allowed: process.allowed(),
                unprotected: process.unprotected(),
            },
        };
        sender.send(&started.write());
        let place = OutputPlace {
            from: 0,
            credit,
            is_brief,
        };
        Some(Self::follow(
            number,
            files,
            (process, screen),
            sender,
            place,
        ))
    }

    /// Adopts a program that an earlier far end started, or reports why it is gone.
    pub(super) async fn resume(
        plain: &Launcher,
        folder: &SessionFolder,
        sender: &FrameSender,
        spec: ResumeSpec,
    ) -> Option<Arc<Self>> {
        let number = spec.number;
        let gone = |why: String, receipt: Option<Vec<u8>>| {
            let told = receipt.as_deref().and_then(read_receipt);
            let (why, ended) = told.unwrap_or((why, 0));
            let gone = FarFrame::Gone {
                program: number,
                why,
                ended,
                receipt,
            };
            sender.send(&gone.write());
        };
        let failed = |problem| {
            let failed = FarFrame::Failed {
                program: number,
                failure: StartFailure::Other,
                problem,
            };
            sender.send(&failed.write());
        };
        let files = match &spec.origin {
            None => folder.files(number),
            Some(origin) => match folder.files_of(origin).await {
                Ok(files) => files,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    gone(String::from("it is not known there"), None);
                    return None;
                }
                Err(error) => {
                    failed(format!("its folder there cannot be used: {error}"));
                    return None;
                }
            },
        };
        let sandbox = spec.sandbox.as_ref();
        let launcher = confined(plain, sandbox, spec.places).await;
        let launcher = launcher.as_ref().unwrap_or(plain);
        let adopted = match &spec.origin {
            None => adopt_soon(launcher, &files).await,
            Some(_) => take_over(launcher, &files).await,
        };
        let (process, screen) = match adopted {
            Ok(adopted) => adopted,
            Err(TakeOverError::Gone { .. }) => {
                let why = match files.key() {
                    Ok(None) => "it is not known there",
                    _ => "it has no holder there any more",
                };
                let receipt = files.receipt();
                files.remove();
                gone(why.to_owned(), receipt);
                return None;
            }
            Err(error @ TakeOverError::Refused { .. }) if spec.origin.is_none() => {
                gone(words(&error), None);
                return None;
            }
            Err(error) => {
                // It may be resumed later.
                failed(words(&error));
                return None;
            }
        };
        let orders = OrderNotes::of(&process).resumed_by(folder.tag_of(number));
        sender.send(&resumed(number, &process, orders).write());
        let place = OutputPlace {
            from: spec.from,
            credit: spec.credit,
            is_brief: spec.origin.is_none() && files.is_brief(),
        };
        let program = Self::follow(number, files, (process, screen), sender, place);
        program.orders.store(orders, Ordering::Release);
        Some(program)
    }

    fn follow(
        number: u64,
        files: ProgramFiles,
        (process, screen): (Process, Option<AnsweringScreen>),
        sender: &FrameSender,
        OutputPlace {
            from,
            credit,
            is_brief,
        }: OutputPlace,
    ) -> Arc<Self> {
        if is_brief {
            process.output().forget_before(from);
        }
        process.read_until(credit);
        let (frames, incoming) = mpsc::unbounded_channel();
        let program = Arc::new(Self {
            number,
            files,
            process,
            screen,
            sender: sender.clone(),
            credit: watch::Sender::new(credit),
            is_brief,
            orders: AtomicU64::new(0),
            ordered: Notify::new(),
            frames,
            settling: watch::Sender::new(0),
            told: Mutex::default(),
            exit_told: watch::Sender::new(false),
            tasks: Mutex::default(),
        });
        let mut tasks = vec![
            windlass_task::spawn(Arc::clone(&program).obey(incoming)),
            windlass_task::spawn(Arc::clone(&program).send_output(from)),
            windlass_task::spawn(Arc::clone(&program).tell_exit()),
        ];
        if program.process.terminal().is_some() {
            tasks.push(windlass_task::spawn(Arc::clone(&program).tell_prompts()));
        }
        *program.tasks.lock() = tasks;
        program
    }

    /// Handles a frame for this program.
    pub(super) fn take(self: &Arc<Self>, frame: NearFrame) {
        match frame {
            NearFrame::Order {
                order: HolderOrder::End { grace },
                ..
            } => {
                let program = Arc::clone(self);
                windlass_task::spawn(async move { program.end(grace).await });
            }
            NearFrame::Credit { until, .. } => {
                if self.is_brief {
                    let received = until.saturating_sub(LONGEST_WINDOW);
                    self.process.output().forget_before(received);
                }
                self.process.read_until(until);
                self.credit.send_replace(until);
            }
            NearFrame::Port { id, port, .. } => self.watch_port(id, port),
            NearFrame::Resume { .. } => {
                let orders = self.orders.load(Ordering::Acquire);
                self.send(&resumed(self.number, &self.process, orders));
            }
            frame => {
                let _ = self.frames.send(frame);
            }
        }
    }

    /// Releases the program to its holder.
    pub(super) async fn leave(&self) {
        // An order that is being executed is complete, or noted in part, before another far end may continue it.
        for task in self.stop_following() {
            let _ = task.await;
        }
        self.process.leave().await;
    }

    /// Ends the rest of a program that the near side no longer needs.
    pub(super) fn forget(&self) {
        drop(self.stop_following());
        self.files.remove();
    }

    /// Reports when a port of its network is being listened on, while the near side has the program: processes that it
    /// has left running may listen after its exit.
    fn watch_port(self: &Arc<Self>, id: u64, port: u16) {
        let program = Arc::clone(self);
        let task = windlass_task::spawn(async move {
            program.port_open(port).await;
            program.send(&FarFrame::Port { id });
        });
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Resolves when a port of its network is being listened on.
    async fn port_open(&self, port: u16) {
        let confinement = self.process.confinement();
        if confinement.is_none_or(|it| it.network == NetworkRule::Full) {
            return port_open(port).await;
        }
        while !is_port_open(self.process.pid(), port) {
            if self.process.exit().is_some() {
                // Its namespace cannot be found by its process id any more.
                return std::future::pending().await;
            }
            tokio::time::sleep(PORT_INTERVAL).await;
        }
    }

    /// Aborts its tasks, and returns them.
    fn stop_following(&self) -> Vec<JoinHandle<()>> {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in &tasks {
            task.abort();
        }
        tasks
    }

    fn send(&self, frame: &FarFrame) {
        let bytes = frame.write();
        if bytes.len() > LONGEST_FRAME {
            // The near side would drop the link, resume the program and get the same frame again.
            tracing::error!(length = bytes.len(), "a frame is too long and was not sent");
            return;
        }
        self.sender.send(&bytes);
    }

    async fn end(&self, grace: Duration) {
        let receipt = self.process.end(grace).await;
        let survivors = receipt.survivors.into_iter();
        self.send(&FarFrame::Ended {
            program: self.number,
            ended: u32::try_from(receipt.ended).unwrap_or(u32::MAX),
            survivors: survivors.map(|it| (it.pid, it.name)).collect(),
        });
    }

    async fn settle(self: Arc<Self>, id: u64, limit: Duration) {
        self.process.settle(limit).await;
        // An exit and a prompt are reported before the settling.
        if self.process.exit().is_some() {
            let mut told = self.exit_told.subscribe();
            let _ = tokio::time::timeout(limit, told.wait_for(|told| *told)).await;
        }
        if let Some(status) = self.look() {
            self.tell_status(status);
        }
        self.send(&FarFrame::Settled {
            program: self.number,
            id,
            offset: self.process.output().position(),
        });
        self.settling.send_modify(|count| *count -= 1);
    }

    /// Sends output within the credit of the near side.
    async fn send_output(self: Arc<Self>, mut from: u64) {
        let output = self.process.output().clone();
        let mut changes = output.changes();
        let mut credit = self.credit.subscribe();
        loop {
            changes.borrow_and_update();
            let until = output.position().min(*credit.borrow_and_update());
            while from < until {
                self.tell_modes();
                let piece = LinkPiece::next(self.number, &output, from, until);
                from = piece.end;
                if !self.sender.send_bulk(piece.frame).await {
                    return;
                }
            }
            tokio::select! {
                _ = changes.changed() => {}
                _ = credit.changed() => {}
            }
        }
    }

    async fn tell_exit(self: Arc<Self>) {
        let exit = self.process.wait().await;
        let remaining = self.process.remaining().await;
        let denied = if exit == Exit::Code(0) {
            Vec::new()
        } else {
            self.process.denied()
        };
        let exceeded = self.process.exceeded().map(|kind| match kind {
            LimitKind::Memory => 0,
            LimitKind::Processes => 1,
            LimitKind::Cpu => 2,
            LimitKind::FileSize => 4,
            LimitKind::Wall => 5,
            LimitKind::Disk => 6,
        });
        self.send(&FarFrame::Exited {
            program: self.number,
            offset: self.process.output().position(),
            exit: match exit {
                Exit::Code(code) => LinkExit::Code(code),
                Exit::Signal(signal) => LinkExit::Signal(signal),
                Exit::Lost(why) => LinkExit::Lost(why),
            },
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            exceeded,
            denied,
        });
        self.exit_told.send_replace(true);
    }
}
