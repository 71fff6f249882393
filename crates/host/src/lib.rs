//! Programs on other machines: the two ends of a link over any pipe.
//!
//! [`serve`] is the far end, which `windlass host` runs. It starts programs through the same zygote, shims and holders
//! as a local runtime. [`Host`] is the near end. It runs the carrier, such as `ssh`, and returns a
//! [`Process`](windlass_process::Process) for each program. A broken link is reconnected, and programs continue after
//! the last received byte. `docs/design/hosts.md` describes the frames, the lease and every failure.

mod asking;
mod carrier;
mod error;
mod far;
mod installing;
mod machine;
mod near;
mod pieces;
mod rules;
mod source;

pub use asking::{CarrierAnswer, CarrierAsker, CarrierQuestion};
pub use error::{HostError, ServeError, UnknownLimits};
pub use far::{ServeOptions, held_key, serve};
pub use machine::describe as describe_machine;
pub use near::{Host, HostOptions, LinkStanding, path_there};
pub use source::{LinkPipe, LinkSource};
pub use windlass_hold_wire::{FarHello, LINK_VERSION};
pub use windlass_sandbox::{ProjectPlaces, ResourceLimits};
