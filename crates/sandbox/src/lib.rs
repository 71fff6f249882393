//! Which files, sockets and resources a program may use.
//!
//! Start at [`resolve`]: it turns the words of a configuration ([`SandboxSettings`]) into a [`Confinement`], plain data
//! that `windlass-process` enforces. [`denials`] finds in a program's output what a confinement has denied. Everything
//! here is pure: nothing is read from or changed on the machine.

mod confinement;
mod denial;
mod host;
mod limits;
mod places;
mod resolve;
mod settings;
mod widening;

pub use confinement::{Confinement, FileAccess};
pub use denial::{Denial, UserAccess, denials};
pub use host::HostPattern;
pub use limits::{LimitKind, ResourceLimits};
pub use places::ProjectPlaces;
pub use resolve::{SandboxResolution, UnresolvedSandbox, resolve};
pub use settings::{NetworkRule, OnUnavailable, SandboxMode, SandboxSettings};
pub use widening::{NoWidening, Widening};
