//! The contract of [`Job`], for every executor.
//!
//! An executor's tests implement [`Contractor`]: they start tools with the
//! [`Behaviour`] that the contract asks for. [`check_contract`] then checks the
//! jobs against the trait's documentation, first as they were started and, if
//! the executor supports it, again after adoption.

mod scripts;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use regex::Regex;
use serde_json::json;
use windlass_protocol::{
    Ending, InputError, JobDescription, Keyboard, OrderId, Question, ToolEvent, ToolReport, Typing,
    View,
};
use windlass_runtime::{AdoptError, Job, JobTerminal, Reports, Since};

/// The time limit of every step, on a busy machine too.
const DEADLINE: Duration = Duration::from_mins(1);
/// A limit for settling that no test waits out.
const SETTLE: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(2);

/// The required behaviour of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Writes the lines `one` and `two` and finishes successfully.
    Writes,
    /// Writes the line `ready` and runs until it is ended.
    Stays,
    /// Writes the line `ready`, and `got X` for each line `X` of its input.
    Repeats,
    /// Asks a question with a text answer, writes `hello X` for the answer `X`
    /// and finishes successfully.
    Asks,
    /// Asks for a secret on its terminal, writes `hello X` for the answer `X`
    /// and finishes successfully.
    AsksSecret,
}

/// A tool that was started for the contract.
pub struct Specimen {
    /// Its job.
    pub job: Arc<dyn Job>,
    /// Its reports.
    pub reports: Reports,
    /// Whether the tool still runs, observed independently of its job.
    pub runs: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The tool is ended by a message to another program, which arrives with a
    /// delay.
    pub is_remote: bool,
}

/// Makes tools of one kind behave.
#[async_trait]
pub trait Contractor: Sync {
    /// Starts a tool with this behaviour; `None` if tools of this kind cannot
    /// have it.
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen>;

    /// Makes a running tool outlive its job, and adopts it.
    async fn adopt(&self, running: JobDescription) -> Result<Specimen, AdoptError>;

    /// Describes a running tool for adoption and makes it outlive its job;
    /// `None` if that is not supported.
    async fn describe(&self, specimen: &Specimen) -> Option<JobDescription>;
}

/// Checks the tools of an executor against the contract. Panics with the
/// violated clause.
pub async fn check_contract(contractor: &dyn Contractor) {
    Clauses {
        contractor,
        adopts: false,
    }
    .all()
    .await;
    Clauses {
        contractor,
        adopts: true,
    }
    .all()
    .await;
}

struct Clauses<'a> {
    contractor: &'a dyn Contractor,
    /// Each tool is adopted before it is checked.
    adopts: bool,
}

impl Clauses<'_> {
    async fn all(&self) {
        let clauses = async {
            self.output_is_addressed_by_offset().await;
            self.a_job_outlives_its_tool().await;
            self.an_abort_ends_the_tool_and_is_told_once().await;
            self.dropping_a_job_ends_the_tool().await;
            self.input_arrives_once().await;
            self.an_answer_arrives_once().await;
            self.a_secret_is_neither_shown_nor_asked_twice().await;
            self.a_terminal_shows_and_takes_input().await;
            self.ports_are_asked_where_the_tool_runs().await;
        };
        let boxed = Box::pin(clauses);
        let done = tokio::time::timeout(5 * DEADLINE, boxed).await;
        done.expect("the contract can be checked in time");
    }

    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        let specimen = self.contractor.start(behaviour).await?;
        if !self.adopts {
            return Some(specimen);
        }
        let running = self.contractor.describe(&specimen).await?;
        let text = serde_json::to_string(&running).expect("a description crosses a wire");
        let running: JobDescription = serde_json::from_str(&text).expect("it arrives");
        drop(specimen);
        let adopted = self.contractor.adopt(running).await;
        Some(adopted.expect("a tool that says it can be adopted is adopted"))
    }

    async fn output_is_addressed_by_offset(&self) {
        let Some(mut specimen) = self.start(Behaviour::Writes).await else {
            return;
        };
        let (reports, _) = specimen.until_ended().await;
        let output = specimen.job.output();
        let written = output.written();
        let log = output.log(0..u64::MAX);
        assert_eq!(log.len() as u64, written, "`written` is what the log has");
        let mut at = 0;
        let mut bytes = 0;
        for report in &reports {
            assert!(report.at >= at, "offsets never fall: {reports:?}");
            at = report.at;
            if let ToolEvent::Wrote { bytes: more } = report.event {
                bytes += more;
                assert!(bytes <= at, "no more is told than was written: {reports:?}");
            }
        }
        if !self.adopts {
            assert_eq!(bytes, written, "every byte is told: {reports:?}");
        }
        let last = reports.last().map(|report| report.at);
        assert_eq!(last, Some(written), "the end is told at the end");
        let text = String::from_utf8_lossy(&log).replace('\r', "");
        if written == 0 {
            return;
        }
        assert!(text.contains("one\n") && text.contains("two\n"), "{text:?}");
        let middle = written / 2;
        let parts = [output.log(0..middle), output.log(middle..written)].concat();
        assert_eq!(parts, log, "the log is cut anywhere");
        assert!(output.preview(1000).contains("two"));
        let last = output.last_line().unwrap_or_default();
        assert!(last.ends_with("two"), "{last:?}");
        let first = output.read(View::New, 4096).text;
        assert!(first.contains("one") && first.contains("two"), "{first:?}");
        assert_eq!(output.read(View::New, 4096).text, "", "news is told once");
        let all = output.read(View::All, 4096).text;
        assert!(all.contains("one") && all.contains("two"), "{all:?}");
    }

    async fn a_job_outlives_its_tool(&self) {
        let Some(mut specimen) = self.start(Behaviour::Writes).await else {
            return;
        };
        let (_, ending) = specimen.until_ended().await;
        assert!(ending.result.is_ok(), "{ending:?}");
        let job = &specimen.job;
        job.settle(SETTLE).await;
        let receipt = job.abort(&order("late"), GRACE).await;
        assert_eq!(receipt.ended, 0, "a tool that has ended is not ended again");
        let missing = job.output().find(pattern("three"), Since::LastInput);
        assert_eq!(missing.await, None, "a search ends with the tool");
        if job.output().written() > 0 {
            let found = job.output().find(pattern("two"), Since::LastInput).await;
            assert!(found.is_some_and(|line| line.ends_with("two")));
        }
        assert!(
            job.apply(&order("late input"), typing("x")).await.is_err(),
            "a tool that has ended takes no input"
        );
        assert_eq!(specimen.reports.try_next(), None, "nothing follows the end");
    }

    async fn an_abort_ends_the_tool_and_is_told_once(&self) {
        let Some(mut specimen) = self.start(Behaviour::Stays).await else {
            return;
        };
        let job = Arc::clone(&specimen.job);
        let missing = job.output().find(pattern("never"), Since::Now);
        let abort = order("abort");
        let (first, second) = tokio::join!(job.abort(&abort, GRACE), job.abort(&abort, GRACE));
        assert!(first.survivors.is_empty() && second.survivors.is_empty());
        let mut ended = 0;
        while let Some(report) = specimen.reports.try_next() {
            ended += usize::from(matches!(report.event, ToolEvent::Ended(_)));
        }
        assert_eq!(
            ended, 1,
            "the end is told once, before the abort is answered"
        );
        specimen.is_gone().await;
        assert_eq!(missing.await, None);
    }

    async fn dropping_a_job_ends_the_tool(&self) {
        let Some(specimen) = self.start(Behaviour::Stays).await else {
            return;
        };
        let runs = Arc::clone(&specimen.runs);
        assert!(runs(), "it runs");
        drop(specimen);
        until_gone(&*runs).await;
    }

    async fn input_arrives_once(&self) {
        let Some(mut specimen) = self.start(Behaviour::Repeats).await else {
            return self.input_is_refused_alike().await;
        };
        specimen.find("ready").await;
        let job = &specimen.job;
        for _ in 0..2 {
            let outcome = job.apply(&order("first"), typing("apple")).await;
            assert_eq!(outcome, Ok(()), "an order is answered alike each time");
        }
        specimen.find("got apple").await;
        job.apply(&order("second"), typing("pear")).await.unwrap();
        let found = job.output().find(pattern("^got"), Since::LastInput).await;
        assert_eq!(
            found.as_deref(),
            Some("got pear"),
            "a search begins at the last input, and an order is carried out once"
        );
        specimen.end().await;
    }

    async fn input_is_refused_alike(&self) {
        let Some(mut specimen) = self.start(Behaviour::Stays).await else {
            return;
        };
        let bytes = Keyboard::Bytes(b"x\n".to_vec());
        let first = specimen.job.apply(&order("a"), bytes.clone()).await;
        let again = specimen.job.apply(&order("a"), bytes).await;
        assert_eq!(first, again);
        specimen.end().await;
    }

    async fn an_answer_arrives_once(&self) {
        let Some(mut specimen) = self.start(Behaviour::Asks).await else {
            return;
        };
        let (at, question) = specimen.asked().await;
        assert!(at <= specimen.job.output().written());
        specimen.answer_twice(&question).await;
        let (reports, ending) = specimen.until_ended().await;
        let asked = |report: &&ToolReport| matches!(report.event, ToolEvent::Asked { .. });
        assert_eq!(reports.iter().filter(asked).count(), 0, "{reports:?}");
        specimen.said_hello_once(&ending);
    }

    async fn a_secret_is_neither_shown_nor_asked_twice(&self) {
        let Some(mut specimen) = self.start(Behaviour::AsksSecret).await else {
            return;
        };
        let (_, question) = specimen.asked().await;
        assert!(question.secret, "{question:?}");
        let terminal = specimen.terminal();
        assert!(terminal.is_at_prompt() && terminal.hides_typing());
        let refused = specimen.job.apply(&order("too soon"), typing("x")).await;
        assert_eq!(
            refused,
            Err(InputError::SecretAsked),
            "input that was meant for something else is no secret"
        );
        specimen.answer_twice(&question).await;
        let (reports, ending) = specimen.until_ended().await;
        let asked = |report: &&ToolReport| matches!(report.event, ToolEvent::Asked { .. });
        assert_eq!(reports.iter().filter(asked).count(), 0, "{reports:?}");
        specimen.said_hello_once(&ending);
    }

    async fn a_terminal_shows_and_takes_input(&self) {
        let Some(mut specimen) = self.start(Behaviour::Repeats).await else {
            return;
        };
        specimen.find("ready").await;
        if specimen.job.terminal().is_none() {
            return specimen.end().await;
        }
        let terminal = specimen.terminal();
        terminal.at_prompt().await;
        assert!(terminal.is_at_prompt());
        assert!(!terminal.hides_typing());
        let shown = terminal.screen(None);
        assert!(text_of(&*terminal).contains("ready"));
        let _ = terminal.scrollback();
        terminal.resize(10, 40).unwrap();
        terminal.screen_changed(shown.generation).await;
        let resized = terminal.screen(None);
        assert_eq!((resized.rows, resized.cols), (10, 40));
        for _ in 0..2 {
            let outcome = terminal.type_in(&order("person"), typing("plum"));
            assert_eq!(outcome, Ok(()));
        }
        specimen.find("got plum").await;
        specimen.job.settle(SETTLE).await;
        let text = text_of(&*terminal);
        assert_eq!(text.matches("got plum").count(), 1, "{text}");
        specimen.end().await;
    }

    async fn ports_are_asked_where_the_tool_runs(&self) {
        let Some(mut specimen) = self.start(Behaviour::Stays).await else {
            return;
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let open = specimen.job.host().port_open(port);
        let open = tokio::time::timeout(DEADLINE, open).await;
        open.expect("a port that somebody listens on is open");
        specimen.end().await;
    }
}

impl Specimen {
    fn terminal(&self) -> Arc<dyn JobTerminal> {
        self.job.terminal().expect("it has a terminal")
    }

    async fn next(&mut self) -> ToolReport {
        let report = tokio::time::timeout(DEADLINE, self.reports.next()).await;
        let report = report.expect("something is reported in time");
        report.expect("reports end with the job")
    }

    /// All reports up to the end, and the end.
    async fn until_ended(&mut self) -> (Vec<ToolReport>, Ending) {
        let mut reports = Vec::new();
        loop {
            let report = self.next().await;
            reports.push(report.clone());
            if let ToolEvent::Ended(ending) = report.event {
                return (reports, ending);
            }
        }
    }

    async fn asked(&mut self) -> (u64, Question) {
        loop {
            let ToolReport { at, event } = self.next().await;
            match event {
                ToolEvent::Asked { question, .. } => return (at, question),
                ToolEvent::Ended(ending) => panic!("it ended without a question: {ending:?}"),
                _ => {}
            }
        }
    }

    async fn answer_twice(&self, question: &Question) {
        let order = order("answer");
        for _ in 0..2 {
            let answered = self.job.answer(&order, question, json!("Ada")).await;
            assert_eq!(answered, Ok(()), "an order is answered alike");
        }
    }

    /// Checks that the answer is in the output or in the result, once.
    fn said_hello_once(&self, ending: &Ending) {
        let log = self.job.output().log(0..u64::MAX);
        let mut text = String::from_utf8_lossy(&log).into_owned();
        if let (false, Ok(Some(result))) = (text.contains("hello"), &ending.result) {
            text.push_str(result);
        }
        assert_eq!(text.matches("hello Ada").count(), 1, "{text:?} {ending:?}");
    }

    async fn find(&self, wanted: &str) {
        let found = self.job.output().find(pattern(wanted), Since::LastInput);
        let found = tokio::time::timeout(DEADLINE, found).await;
        let found = found.unwrap_or_else(|_| panic!("`{wanted}` comes in time"));
        assert!(found.is_some(), "`{wanted}` comes before the end");
    }

    async fn end(&mut self) {
        self.job.abort(&order("end"), GRACE).await;
        self.is_gone().await;
    }

    /// Checks that a completed abort has ended everything that it could verify.
    async fn is_gone(&self) {
        if self.is_remote {
            until_gone(&*self.runs).await;
        }
        assert!(!(self.runs)(), "an abort leaves nothing");
    }
}

async fn until_gone(runs: &(dyn Fn() -> bool + Send + Sync)) {
    let gone = async {
        while runs() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let gone = tokio::time::timeout(DEADLINE, gone).await;
    gone.expect("the tool ends");
}

fn order(id: &str) -> OrderId {
    OrderId(id.into())
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the contract's patterns are right")
}

fn typing(text: &str) -> Keyboard {
    Keyboard::Typing(Typing::input(text))
}

fn text_of(terminal: &dyn JobTerminal) -> String {
    let rows = terminal.screen(None).changed.into_iter();
    let texts = rows.map(|row| {
        let runs = row.runs.into_iter();
        runs.map(|run| run.text).collect::<String>()
    });
    texts.collect::<Vec<_>>().join("\n")
}
