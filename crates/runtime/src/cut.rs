//! Cuts results, errors and questions that are too long for a reply.
//!
//! [`shorter_ending`] keeps the head and the tail of such a text and writes all
//! of it to a log. This happens once, when the tool ends, so that every view of
//! the ending is short. [`shorter_question`] cuts questions, without a
//! log.

use std::path::PathBuf;

use windlass_output::{OutputOptions, Stream};
use windlass_protocol::{Ending, Question, ResultCut, ToolError};

use crate::job_output::JobOutput;

/// The ending with a result of at most about `limit` bytes; `None` if it is
/// short enough. The complete result goes into the log.
pub(crate) fn shorter_ending(
    ending: &Ending,
    limit: usize,
    log: impl FnOnce() -> Option<PathBuf>,
) -> Option<Ending> {
    if length(ending) <= limit {
        return None;
    }
    let whole = match &ending.result {
        Ok(result) => result.clone().unwrap_or_default(),
        Err(error) => whole_error(error),
    };
    let log = log();
    let (result, omitted_bytes, log) = match &ending.result {
        Ok(_) => {
            let excerpt = excerpt(&whole, limit, log);
            (Ok(Some(excerpt.text)), excerpt.omitted_bytes, excerpt.log)
        }
        Err(error) => {
            let excerpt = excerpt(&whole, limit, log);
            let error = shorter_error(error, limit);
            (Err(error), excerpt.omitted_bytes, excerpt.log)
        }
    };
    Some(Ending {
        result,
        cut: Some(Box::new(ResultCut { omitted_bytes, log })),
        ..ending.clone()
    })
}

/// The number of bytes that the ending takes in a reply, without the output.
pub(crate) fn length(ending: &Ending) -> usize {
    match &ending.result {
        Ok(result) => result.as_ref().map_or(0, String::len),
        Err(error) => error.message.len() + error.trace.iter().map(String::len).sum::<usize>(),
    }
}

/// The question with texts of at most about half of the limit, so that the
/// other half is left for its context; `None` if it is short enough. Options
/// are not cut: an answer must be one of them.
pub(crate) fn shorter_question(question: &Question, limit: usize) -> Option<Question> {
    if question_length(question) <= limit / 2 {
        return None;
    }
    let most = limit / 4;
    let shorter = |text: &str| match text.len() {
        length if length <= most => text.to_owned(),
        _ => excerpt(text, most, None).text,
    };
    Some(Question {
        text: shorter(&question.text),
        pre_amble: question.pre_amble.as_deref().map(shorter),
        ..question.clone()
    })
}

/// The number of bytes that the texts of a question take in a reply.
pub(crate) fn question_length(question: &Question) -> usize {
    question.text.len() + question.pre_amble.as_ref().map_or(0, String::len)
}

fn whole_error(error: &ToolError) -> String {
    let mut whole = error.message.clone();
    for cause in &error.trace {
        whole.push('\n');
        whole.push_str(cause);
    }
    whole
}

/// Shortens an error: the message gets up to three quarters of the limit, the
/// causes the rest, outermost first.
fn shorter_error(error: &ToolError, limit: usize) -> ToolError {
    let message = match error.message.len() {
        length if length <= limit / 4 * 3 => error.message.clone(),
        _ => excerpt(&error.message, limit / 4 * 3, None).text,
    };
    let mut room = limit.saturating_sub(message.len());
    let mut trace = Vec::new();
    for cause in &error.trace {
        if cause.len() > room {
            if room > 0 {
                trace.push(excerpt(cause, room, None).text);
            }
            break;
        }
        room -= cause.len();
        trace.push(cause.clone());
    }
    ToolError {
        message,
        trace,
        transient: error.transient,
    }
}

/// The head and the tail of a text; all of it goes into the log.
pub(crate) fn excerpt(text: &str, limit: usize, log: Option<PathBuf>) -> windlass_output::Excerpt {
    let output = JobOutput::new(OutputOptions {
        log,
        ..holding(text)
    });
    fill(&output, text);
    output.bytes().read_all(limit)
}

/// A text as the output of an ended tool.
pub(crate) fn whole_text(text: &str) -> JobOutput {
    let output = JobOutput::new(holding(text));
    fill(&output, text);
    output
}

/// Options that keep the whole text in memory, so that its head is available
/// without a log.
fn holding(text: &str) -> OutputOptions {
    OutputOptions {
        memory: text.len(),
        ..OutputOptions::default()
    }
}

fn fill(output: &JobOutput, text: &str) {
    output.bytes().push(Stream::Stdout, text.as_bytes());
    output.finish();
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
