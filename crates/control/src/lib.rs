//! The sessions of all runtimes of a machine: an interface to them, and the
//! connections between runtimes.
//!
//! Start at [`Api`], a router for the interface under `/api/v1`.
//! [`ControlSocket`] offers it to this user on a Unix socket, [`Peer`] is the
//! control socket of another runtime. The cargo feature `grpc` adds the interface
//! over gRPC (`proto`), the feature `opencode` the part of opencode's interface that
//! concerns tools. Nothing here prints, or knows how a tool runs. Ports, tokens, TLS and the page
//! are in `windlass-serve-http`.

mod api;
mod ask;
mod asks;
mod client;
mod connection;
mod error;
mod event_content;
mod event_logs;
mod events;
mod extract;
mod first_bytes;
mod gate;
#[cfg(feature = "grpc")]
mod grpc;
mod handles;
mod handover;
mod held;
mod history;
mod holding;
mod hosts;
mod hub;
mod hub_log;
mod line_log;
mod log;
mod logged;
mod metrics;
mod numbered;
mod openapi;
#[cfg(feature = "opencode")]
mod opencode;
mod proxy;
mod record;
mod routing;
mod sessions;
mod slots;
mod socket;
#[cfg(test)]
mod stage;
mod stream;
mod update;
mod watching;

pub use api::{Api, OpenSession};
pub use ask::{AskBackend, AskEvent, AskInterjection, AskListener, AskRefusal, AskTalk};
pub use client::{EventReader, Peer, PeerError, ServerSent, peers};
pub use connection::{ConnectionService, Limits, pause_after};
pub use error::ApiError;
pub use event_logs::{EventLogs, LoggedPast};
pub use gate::{PeerCheck, admit};
#[cfg(feature = "grpc")]
pub use grpc::proto;
pub use handover::{
    HandoverError, HandoverOffer, HandoverRequest, HandoverSocket, Predecessor, ReplacingServer,
};
pub use hosts::ReachHosts;
pub use logged::LoggedSession;
pub use openapi::openapi;
pub use slots::{ConnectionSlot, ConnectionSlots, SlotClient};
pub use socket::{ControlSocket, run_dir};
pub use update::streamed;
