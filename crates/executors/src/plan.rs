//! The plan of a local program, by which it is started or adopted.

use std::sync::Arc;

use windlass_protocol::{JobDescription, ToolError};
use windlass_runtime::{AdoptError, Job, Reporter};

use crate::terminal::{TerminalJob, TerminalPlan};
use crate::text::{TextJob, TextPlan};

/// A program that an executor would run, made of a call's arguments: the same whether it is to be started, or runs
/// already and is to be adopted.
pub(crate) enum ProgramPlan {
    Text(Box<TextPlan>),
    Terminal(Box<TerminalPlan>),
}

impl ProgramPlan {
    pub(crate) async fn start(self, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        Ok(match self {
            Self::Text(plan) => TextJob::start(*plan, reporter).await?,
            Self::Terminal(plan) => TerminalJob::start(*plan, reporter).await?,
        })
    }

    /// Takes over the program from its description, which this plan was made of.
    pub(crate) async fn adopt(
        self,
        running: &JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError> {
        let JobDescription { key, at, .. } = running;
        Ok(match self {
            Self::Text(plan) => TextJob::adopt(*plan, key, *at, reporter).await?,
            Self::Terminal(plan) => TerminalJob::adopt(*plan, key, *at, reporter).await?,
        })
    }
}
