//! Test doubles for everything around the runtime.
//!
//! Start at [`Scripted`]: an executor whose tools follow the test's
//! instructions step by step. [`ScriptedPerson`] and [`ScriptedInquirer`] pass
//! every question to the test, [`MemoryRecorder`] stores everything recorded,
//! and [`batch`] is a short form for calls; [`needs!`] skips a test whose
//! program is missing. [`model`] is a model server that follows a script,
//! [`load`] a load generator, and [`contract`] the suite that every executor's
//! jobs must pass. No process is started here, and nothing sleeps: every wait
//! is for a condition.

#![warn(missing_docs)]

mod asking;
mod calls;
pub mod contract;
pub mod load;
pub mod model;
mod programs;
mod recording;
mod scripted;
mod scripted_job;

pub use asking::{PendingPrompt, ScriptedInquirer, ScriptedPerson};
pub use calls::{batch, lasting, question, text_question};
#[doc(hidden)]
pub use programs::{has_program, skip};
pub use recording::{MemoryRecorder, Recorded};
pub use scripted::Scripted;
pub use scripted_job::{ScriptedJob, TerminalEcho};
