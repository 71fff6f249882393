//! Starts programs, and takes over programs that another process has kept.
//!
//! Start at [`Launcher::start`].

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
#[cfg(target_os = "linux")]
use std::time::Duration;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use windlass_output::{Output, OutputOptions};
use windlass_sandbox::OnUnavailable;

use super::Launcher;
use crate::command::OutputTarget;
use crate::driver::Driver;
use crate::input::Input;
#[cfg(target_os = "linux")]
use crate::keep::WITHIN_LINE;
#[cfg(target_os = "linux")]
use crate::process::KeptOutput;
use crate::process::{Confined, ProcessShared, ProcessState};
#[cfg(target_os = "linux")]
use crate::terminal;
use crate::terminal::{Keeper, Tap};
use crate::watch::{TreeControl, TreeMonitor};
use crate::{
    AdoptOptions, Command, HeldKey, Process, RemoteAdoption, RemoteHost, RemoteStart, RemoteTap,
    StartError, TakeOverError, Terminal, WriteError, find_program, pipes, plain,
};

impl Launcher {
    /// Starts a program. It runs when this returns. Dropping the future ends a
    /// program that was already started.
    pub async fn start(&self, mut command: Command) -> Result<Process, StartError> {
        if let Some(host) = &self.host {
            return self.start_on(&**host, command).await;
        }
        if command.terminal.is_some() {
            prepare_for_terminal(&mut command);
        }
        if !command.env_clear {
            command.env.splice(0..0, self.edits.iter().cloned());
        }
        #[cfg(target_os = "linux")]
        let sandbox = self.prepare_sandbox(&mut command).await?;
        #[cfg(not(target_os = "linux"))]
        self.refuse_sandbox(&command)?;
        let system = |source| StartError::System {
            program: command.program.clone(),
            source,
        };
        let path = self.find(&command)?;
        let launched = Instant::now();
        #[cfg(target_os = "linux")]
        let terminals = sandbox.as_ref().and_then(|sandbox| sandbox.terminals());
        #[cfg(not(target_os = "linux"))]
        let terminals = None;
        let (ours, theirs) = pipes::open(&command, terminals).map_err(system)?;
        let (output, lasting_output) = match &command.output {
            OutputTarget::New(options) => (Output::new(options.clone()), false),
            OutputTarget::Existing(output) => (output.clone(), true),
        };
        #[cfg(target_os = "linux")]
        let keeping = self
            .keeping(&command, &output, &ours, sandbox.as_deref())
            .transpose()
            .map_err(system)?;
        #[cfg(target_os = "linux")]
        let keep = keeping.as_ref().map(|keeping| keeping.order(&ours));
        #[cfg(target_os = "linux")]
        let keep = keep.as_ref().map(|(bytes, fds)| (*bytes, &fds[..]));
        #[cfg(not(target_os = "linux"))]
        let keep: Option<()> = None;
        #[cfg(target_os = "linux")]
        let outliving = match &keep {
            Some(_) => crate::linux::Outliving::Kept,
            None => crate::linux::Outliving::No,
        };
        #[cfg(target_os = "linux")]
        let confine = (sandbox.is_some() || self.limits.is_some())
            .then(|| crate::linux::ConfineMessage::new(sandbox.as_ref(), self.limits(), outliving));
        #[cfg(target_os = "linux")]
        let extras = crate::linux::Extras {
            keep,
            confine: confine.as_ref(),
        };
        #[cfg(not(target_os = "linux"))]
        let extras: Option<()> = keep;
        let (pid, hold, watch) = self.launch(&command, &path, theirs, extras).await?;
        let running = RunningProgram {
            pid,
            launched,
            hold,
            watch,
            streams: ours,
            output,
            lasting_output,
            errors: (command.split && command.terminal.is_none())
                .then(|| Output::new(OutputOptions::default())),
            tap: command.tap.clone(),
            confined: Confined {
                confinement: self.confinement().cloned(),
                limits: self.limits(),
                cwd: command.cwd.clone(),
            },
            #[cfg(target_os = "linux")]
            sandbox,
            #[cfg(target_os = "linux")]
            kept: keeping.map(|keeping| KeptOutput {
                retained: keeping.retained,
                key: keeping.key,
            }),
        };
        let process = running.follow().map_err(system)?;
        #[cfg(target_os = "linux")]
        if let Some(zygotes) = &self.inner.zygotes {
            zygotes.prepare();
        }
        Ok(process)
    }

    async fn start_on(
        &self,
        host: &dyn RemoteHost,
        command: Command,
    ) -> Result<Process, StartError> {
        let refused = |problem: &str| StartError::Host {
            host: host.name().to_owned(),
            problem: problem.to_owned(),
        };
        if self.confinement().is_some() && self.unresolved.is_none() {
            return Err(refused(
                "its sandbox cannot be resolved there; run it on this machine, without a host",
            ));
        }
        let start = RemoteStart::new(command, &self.edits, self.limits());
        let mut start = start.map_err(|part| refused(&format!("{part} does not run there")))?;
        start.sandbox = self.unresolved.as_deref().cloned();
        start.group.clone_from(&self.group);
        host.start(start).await
    }

    /// Takes over a program that another process has kept, from the byte at
    /// which that process stopped reading. Only Linux has kept programs here;
    /// from other systems, programs on hosts are taken over.
    pub async fn adopt(
        &self,
        key: &HeldKey,
        options: AdoptOptions,
    ) -> Result<Process, TakeOverError> {
        match (&key.remote, &self.host) {
            (None, None) => self.adopt_here(key, options).await,
            (Some(place), Some(host)) if host.has_place(place) => {
                self.adopt_on(&**host, key, options).await
            }
            _ => Err(TakeOverError::System {
                name: key.name.clone(),
                source: io::Error::other("it runs on another machine"),
            }),
        }
    }

    #[cfg(not(target_os = "linux"))]
    async fn adopt_here(&self, key: &HeldKey, _: AdoptOptions) -> Result<Process, TakeOverError> {
        Err(key.nobody())
    }

    #[cfg(target_os = "linux")]
    async fn adopt_here(
        &self,
        key: &HeldKey,
        options: AdoptOptions,
    ) -> Result<Process, TakeOverError> {
        let system = |source| TakeOverError::System {
            name: key.name.clone(),
            source,
        };
        let adoption = crate::linux::adopt(key, options.patience).await?;
        let retained = adoption.retained;
        let output = Output::resume(options.output, &retained.checkpoint());
        retained.replay(&output);
        if let Some(rebuild) = options.rebuild {
            rebuild(&output, retained.cursor());
        }
        let mut streams = pipes::Ours::default();
        if adoption.terminal {
            let opened = terminal::reopen(adoption.stdout).map_err(system)?;
            streams.stdin = Some(Arc::clone(&opened.master));
            streams.stdout = Some(Arc::clone(&opened.master));
            streams.terminal = Some(opened);
        } else {
            streams.stdout = Some(Arc::new(adoption.stdout));
            streams.stderr = adoption.stderr.map(Arc::new);
            streams.stdin = adoption.stdin.map(Arc::new);
            streams.input_closed = adoption.input_closed;
        }
        let watch =
            crate::linux::ShimMonitor::adopted(adoption.control, adoption.shim, adoption.status);
        let watch = watch.map_err(system)?;
        let running = RunningProgram {
            pid: adoption.pid,
            launched: Instant::now(),
            hold: TreeControl::Shim(watch.hold(ADOPTED_GRACE)),
            watch: TreeMonitor::Shim(watch),
            streams,
            output,
            lasting_output: true,
            errors: None,
            tap: options.tap,
            confined: Confined {
                confinement: self.confinement().cloned(),
                limits: self.limits(),
                cwd: None,
            },
            sandbox: None,
            kept: Some(KeptOutput {
                retained,
                key: key.clone(),
            }),
        };
        running.follow().map_err(system)
    }

    async fn adopt_on(
        &self,
        host: &dyn RemoteHost,
        key: &HeldKey,
        options: AdoptOptions,
    ) -> Result<Process, TakeOverError> {
        if let Some(log) = &options.output.log {
            // All output is sent again.
            let _ = std::fs::remove_file(log);
        }
        let adoption = RemoteAdoption {
            wants_output: true,
            key: key.clone(),
            output: Output::new(options.output),
            tap: options.tap.map(RemoteTap),
            rebuild: options.rebuild,
            limits: self.limits(),
            sandbox: self.unresolved.as_deref().cloned(),
        };
        host.adopt(adoption).await
    }

    /// Prepares to keep the program beyond this process, if requested and possible.
    #[cfg(target_os = "linux")]
    fn keeping(
        &self,
        command: &Command,
        output: &Output,
        ours: &pipes::Ours,
        sandbox: Option<&crate::linux::Prepared>,
    ) -> Option<io::Result<crate::linux::KeepPreparation>> {
        let options = command.keep.as_ref()?;
        let can_be = self.holds_trees() && !command.split && !command.hands_over;
        let prepare = || {
            let way_out = sandbox.map_or(Ok(None), crate::linux::Prepared::way_out)?;
            crate::linux::KeepPreparation::prepare(options, output, ours, way_out)
        };
        (can_be && ours.stdout.is_some()).then(prepare)
    }

    /// Prepares the sandbox of its programs, and sets its variables.
    #[cfg(target_os = "linux")]
    async fn prepare_sandbox(
        &self,
        command: &mut Command,
    ) -> Result<Option<Arc<crate::linux::Prepared>>, StartError> {
        use crate::linux::PrepareError;
        let Some(sandbox) = &self.sandbox else {
            return Ok(None);
        };
        let Some(zygotes) = &self.inner.zygotes else {
            self.refuse_sandbox(command)?;
            return Ok(None);
        };
        let prepared = sandbox
            .prepare(zygotes)
            .await
            .map_err(|error| match error {
                PrepareError::Unprotected(missing) => StartError::Unprotected {
                    program: command.program.clone(),
                    missing,
                },
                PrepareError::System(source) => StartError::Confine {
                    program: command.program.clone(),
                    source,
                },
            })?;
        if let Some(options) = &command.keep {
            let socket = crate::linux::holder_socket(options);
            let kept = prepared.keep(&socket);
            kept.map_err(|source| StartError::Confine {
                program: command.program.clone(),
                source,
            })?;
        }
        command.env.splice(0..0, prepared.variables());
        Ok(Some(prepared))
    }

    /// Refuses a sandbox if trees are not held, because it could not be
    /// enforced.
    fn refuse_sandbox(&self, command: &Command) -> Result<(), StartError> {
        let refuses = self
            .confinement()
            .is_some_and(|it| it.unavailable == OnUnavailable::Refuse);
        if refuses {
            return Err(StartError::Unprotected {
                program: command.program.clone(),
                missing: vec![String::from(
                    "anything (sandboxes need Linux, and a call of `init` at the top of `main`)",
                )],
            });
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    async fn launch(
        &self,
        command: &Command,
        path: &Path,
        theirs: pipes::Theirs,
        extras: crate::linux::Extras<'_>,
    ) -> Result<(u32, TreeControl, TreeMonitor), StartError> {
        if let Some(zygotes) = &self.inner.zygotes
            && !command.terminal_beside
        {
            let started = crate::linux::start(zygotes, command, path, theirs, extras);
            let (pid, hold, watch) = started.await?;
            return Ok((pid, TreeControl::Shim(hold), TreeMonitor::Shim(watch)));
        }
        let (pid, hold, watch) = plain::start(command, path, theirs, &self.inner.environment)?;
        Ok((pid, TreeControl::Plain(hold), TreeMonitor::Plain(watch)))
    }

    #[cfg(not(target_os = "linux"))]
    async fn launch(
        &self,
        command: &Command,
        path: &Path,
        theirs: pipes::Theirs,
        _extras: Option<()>,
    ) -> Result<(u32, TreeControl, TreeMonitor), StartError> {
        let (pid, hold, watch) = plain::start(command, path, theirs, &self.inner.environment)?;
        Ok((pid, TreeControl::Plain(hold), TreeMonitor::Plain(watch)))
    }

    fn find(&self, command: &Command) -> Result<PathBuf, StartError> {
        let program = Path::new(&command.program);
        if program.is_absolute() {
            // Executing it reports the error, if any.
            return Ok(program.to_owned());
        }
        let cwd = command.cwd.as_deref().unwrap_or(Path::new(""));
        let cwd = std::path::absolute(cwd)
            .or_else(|_| std::env::current_dir())
            .unwrap_or_default();
        find_program(&command.program, self.path_of(command), &cwd)
    }

    /// The `PATH` that the program will see.
    fn path_of<'a>(&'a self, command: &'a Command) -> Option<&'a OsStr> {
        let edit = command.env.iter().rev().find(|(name, _)| name == "PATH");
        if let Some((_, value)) = edit {
            return value.as_deref();
        }
        if command.env_clear {
            return None;
        }
        let base = self
            .inner
            .environment
            .iter()
            .find(|(name, _)| name == "PATH");
        base.map(|(_, value)| value.as_os_str())
    }
}

/// The grace period of an adopted program when its [`Process`] is dropped.
#[cfg(target_os = "linux")]
const ADOPTED_GRACE: Duration = Duration::from_secs(2);

/// A running program, and the resources to follow it.
struct RunningProgram {
    pid: u32,
    /// The time before it was started or adopted.
    launched: Instant,
    hold: TreeControl,
    watch: TreeMonitor,
    streams: pipes::Ours,
    output: Output,
    /// Whether the output outlives the process.
    lasting_output: bool,
    errors: Option<Output>,
    tap: Option<Tap>,
    confined: Confined,
    #[cfg(target_os = "linux")]
    sandbox: Option<Arc<crate::linux::Prepared>>,
    #[cfg(target_os = "linux")]
    kept: Option<KeptOutput>,
}

impl RunningProgram {
    /// Starts its driver task.
    fn follow(mut self) -> io::Result<Process> {
        let without_pipe = if self.streams.input_closed {
            WriteError::Closed
        } else {
            WriteError::NoInput
        };
        let stdin = self.streams.stdin.take();
        let input = Arc::new(Input::new(stdin.ok_or(without_pipe)));
        #[cfg(target_os = "linux")]
        if let Some(kept) = &self.kept {
            let retained = Arc::clone(&kept.retained);
            let at_line_start = retained.note(WITHIN_LINE) == 0;
            let note = move |it: bool| retained.set_note(WITHIN_LINE, (!it).into());
            input.continue_line(at_line_start, Box::new(note));
        }
        let terminal = self.streams.terminal.take().map(|opened| {
            let keeper = keeper(&self.hold, self.pid);
            Terminal::new(opened, Arc::clone(&input), self.tap, keeper)
        });
        let (drains, asked) = mpsc::unbounded_channel();
        let shared = Arc::new(ProcessShared {
            pid: self.pid,
            launched: self.launched,
            started: Instant::now(),
            lasting_output: self.lasting_output,
            output: self.output,
            errors: self.errors,
            input,
            handed_over: Mutex::new(self.streams.handed_over.take()),
            terminal: terminal.transpose()?,
            hold: self.hold,
            state: watch::Sender::new(ProcessState::default()),
            #[cfg(target_os = "linux")]
            kept: self.kept,
            #[cfg(target_os = "linux")]
            sandbox: self.sandbox,
            confined: self.confined,
            left: AtomicBool::new(false),
            read_limit: AtomicU64::new(u64::MAX),
            drains,
        });
        let process = Process::new(Arc::clone(&shared));
        windlass_task::spawn(Driver::new(shared, self.watch, self.streams, asked)?);
        Ok(process)
    }
}

/// Sets the environment of a program on a terminal, unless the caller has set
/// it.
fn prepare_for_terminal(command: &mut Command) {
    let edits = [
        ("TERM", Some("xterm-256color")),
        ("COLUMNS", None),
        ("LINES", None),
    ];
    let edits = edits.map(|(name, value)| (name.into(), value.map(OsString::from)));
    command.env.splice(0..0, edits);
}

fn keeper(hold: &TreeControl, pid: u32) -> Keeper {
    match hold {
        #[cfg(target_os = "linux")]
        TreeControl::Shim(hold) => Keeper::Shim(hold.root()),
        TreeControl::Plain(_) => Keeper::Session(pid.cast_signed()),
    }
}
