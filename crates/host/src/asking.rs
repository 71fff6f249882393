//! Questions from carriers: `ssh` may ask for a passphrase or whether to trust a host key.
//!
//! Start at [`CarrierTerminal::serve`]. A carrier prompts on its terminal, which is separate from the pipe that carries
//! the link. The question goes to the [`CarrierAsker`]s of the calls that wait for the host.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windlass_output::{Output, OutputOptions, Stream};
use windlass_process::{Process, Prompt, RemoteFuture};

use crate::HostError;

/// How many of the terminal's last bytes are kept.
const KEPT: usize = 16 * 1024;
/// How long a carrier that has asked for a secret may take to be seen waiting for it again.
const PROMPTING: Duration = Duration::from_secs(5);

/// Forwards questions from carriers to the user.
pub trait CarrierAsker: Send + Sync {
    /// Asks. Dropping the future withdraws the question.
    fn ask(&self, question: CarrierQuestion) -> RemoteFuture<'_, CarrierAnswer>;

    /// Whether a call still waits for the host.
    fn is_wanted(&self) -> bool;
}

/// A question from a carrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarrierQuestion {
    /// The host that is being connected.
    pub host: String,
    /// The carrier's program.
    pub program: String,
    /// The lines before the question, excluding those of earlier questions.
    pub before: String,
    /// The line with the prompt.
    pub text: String,
    /// Whether the carrier hides the typed text.
    pub is_secret: bool,
}

/// The answer to a [`CarrierQuestion`].
#[derive(Clone, PartialEq, Eq)]
pub enum CarrierAnswer {
    /// The line to type.
    Typed(String),
    /// No user is available to answer.
    Nobody,
    /// The user declined; the text is the reason.
    Declined(String),
}

/// The terminal of a carrier: its text, and the askers.
#[derive(Clone, Default)]
pub(crate) struct CarrierTerminal {
    written: Arc<Mutex<WrittenText>>,
}

#[derive(Default)]
struct WrittenText {
    /// Bytes written since the last answer.
    bytes: Vec<u8>,
    /// Answers that the terminal may echo but that must not appear in messages.
    secrets: Vec<String>,
    /// The last answer that the terminal echoes.
    echo: String,
}

impl CarrierTerminal {
    /// Returns a callback that receives the carrier's terminal output.
    pub(crate) fn tap(&self) -> impl FnMut(&[u8]) -> Vec<u8> + Send + 'static {
        let written = Arc::clone(&self.written);
        move |bytes| {
            let mut written = written.lock();
            written.bytes.extend_from_slice(bytes);
            let excess = written.bytes.len().saturating_sub(KEPT);
            written.bytes.drain(..excess);
            Vec::new()
        }
    }

    /// Answers questions of the carrier until one has no answer.
    pub(crate) async fn serve(
        &self,
        carrier: &Process,
        (host, program): (&str, &str),
        askers: &[Arc<dyn CarrierAsker>],
        is_asking: &tokio::sync::watch::Sender<bool>,
    ) -> HostError {
        loop {
            let Some(prompt) = carrier.prompted(|_| true).await else {
                // The reader of the pipe reports its end.
                return std::future::pending().await;
            };
            let is_secret = prompt == Prompt::Secret;
            let (before, text) = self.question();
            let question = CarrierQuestion {
                host: host.to_owned(),
                program: program.to_owned(),
                before,
                text: text.clone(),
                is_secret,
            };
            is_asking.send_replace(true);
            let answer = ask(askers, question).await;
            is_asking.send_replace(false);
            match answer {
                CarrierAnswer::Typed(line) => {
                    if !is_secret || self.still_asks(carrier, &text).await {
                        self.type_line(carrier, line, is_secret);
                    }
                }
                CarrierAnswer::Nobody => {
                    let program = program.to_owned();
                    return HostError::Unanswered { program, text };
                }
                CarrierAnswer::Declined(why) => {
                    let program = program.to_owned();
                    return HostError::Declined { program, text, why };
                }
            }
        }
    }

    /// Whether the carrier still waits for this secret. It may have continued on its own, and then echo what is typed.
    /// While another process of its terminal runs, a prompt is not detected: a short wait spares the user to be asked
    /// again.
    async fn still_asks(&self, carrier: &Process, text: &str) -> bool {
        let prompted = tokio::time::timeout(PROMPTING, carrier.prompted(|_| true)).await;
        prompted == Ok(Some(Prompt::Secret)) && self.question().1 == text
    }

    fn type_line(&self, carrier: &Process, line: String, is_secret: bool) {
        let typed = format!("{}\n", line.trim_end_matches(['\r', '\n']));
        {
            let mut written = self.written.lock();
            written.bytes.clear();
            if is_secret {
                written.echo.clear();
                written.secrets.push(line);
            } else {
                written.echo = line;
            }
        }
        if let Err(error) = carrier.write(typed.as_bytes()) {
            tracing::debug!(%error, "an answer could not be typed");
        }
    }

    /// The lines before a question, and the question.
    fn question(&self) -> (String, String) {
        let mut lines = self.lines();
        let text = lines.pop().unwrap_or_default();
        (lines.join("\n"), text)
    }

    /// The lines written since the last answer, without secrets.
    fn lines(&self) -> Vec<String> {
        let written = self.written.lock();
        let shown = Output::new(OutputOptions::default());
        shown.push(Stream::Stdout, &written.bytes);
        let text = shown.read_all(KEPT).text;
        let lines = text.lines().map(str::trim_end).map(|line| {
            let hide = |line: String, secret: &String| {
                if secret.is_empty() {
                    line
                } else {
                    line.replace(secret.as_str(), "[hidden]")
                }
            };
            written.secrets.iter().fold(line.to_owned(), hide)
        });
        let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        if !written.echo.is_empty() && lines.first() == Some(&written.echo) {
            lines.remove(0);
        }
        lines
    }

    /// The last line on the terminal.
    pub(crate) fn last_line(&self) -> Option<String> {
        self.lines().pop()
    }
}

/// Asks the askers, newest first, until one can answer.
async fn ask(askers: &[Arc<dyn CarrierAsker>], question: CarrierQuestion) -> CarrierAnswer {
    for asker in askers.iter().rev() {
        match asker.ask(question.clone()).await {
            CarrierAnswer::Nobody => {}
            answer => return answer,
        }
    }
    CarrierAnswer::Nobody
}
