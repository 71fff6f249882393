//! The events of a tool, and the state that is folded from them.
//!
//! ```text
//!             Started            Asked
//!  Pending ───────────▶ Running ◀──────▶ Waiting
//!     │                    │  Answered      │
//!     └────────────────────┴───── Ended ────┴──▶ Stopped
//! ```
//!
//! [`fold`] is the only place where a status changes. Nothing follows
//! `Stopped`.

use windlass_protocol::{Ending, HandleState, Question, ToolEvent};

/// The state of a handle, with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// The id is reserved and nothing runs yet.
    Pending,
    /// It runs.
    Running {
        /// Set while it is being ended: the message that its end will carry.
        aborting: Option<String>,
    },
    /// It waits for an answer.
    Waiting {
        /// The question.
        question: Question,
        /// Set while it is being ended: the message that its end will carry.
        aborting: Option<String>,
    },
    /// It has ended.
    Stopped(Ending),
}

impl Status {
    /// It has ended.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped(_))
    }

    /// It neither waits nor has stopped.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// Whether it is being ended and has not stopped.
    pub fn is_being_ended(&self) -> bool {
        matches!(
            self,
            Self::Running { aborting: Some(_) }
                | Self::Waiting {
                    aborting: Some(_),
                    ..
                }
        )
    }

    /// Whether it waits for the answer to this question. A tool that is being
    /// ended no longer waits for answers.
    pub fn asks(&self, question: &Question) -> bool {
        matches!(self, Self::Waiting { question: open, aborting: None } if open == question)
    }

    /// The state without data.
    pub fn state(&self) -> HandleState {
        match self {
            Self::Pending => HandleState::Pending,
            Self::Running { .. } => HandleState::Running,
            Self::Waiting { .. } => HandleState::Waiting,
            Self::Stopped(_) => HandleState::Stopped,
        }
    }
}

/// The status after an event, or `None` when the event changes nothing.
///
/// This is the whole state machine.
pub fn fold(status: &Status, event: &ToolEvent) -> Option<Status> {
    use ToolEvent::{Aborting, Answered, Asked, Ended, Started, Wrote};
    match (status, event) {
        (Status::Stopped(_), _)
        | (_, Wrote { .. })
        | (Status::Running { .. } | Status::Waiting { .. }, Started)
        | (Status::Pending | Status::Running { .. }, Answered)
        // The first ending is the one that is reported, and no one answers a
        // tool that is being ended.
        | (
            Status::Running { aborting: Some(_) }
            | Status::Waiting {
                aborting: Some(_), ..
            },
            Aborting { .. } | Asked { .. },
        ) => None,

        (Status::Pending, Started) => Some(Status::Running { aborting: None }),
        (Status::Waiting { aborting, .. }, Answered) => Some(Status::Running {
            aborting: aborting.clone(),
        }),
        (
            Status::Pending
            | Status::Running { aborting: None }
            | Status::Waiting { aborting: None, .. },
            Asked { question, .. },
        ) => Some(Status::Waiting {
            question: question.clone(),
            aborting: None,
        }),
        (Status::Pending, Aborting { reason }) => Some(Status::Stopped(Ending::failed(reason))),
        (Status::Running { aborting: None }, Aborting { reason }) => Some(Status::Running {
            aborting: Some(reason.clone()),
        }),
        (
            Status::Waiting {
                question,
                aborting: None,
            },
            Aborting { reason },
        ) => Some(Status::Waiting {
            question: question.clone(),
            aborting: Some(reason.clone()),
        }),
        (Status::Pending, Ended(ending)) => Some(Status::Stopped(ending.clone())),
        (Status::Running { aborting } | Status::Waiting { aborting, .. }, Ended(ending)) => {
            Some(Status::Stopped(match aborting {
                // A tool's own last word counts.
                Some(reason) if ending.reported => Ending {
                    aborted: Some(reason.clone()),
                    ..ending.clone()
                },
                Some(reason) => Ending {
                    left_running: ending.left_running,
                    ..Ending::failed(reason)
                },
                None => ending.clone(),
            }))
        }
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
