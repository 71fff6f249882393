//! Windlass as a library: a runtime with everything in it.
//!
//! Start at [`Windlass::load`], or at [`Windlass::builder`] to add tools of your
//! own: a function ([`FunctionTool`]) or anything that is an
//! [`Executor`](runtime::Executor). [`Assistants`] sets models up to work with
//! the tools. Call [`init`] first thing in `main`; a program
//! that leaves it out gets plain process groups instead of trees that are
//! held together, and what escapes a group is then not ended.
//!
//! ```no_run
//! use windlass::runtime::{RunOptions, SessionOptions};
//! use windlass::runtime::protocol::{Batch, ToolCall};
//!
//! # async fn run() -> Result<(), windlass::BuildError> {
//! let windlass = windlass::Windlass::load(&windlass::config::LoadOptions::for_process("/project")).await?;
//! let session = windlass.session(SessionOptions { trusted: true, ..Default::default() });
//! let batch = Batch {
//!     id: "1".into(),
//!     calls: vec![ToolCall {
//!         id: "c1".into(),
//!         tool: "shell".into(),
//!         arguments: serde_json::from_str(r#"{"command": "ls"}"#).unwrap(),
//!     }],
//! };
//! let reply = session.run(batch, RunOptions::default());
//! println!("{}", reply.await.replies[0].content.to_text());
//! session.close().await;
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

mod agents;
mod assistants;
mod build;
mod builder;
mod cache;
mod describe;
mod embedded;
mod environment;
mod function;
mod git_files;
mod held_on_host;
mod host_survey;
mod hosts;
mod kept;
mod late_trust;
mod mcp;
mod place;
mod pools;
mod providers;
mod record;
mod registering;
mod sandboxes;
mod trust;

pub use assistants::{Assistants, ChooseModelError, Resume, ResumeError};
pub use build::{BuildError, ToolProblem, Windlass};
pub use builder::Builder;
pub use describe::DescriptionCaching;
pub use embedded::NameOwner;
pub use environment::{variable, withdraw_credentials};
pub use function::FunctionTool;
pub use hosts::{carrier_question, host_options};
pub use kept::Succession;
pub use place::{cache_dir, state_dir};
#[cfg(feature = "nats")]
pub use pools::broker_options;
pub use record::open_record;
pub use sandboxes::project_places;
pub use trust::{TrustRecord, TrustStore};
pub use windlass_assistant as assistant;
pub use windlass_config as config;
pub use windlass_executors as executors;
pub use windlass_executors::init;
pub use windlass_host as host;
pub use windlass_kept as kept_handles;
pub use windlass_mcp_client as mcp_client;
#[cfg(feature = "nats")]
pub use windlass_pool as pool;
pub use windlass_process::leave_terminal;
pub use windlass_runtime as runtime;
pub use windlass_store as store;
