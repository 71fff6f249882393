//! Test doubles for everything around the runtime.
//!
//! Start at [`Scripted`]: an executor whose tools follow the test's
//! instructions step by step. [`ScriptedPerson`] and [`ScriptedInquirer`] pass
//! every question to the test, [`MemoryRecorder`] stores everything recorded,
//! and [`batch`] is a short form for calls. [`contract`] is the suite that every
//! executor's jobs must pass. No process is started here, and nothing sleeps:
//! every wait is for a condition.

#![warn(missing_docs)]

mod asking;
mod calls;
pub mod contract;
mod recording;
mod scripted;
mod scripted_job;

pub use asking::{PendingPrompt, ScriptedInquirer, ScriptedPerson};
pub use calls::{batch, lasting, question, text_question};
pub use recording::{MemoryRecorder, Recorded};
pub use scripted::Scripted;
pub use scripted_job::{ScriptedJob, TerminalEcho};
