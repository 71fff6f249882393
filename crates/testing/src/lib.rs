//! Stand-ins for everything around the runtime, so that a test is in charge.
//!
//! Start at [`Scripted`]: an executor whose tools do exactly what the test
//! says, step by step. [`ScriptedPerson`] and [`ScriptedInquirer`] hand every
//! question to the test, [`Recording`] keeps what a recorder is told, and
//! [`batch`] writes calls down briefly; [`needs!`] skips a test whose program
//! the machine lacks. [`model`] is a model server that says what a script
//! says, [`load`] a crowd of clients, and [`contract`] the suite that every executor's jobs must pass. No process is started here and no time is spent waiting: whatever is
//! awaited is awaited as a condition.

mod asking;
mod calls;
pub mod contract;
pub mod load;
pub mod model;
mod programs;
mod recording;
mod scripted;
mod scripted_job;

pub use asking::{Prompt, ScriptedInquirer, ScriptedPerson};
pub use calls::{batch, lasting, question, text_question};
#[doc(hidden)]
pub use programs::{has_program, skip};
pub use recording::{Recorded, Recording};
pub use scripted::Scripted;
pub use scripted_job::{ScriptedJob, Typed};
