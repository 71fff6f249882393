//! The runtime over HTTP: for scripts, pages, and the commands that reach every
//! runtime of a machine.
//!
//! Start at [`Api`], a router for the interface under `/api/v1`.
//! [`ControlSocket`] offers it to this user on a Unix socket, [`Server`] on a
//! port behind [`Access`], and [`proto`] over gRPC. [`Peer`] is the control
//! socket of another runtime, and [`page`] the page for people. Nothing here
//! prints, or knows how a tool runs.

mod access;
mod api;
mod ask;
mod asks;
mod client;
mod control;
mod error;
mod event_logs;
mod events;
mod extract;
mod first_bytes;
mod gate;
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
mod metrics;
mod openapi;
mod opencode;
mod packed;
mod page;
mod places;
mod proxy;
mod rate;
mod record;
mod routing;
mod server;
mod sessions;
#[cfg(test)]
mod stage;
mod stream;
mod tls;
mod token;
mod update;
mod watching;

pub use access::Access;
pub use api::{Api, OpenSession};
pub use ask::{AskBackend, AskEvent, AskInterjection, AskListener, AskRefusal, AskTalk};
pub use client::{EventReader, Peer, PeerError, ServerSent, peers};
pub use control::{ControlSocket, run_dir};
pub use event_logs::{EventLogs, LoggedPast};
pub use gate::{PeerCheck, admit};
pub use grpc::proto;
pub use handover::{HandoverError, HandoverSocket, Predecessor, ReplacingServer};
pub use hosts::HostSurvey;
pub use openapi::openapi;
pub use page::page;
pub use server::{Limits, Server};
pub use tls::{TlsError, tls_acceptor};
pub use token::Token;
pub use tokio_rustls::TlsAcceptor;
pub use update::streamed;
