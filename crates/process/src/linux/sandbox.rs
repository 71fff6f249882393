//! A sandbox in the runtime's process: everything that confines programs,
//! prepared once and reused.
//!
//! Start at [`Sandbox::prepare`]. Nothing here runs between a fork and an exec;
//! the shim's child only applies the result.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::Interest;
use windlass_sandbox::{Confinement, NetworkRule, OnUnavailable};

use super::confine_wire::{OwnNetwork, PrepareOrder, PrepareReply};
use super::filter::{FilterOptions, ProgramFilter};
use super::mounts::{self, MountPlan};
use super::private::{self, OnForeignLock, PrivateFolder};
use super::proxy::{Proxy, WayOut};
use super::ruleset::Ruleset;
use super::sightings::Sightings;
use super::socket::{self, Received};
use super::start::memory_file;
use super::wire::{self, INLINE_LIMIT};
use super::zygotes::Zygotes;
use crate::readiness::register;

/// The sandbox of one confinement. All its programs share its private directories, its network and its mounts.
pub(crate) struct Sandbox {
    confinement: Arc<Confinement>,
    prepared: tokio::sync::Mutex<Option<Arc<Prepared>>>,
}

/// The prepared confinement of programs.
pub(crate) struct Prepared {
    common: Arc<Common>,
    plan: MountPlan,
    /// Taken when the plan was last verified.
    sightings: Mutex<Option<Sightings>>,
    mounts: Option<Mounts>,
    ruleset: Mutex<Option<Arc<Ruleset>>>,
    pub(super) filter: ProgramFilter,
    /// Parts of the confinement that are not enforced here, one phrase each.
    missing: Vec<String>,
}

/// The part of a sandbox that stays when its mounts are recreated.
struct Common {
    private: Mutex<PrivateFolder>,
    tmp: PathBuf,
    shm: PathBuf,
    namespaces: Option<CommonNamespaces>,
    proxy: Option<Proxy>,
}

/// The number of attempts to plan the mounts while files change.
const MOUNT_ATTEMPTS: u32 = 16;
/// The delay between two attempts, which increases each time.
const MOUNT_PAUSE: Duration = Duration::from_millis(1);

pub(super) struct Namespaces {
    /// `None` if they existed before.
    common: Option<CommonNamespaces>,
    mounts: Mounts,
    listener: Option<OwnedFd>,
}

/// The namespaces that all programs of a sandbox share.
pub(super) struct CommonNamespaces {
    user: Option<OwnedFd>,
    network: Option<OwnedFd>,
    ipc: OwnedFd,
}

/// The namespaces that a program enters.
pub(super) struct EnteredNamespaces<'a> {
    pub(super) user: Option<BorrowedFd<'a>>,
    pub(super) network: Option<BorrowedFd<'a>>,
    pub(super) ipc: BorrowedFd<'a>,
    pub(super) mount: BorrowedFd<'a>,
}

struct Mounts {
    namespace: OwnedFd,
    /// The directory of its programs' terminals.
    terminals: Option<OwnedFd>,
}

/// The reason why programs of a sandbox cannot be started.
pub(crate) enum PrepareError {
    /// These parts of the confinement would not be enforced.
    Unprotected(Vec<String>),
    System(io::Error),
}

impl From<io::Error> for PrepareError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl Sandbox {
    pub(crate) fn new(mut confinement: Confinement) -> Self {
        confinement.hidden.extend(private::visible_base());
        Self {
            confinement: Arc::new(confinement),
            prepared: tokio::sync::Mutex::new(None),
        }
    }

    pub(crate) fn confinement(&self) -> &Arc<Confinement> {
        &self.confinement
    }

    /// Prepares everything, unless it is prepared and unchanged.
    pub(crate) async fn prepare(
        &self,
        zygotes: &Arc<Zygotes>,
    ) -> Result<Arc<Prepared>, PrepareError> {
        let mut prepared = self.prepared.lock().await;
        if let Some(prepared) = &*prepared
            && prepared.serves(&self.confinement)
        {
            prepared.refresh(&self.confinement)?;
            return Ok(Arc::clone(prepared));
        }
        // Running programs keep their mounts. They share everything else with new ones.
        let common = prepared.take().map(|older| Arc::clone(&older.common));
        let made = Arc::new(Prepared::new(&self.confinement, zygotes, common).await?);
        *prepared = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Prepared {
    async fn new(
        confinement: &Confinement,
        zygotes: &Arc<Zygotes>,
        common: Option<Arc<Common>>,
    ) -> Result<Self, PrepareError> {
        for folder in &confinement.made {
            // Without a home directory there are no caches.
            let mut builder = std::fs::DirBuilder::new();
            let _ = builder.recursive(true).mode(0o700).create(folder);
        }
        let common = match common {
            Some(common) => common,
            None => Arc::new(Common::new(PrivateFolder::new()?)),
        };
        let mut missing = Vec::new();
        let (plan, made) = mount_as_planned(confinement, &common, zygotes).await?;
        let (common, mounts) = match made {
            Ok(namespaces) => {
                let (common, mounts) = common.with(namespaces, confinement)?;
                (common, Some(mounts))
            }
            Err(error) => {
                missing.extend(without_mounts(confinement, &error));
                (common, None)
            }
        };
        if mounts.is_some() {
            let links = plan.unprotected.iter();
            missing.extend(
                links.map(|path| format!("writing {}, which is a symbolic link", path.display())),
            );
        }
        missing.extend(without_landlock(
            confinement,
            Ruleset::version(),
            mounts.is_some(),
        ));
        let filter = ProgramFilter::new(FilterOptions {
            internet: !matches!(confinement.network, NetworkRule::None),
            unix: mounts.is_some(),
            debuggers: Ruleset::version().is_some(),
        })?;
        if filter.of_program.is_empty() {
            missing.push(String::from(
                "system calls and sockets (there is no filter for this architecture)",
            ));
        }
        if confinement.unavailable == OnUnavailable::Refuse && !missing.is_empty() {
            return Err(PrepareError::Unprotected(missing));
        }
        if !missing.is_empty() {
            let missing = missing.join("; from ");
            tracing::warn!(
                "the sandbox is weaker than configured: this system cannot keep programs from \
                 {missing}"
            );
        }
        let prepared = Self {
            common,
            plan,
            sightings: Mutex::new(None),
            mounts,
            ruleset: Mutex::new(None),
            filter,
            missing,
        };
        prepared.refresh(confinement)?;
        Ok(prepared)
    }

    /// Whether the mounts still protect everything that must be protected.
    fn serves(&self, confinement: &Confinement) -> bool {
        if self.mounts.is_none() {
            return true;
        }
        let mut sightings = self.sightings.lock();
        let hold = sightings.as_ref().is_some_and(Sightings::hold);
        if hold && self.plan.hides_all_sockets(confinement) {
            return true;
        }
        // Take the sightings first, so that the next start detects a change in between.
        let seen = MountPlan::look(confinement).ok();
        let serves = MountPlan::new(confinement).is_served_by(&self.plan);
        *sightings = seen.filter(|_| serves);
        serves
    }

    /// Rebuilds the file rules, if directories have changed since.
    fn refresh(&self, confinement: &Confinement) -> io::Result<()> {
        let mut ruleset = self.ruleset.lock();
        // They were verified just before.
        let sightings = self.sightings.lock();
        let is_fresh = ruleset.as_ref();
        let is_fresh = is_fresh.is_some_and(|ruleset| ruleset.is_fresh(sightings.as_ref()));
        if Ruleset::version().is_some() && !is_fresh {
            let private = [self.common.tmp.clone(), self.common.shm.clone()];
            let mounted = self.mounts.is_some();
            let built = Ruleset::build(confinement, &private, mounted, self.terminals())?;
            *ruleset = Some(Arc::new(built));
        }
        Ok(())
    }

    /// The current file rules, if the kernel has Landlock.
    pub(super) fn ruleset(&self) -> Option<Arc<Ruleset>> {
        self.ruleset.lock().clone()
    }

    /// The namespaces of programs, if they have their own.
    pub(super) fn namespaces(&self) -> Option<EnteredNamespaces<'_>> {
        let common = self.common.namespaces.as_ref()?;
        Some(EnteredNamespaces {
            user: common.user.as_ref().map(AsFd::as_fd),
            network: common.network.as_ref().map(AsFd::as_fd),
            ipc: common.ipc.as_fd(),
            mount: self.mounts.as_ref()?.namespace.as_fd(),
        })
    }

    /// Parts of the confinement that are not enforced.
    pub(crate) fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Variables to set or remove for programs.
    pub(crate) fn variables(&self) -> Vec<(OsString, Option<OsString>)> {
        let tmp = match self.mounts {
            Some(_) => PathBuf::from("/tmp"),
            None => self.common.tmp.clone(),
        };
        let names = ["TMPDIR", "TMP", "TEMP", "TEMPDIR"];
        let mut variables = vec![("TMPDIR".into(), Some(tmp.clone().into_os_string()))];
        for name in &names[1..] {
            if std::env::var_os(name).is_some() {
                variables.push(((*name).into(), Some(tmp.clone().into_os_string())));
            }
        }
        if self.mounts.is_some() {
            // Their sockets and the directory are hidden.
            for name in [
                "XDG_RUNTIME_DIR",
                "SSH_AUTH_SOCK",
                "DBUS_SESSION_BUS_ADDRESS",
            ] {
                variables.push((name.into(), None));
            }
        }
        if let Some(proxy) = &self.common.proxy {
            variables.extend(proxy.variables());
        }
        variables
    }

    /// The directory for its programs' own terminals, if they have one.
    pub(crate) fn terminals(&self) -> Option<BorrowedFd<'_>> {
        let mounts = self.mounts.as_ref()?;
        mounts.terminals.as_ref().map(AsFd::as_fd)
    }

    /// The proxy of this sandbox, if it has one.
    pub(crate) fn proxy(&self) -> Option<&Proxy> {
        self.common.proxy.as_ref()
    }

    /// The socket of the proxy and its rules, for the holder of a kept program.
    pub(crate) fn way_out(&self) -> io::Result<Option<WayOut>> {
        self.proxy().map(Proxy::way_out).transpose()
    }

    /// Notes that a kept program runs in it, with a holder on this socket.
    pub(crate) fn keep(&self, socket: &Path) -> io::Result<()> {
        self.common.private.lock().keep(socket)
    }

    /// Handles the end of such a program.
    pub(crate) fn release(&self) {
        self.common.private.lock().release();
    }
}

impl Common {
    fn new(private: PrivateFolder) -> Self {
        Self {
            tmp: private.tmp(),
            shm: private.shm(),
            private: Mutex::new(private),
            namespaces: None,
            proxy: None,
        }
    }

    /// Adds new namespaces, if there were none before.
    fn with(
        self: Arc<Self>,
        made: Namespaces,
        confinement: &Confinement,
    ) -> io::Result<(Arc<Self>, Mounts)> {
        let Some(namespaces) = made.common else {
            return Ok((self, made.mounts));
        };
        let proxy = match (&confinement.network, made.listener) {
            (NetworkRule::Allow(hosts), Some(listener)) => Some(Proxy::start(listener, hosts)?),
            _ => None,
        };
        let mut common = Arc::into_inner(self).ok_or(io::ErrorKind::ResourceBusy)?;
        common.namespaces = Some(namespaces);
        common.proxy = proxy;
        Ok((Arc::new(common), made.mounts))
    }
}

/// Creates the namespaces with all mounts. Sockets of the machine and placeholders of other sandboxes come and go: if a
/// file of the plan has disappeared, or the plan has changed meanwhile, a new one is tried.
async fn mount_as_planned(
    confinement: &Confinement,
    common: &Common,
    zygotes: &Arc<Zygotes>,
) -> io::Result<(MountPlan, io::Result<Namespaces>)> {
    let mut failed = None;
    for attempt in 0..MOUNT_ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(MOUNT_PAUSE * attempt).await;
        }
        // Removing a placeholder locks it briefly. A longer lock must not prevent starts.
        let on_lock = if attempt < MOUNT_ATTEMPTS / 2 {
            OnForeignLock::Retry
        } else {
            OnForeignLock::Ignore
        };
        let plan = MountPlan::with_placeholders(confinement, &mut common.private.lock(), on_lock)?;
        let Some(plan) = plan else {
            continue;
        };
        let made = make_namespaces_of(&plan, confinement, common, zygotes).await?;
        let vanished = made
            .as_ref()
            .err()
            .is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
        let now = MountPlan::new(confinement);
        let is_settled = match made {
            Ok(_) => now.protects_as(&plan),
            Err(_) => now == plan && !vanished,
        };
        if is_settled {
            return Ok((plan, made));
        }
        failed = made.err().map(|error| (plan, Err(error)));
    }
    // A mount that always fails is not a race.
    failed.ok_or_else(|| {
        io::Error::other(
            "other programs keep creating and removing files that the sandbox protects; try again \
             when they have finished",
        )
    })
}

async fn make_namespaces_of(
    plan: &MountPlan,
    confinement: &Confinement,
    common: &Common,
    zygotes: &Arc<Zygotes>,
) -> io::Result<io::Result<Namespaces>> {
    let known = common.namespaces.as_ref();
    let mut order = PrepareOrder {
        user: known.is_none_or(|known| known.user.is_some()),
        known: known.is_some(),
        network: match confinement.network {
            NetworkRule::None => Some(OwnNetwork::Down),
            NetworkRule::Loopback => Some(OwnNetwork::Loopback),
            NetworkRule::Allow(_) => Some(OwnNetwork::Listening),
            NetworkRule::Full => None,
        },
        terminals: Path::new("/dev/pts").is_dir(),
        mounts: plan.steps(&common.private.lock())?,
    };
    let made = make_namespaces(&order, known, zygotes).await;
    if made.is_err() && known.is_none() && rustix::process::geteuid().is_root() {
        order.user = false;
        return Ok(make_namespaces(&order, None, zygotes).await);
    }
    Ok(made)
}

/// Makes a shim create namespaces: only the mount namespace, if the others exist.
pub(super) async fn make_namespaces(
    order: &PrepareOrder,
    known: Option<&CommonNamespaces>,
    zygotes: &Arc<Zygotes>,
) -> io::Result<Namespaces> {
    let (ours, theirs) = socket::pair()?;
    let shim = zygotes.shim(None)?;
    let mut along = vec![theirs.as_fd()];
    along.extend(known.and_then(|known| known.user.as_ref()).map(AsFd::as_fd));
    let bytes = order.write();
    if bytes.len() <= INLINE_LIMIT {
        socket::send(&shim.control, &bytes, &along)?;
    } else {
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let file = memory_file(&bytes)?;
        along.push(file.as_fd());
        socket::send(&shim.control, &wire::in_file(length), &along)?;
    }
    drop(theirs);
    let ours = register(Arc::new(ours), Interest::READABLE)?;
    let mut fds = Vec::new();
    let reply = loop {
        let mut ready = ours.readable().await?;
        let mut buffer = [0; 16];
        match socket::receive(ours.get_ref().as_fd(), &mut buffer, |fd| fds.push(fd)) {
            Received::Message(length) => break PrepareReply::read(&buffer[..length]),
            Received::Nothing => ready.clear_ready(),
            Received::End { .. } => break None,
        }
    };
    match reply {
        Some(PrepareReply::Done) => {}
        Some(PrepareReply::Failed { stage, errno }) => {
            tracing::debug!(?stage, errno, "namespaces were not made");
            zygotes.give_back(shim);
            return Err(io::Error::from_raw_os_error(errno));
        }
        None => return Err(io::Error::from(io::ErrorKind::BrokenPipe)),
    }
    zygotes.give_back(shim);
    let mut fds = fds.into_iter();
    let mut next = |wanted: bool| if wanted { fds.next() } else { None };
    let lost = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let common = match known {
        Some(_) => None,
        None => Some(CommonNamespaces {
            user: next(order.user),
            network: next(order.network.is_some()),
            ipc: next(true).ok_or_else(lost)?,
        }),
    };
    Ok(Namespaces {
        common,
        mounts: Mounts {
            namespace: next(true).ok_or_else(lost)?,
            terminals: next(order.terminals),
        },
        listener: next(known.is_none() && order.network == Some(OwnNetwork::Listening)),
    })
}

/// The parts that are not enforced without a mount namespace.
fn without_mounts(confinement: &Confinement, error: &io::Error) -> Vec<String> {
    let holes = confinement.write_holes.iter();
    let holes = holes.filter(|hole| mounts::is_writable_without_mounts(confinement, hole));
    let holes: Vec<String> = holes.map(|hole| hole.display().to_string()).collect();
    let mut missing = Vec::new();
    if !holes.is_empty() {
        missing.push(format!(
            "writing {} (namespaces of mounts are not allowed here: {error})",
            holes.join(", ")
        ));
    }
    match confinement.network {
        NetworkRule::None | NetworkRule::Full => {}
        NetworkRule::Loopback | NetworkRule::Allow(_) => {
            missing.push(String::from(
                "connections to other hosts (network namespaces are not allowed here)",
            ));
        }
    }
    if missing.is_empty() {
        missing.push(String::from("reading the shared /tmp"));
    }
    missing
}

/// The parts that this version of Landlock does not enforce. Mounts also protect files from truncation: everything that
/// is not writable is mounted read-only.
fn without_landlock(
    confinement: &Confinement,
    version: Option<u32>,
    has_mounts: bool,
) -> Vec<String> {
    let Some(version) = version else {
        return vec![String::from(
            "reading and writing files, signals and debugging (this kernel has no Landlock)",
        )];
    };
    let mut missing = Vec::new();
    if version < 3 && !has_mounts {
        missing.push("truncating files (Landlock supports it since Linux 6.2)");
    }
    if version < 6 {
        missing.push("signals to other processes (Landlock supports it since Linux 6.12)");
        if confinement.network == NetworkRule::Full {
            missing.push("abstract Unix sockets (Landlock supports it since Linux 6.12)");
        }
    }
    missing.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
