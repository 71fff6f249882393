//! Explains failures that a sandbox or a resource limit caused.
//!
//! Start at [`explain`]. An exceeded limit is known. A denial is inferred from
//! the output, so only failed programs are examined: the output of a successful
//! one may quote anything.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use windlass_process::{Launcher, Process, is_port_open};
use windlass_protocol::{HandleUse, Start};
use windlass_runtime::{Ending, Exit, JobHost, LocalHost};
use windlass_sandbox::{
    Confinement, Denial, HostPattern, LimitKind, NetworkRule, ResourceLimits, Widening,
};

/// The number of bytes of output that are examined.
const LOOKED_AT: usize = 16 << 10;

/// The launcher for a call: without a sandbox, or with a wider one, if a person
/// has allowed that. Programs of one session belong together.
pub(crate) fn launcher(launcher: &Launcher, start: &Start) -> Launcher {
    let grouped;
    let launcher = if launcher.host().is_some() {
        grouped = launcher.grouped(&start.session.to_string());
        &grouped
    } else {
        launcher
    };
    if start.outside {
        return launcher.unconfined();
    }
    let widenings = start.widenings.iter().filter_map(|text| text.parse().ok());
    let widenings: Vec<Widening> = widenings.filter(is_still_itself).collect();
    match launcher.confinement() {
        Some(confinement) if !widenings.is_empty() => {
            launcher.confined_lastingly(confinement.widened(&widenings))
        }
        _ => launcher.clone(),
    }
}

/// Adds the exceeded limit or the sandbox denials to the end of a failed
/// program.
pub(crate) fn explain(ending: &mut Ending, process: &Process) {
    let limits = process.limits();
    let allowed = process.allowed();
    if allowed.is_none() && limits.is_empty() {
        return;
    }
    let Err(error) = &mut ending.result else {
        return;
    };
    let by_signal = by_signal(ending.exit.as_ref(), &limits);
    if let Some(kind) = process.exceeded().or(by_signal) {
        let limit = limits.describe(kind);
        error.message = format!(
            "{}; it exceeded the limit {limit}, and was ended",
            error.message
        );
        return;
    }
    let mut text = process.output().read_all(LOOKED_AT).text;
    text.push_str(&process.errors().read_all(LOOKED_AT).text);
    let lower = text.to_lowercase();
    let says = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
    let memory = [
        "cannot allocate memory",
        "memoryerror",
        "out of memory",
        "memory allocation",
    ];
    if limits.memory.is_some() && says(&memory) {
        let limit = limits.describe(LimitKind::Memory);
        // Writing into a string does not fail.
        let _ = write!(error.message, "; the limit {limit} may be the reason");
    }
    if limits.file_size.is_some() && says(&["file too large", "efbig", "file size limit exceeded"])
    {
        let limit = limits.describe(LimitKind::FileSize);
        let _ = write!(error.message, "; the limit {limit} may be the reason");
    }
    if let Some(limit) = limits
        .open_files
        .filter(|_| says(&["too many open files", "emfile"]))
    {
        let _ = write!(
            error.message,
            "; the limit open_files = {limit} may be the reason"
        );
    }
    let Some(allowed) = allowed else {
        return;
    };
    let found = process.denied();
    if !found.is_empty() {
        if let Some(confinement) = process.confinement() {
            let denials = process.denials();
            let wider = denials.iter().filter_map(|it| widening(it, confinement));
            ending.widenings = wider.map(|it| it.to_string()).collect();
        }
        let denied = found.join(", ");
        let _ = write!(error.message, "; denied: {denied}; allowed: {allowed}");
        ending.denied = found;
    }
}

/// Whether the rule's path still refers to the file that the person was asked
/// about, and not to the target of a new link.
fn is_still_itself(widening: &Widening) -> bool {
    match widening {
        Widening::Read(path) | Widening::Write(path) => {
            path.canonicalize().is_ok_and(|real| real == *path)
        }
        Widening::Connect(_) => true,
    }
}

/// The rule that would allow the denied access, if one is possible. For a file
/// that does not exist, it is about the folder.
fn widening(denial: &Denial, confinement: &Confinement) -> Option<Widening> {
    let real = |path: &Path| path.canonicalize().ok();
    let widening = match denial {
        Denial::Read(path) => Widening::Read(real(path)?),
        Denial::Write(path) => Widening::Write(real(path).or_else(|| real(path.parent()?))?),
        Denial::Host(host) => Widening::Connect(HostPattern::parse(host)?),
        Denial::Network => return None,
    };
    confinement.can_be_widened(&widening).then_some(widening)
}

/// The limit whose signal ended a program. A shell reports the signal of its
/// command as an exit code.
fn by_signal(exit: Option<&Exit>, limits: &ResourceLimits) -> Option<LimitKind> {
    const OF_SHELL: i32 = 128;
    let kinds = [
        (
            "SIGXFSZ",
            25,
            LimitKind::FileSize,
            limits.file_size.is_some(),
        ),
        ("SIGXCPU", 24, LimitKind::Cpu, limits.cpu.is_some()),
    ];
    let found = kinds.into_iter().find(|(name, number, _, limited)| {
        *limited
            && match exit {
                Some(Exit::Signal(signal)) => signal == name,
                Some(Exit::Code(code)) => *code == OF_SHELL + number,
                None => false,
            }
    });
    found.map(|(_, _, kind, _)| kind)
}

/// The resource usage of a program and its descendants.
pub(crate) fn usage(process: &Process) -> HandleUse {
    let usage = process.usage();
    HandleUse {
        cpu_secs: usage.cpu.as_secs_f64(),
        memory: usage.memory,
        processes: usage.processes as u64,
    }
}

/// The host of a program, in the program's network namespace.
pub(crate) fn host(process: &Process) -> Arc<dyn JobHost> {
    if process.is_remote() {
        return Arc::new(RemotePorts(process.clone()));
    }
    let confinement = process.confinement();
    if confinement.is_some_and(|it| it.network != NetworkRule::Full) {
        Arc::new(NamespaceHost(process.pid()))
    } else {
        Arc::new(LocalHost)
    }
}

/// The host of a remote program.
struct RemotePorts(Process);

impl JobHost for RemotePorts {
    fn unreachable(&self) -> Option<String> {
        let unreachable = self.0.unreachable()?;
        let ago = unreachable.since.elapsed().unwrap_or_default().as_secs();
        let host = unreachable.host;
        let fate = match unreachable.lease {
            Some(lease) => format!(
                "after {} s without a connection the host ends the tool",
                lease.as_secs()
            ),
            None => "until then the host keeps the tool".to_owned(),
        };
        Some(format!(
            "host `{host}` has been unreachable for {ago} s; this is its last known state. Orders \
             are delivered when it is reachable again; {fate}"
        ))
    }

    fn unreachable_for(&self, time: Duration) -> BoxFuture<'static, ()> {
        let process = self.0.clone();
        Box::pin(async move { process.unreachable_for(time).await })
    }

    fn port_open(&self, port: u16) -> BoxFuture<'static, ()> {
        // The host looks at the port as long as it has the program, so the program is held.
        let process = self.0.clone();
        Box::pin(async move {
            match process.remote_port_open(port) {
                Some(open) => open.await,
                None => std::future::pending().await,
            }
        })
    }
}

/// The polling interval for ports: no system call reports a new listener.
const PORT_INTERVAL: Duration = Duration::from_millis(25);

/// A program in a network namespace, by its pid. Its ports cannot be connected
/// to from here, so they are looked up.
struct NamespaceHost(u32);

impl JobHost for NamespaceHost {
    fn unreachable(&self) -> Option<String> {
        None
    }

    fn unreachable_for(&self, _time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn port_open(&self, port: u16) -> BoxFuture<'static, ()> {
        let pid = self.0;
        Box::pin(async move {
            while !is_port_open(pid, port) {
                tokio::time::sleep(PORT_INTERVAL).await;
            }
        })
    }
}
