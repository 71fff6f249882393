//! Displays turns on a terminal: Markdown, running calls, live handles,
//! questions, and in a chat the next message.
//!
//! Start at [`run`]. One task owns the terminal and its keyboard. It receives
//! all events to display, and sends Ctrl-C to the turn.

mod asking;

use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt as _;
use tokio::signal::unix::{SignalKind, signal};
use unicode_width::UnicodeWidthStr;
use windlass_protocol::{BatchReply, HandleId, HandleState, Notice, NoticeKind, NoticeLevel};
use windlass_runtime::{Entry, HandleRef, RequestWatch, Session, SessionEvent, Tail};

use super::calls::{ShownCalls, elapsed};
use super::markdown;
use super::remaining::{LeasedHandle, leased_names};
use super::seat::{Message, TerminalSeat};
use super::show::{Show, Shows};
use crate::attach::{self, Leaving};
use crate::chat::composer::Composed;
use crate::print::shortened;
use crate::prompt::{self, KeyPress};
use crate::screen::TerminalDisplay;
use crate::wrap;

const TICK: Duration = Duration::from_millis(100);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Enables bracketed paste.
const PASTES: &str = "\x1b[?2004h";
const NO_PASTES: &str = "\x1b[?2004l";

/// Shows a turn until there is no more to show.
pub(crate) async fn run(shows: Shows, session: Session, seat: TerminalSeat, colour: bool) {
    let mut view = TurnView {
        shows,
        seat,
        screen: TerminalDisplay::stdout(),
        colour,
        text: String::new(),
        calls: ShownCalls::default(),
        is_open: false,
        is_idle: false,
        ended: Vec::new(),
        kept: Vec::new(),
        noticed: Vec::new(),
        attached: None,
        activity: Some("thinking"),
        began: Instant::now(),
        spaced: false,
        journal: session.journal().tail(session.journal().last()),
        requests: session.requests().watch(),
        session,
    };
    if view.seat.writing.is_some() {
        view.idle(true);
        view.screen.write(PASTES);
    }
    let mut tick = tokio::time::interval(TICK);
    let mut resized = signal(SignalKind::window_change()).ok();
    loop {
        let resize = async {
            match &mut resized {
                Some(resized) => resized.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            show = view.shows.next() => match show {
                Some(show) => view.take(show).await,
                None => break,
            },
            Some(open) = view.requests.next() => view.ask(open).await,
            key = view.seat.next() => view.key(key).await,
            Some((_, entry)) = view.journal.next() => view.note(&entry),
            _ = tick.tick() => view.paint(&[]),
            _ = resize => view.paint(&[]),
        }
    }
    view.finish();
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a state of the screen of its own"
)]
struct TurnView {
    shows: Shows,
    seat: TerminalSeat,
    screen: TerminalDisplay,
    colour: bool,
    /// The model's text that is not committed yet.
    text: String,
    calls: ShownCalls,
    /// Whether the output of calls is shown in full.
    is_open: bool,
    /// Whether no turn is in progress, as between the messages of a chat.
    is_idle: bool,
    /// Handles that were ended.
    ended: Vec<HandleId>,
    /// Handles that outlive the session.
    kept: Vec<LeasedHandle>,
    /// Notices that were shown before the assistant receives them.
    noticed: Vec<Notice>,
    /// The handle that the user attached last, until its notice has arrived.
    attached: Option<HandleId>,
    /// The current activity, shown if nothing else is visible.
    activity: Option<&'static str>,
    began: Instant,
    /// Whether the last output was text, so that an empty line follows.
    spaced: bool,
    journal: Tail,
    requests: RequestWatch,
    session: Session,
}

impl TurnView {
    async fn take(&mut self, show: Show) {
        match show {
            Show::Text(text) => self.say(&text),
            Show::Reasoning(_) => self.activity = Some("thinking"),
            Show::Calling => self.activity = Some("writing a call"),
            Show::Again(why) => {
                self.text.clear();
                self.activity = Some("thinking");
                let line = self.dim(&format!("{why}; retrying"));
                self.paint(&[line]);
            }
            Show::Said => self.flush(),
            Show::Running(batch) => {
                self.activity = None;
                self.calls.start(batch.calls);
                self.paint(&[]);
            }
            Show::Answered(reply) => self.answered(&reply),
            Show::Told(notices) => self.show_notices(&notices),
            Show::Ending => self.activity = Some("finishing"),
            Show::InquiryFailed(handles) => {
                let names: Vec<String> = handles.iter().map(ToString::to_string).collect();
                let names = names.join(", ");
                let line = format!("the model did not decide whether to keep or end {names}");
                let line = self.dim(&line);
                self.paint(&[line]);
            }
            Show::Ended(handles) => self.ended.extend(handles),
            Show::Kept(kept) => self.kept.extend(kept),
            Show::Begins => self.idle(false),
            Show::Idle => {
                self.flush();
                self.tell_ended();
                self.idle(true);
            }
            Show::Lines(lines) => {
                let spaced = std::mem::take(&mut self.spaced);
                let gap = spaced.then(String::new);
                let columns = self.columns();
                let lines = lines.iter().flat_map(|line| wrap::fitted(line, columns));
                let lines: Vec<String> = gap.into_iter().chain(lines).collect();
                self.paint(&lines);
            }
            Show::Switched(session) => self.switch(*session),
            Show::Attach(handle) => self.attach(*handle).await,
            Show::Interrupted(reply) => self.interrupted(reply).await,
            Show::Over => {}
        }
    }

    fn say(&mut self, text: &str) {
        self.activity = None;
        // Control characters of a model must not reach the terminal.
        self.text
            .extend(text.chars().filter(|&letter| harmless(letter)));
        let whole = markdown::whole_blocks(&self.text);
        if whole == 0 {
            return self.paint(&[]);
        }
        let block: String = self.text.drain(..whole).collect();
        let lines = self.block(&block);
        self.paint(&lines);
    }

    /// Commits the rest of the text.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let lines = self.block(&text);
        self.paint(&lines);
    }

    /// The width of text.
    fn columns(&self) -> usize {
        let (columns, _) = self.screen.size();
        columns.saturating_sub(1)
    }

    fn block(&mut self, text: &str) -> Vec<String> {
        let mut lines = markdown::render(text, self.columns(), self.colour);
        if !lines.is_empty() && std::mem::replace(&mut self.spaced, true) {
            lines.insert(0, String::new());
        }
        lines
    }

    fn idle(&mut self, is_idle: bool) {
        self.is_idle = is_idle;
        self.activity = (!is_idle).then_some("thinking");
        self.began = Instant::now();
        self.paint(&[]);
    }

    fn switch(&mut self, session: Session) {
        self.journal = session.journal().tail(session.journal().last());
        self.requests = session.requests().watch();
        self.session = session;
        self.paint(&[]);
    }

    /// Handles an event of the session.
    fn note(&mut self, entry: &Entry) {
        match &entry.event {
            SessionEvent::Part(part) => self.calls.note(part, entry.at),
            SessionEvent::Replied { call, is_error } => self.done(call, *is_error, entry.at),
            // During a turn it is sent with the next reply.
            SessionEvent::Noticed(notice) if self.is_idle => {
                if !self.is_own(notice) {
                    self.show_notices(std::slice::from_ref(notice));
                }
                self.noticed.push(notice.clone());
            }
            _ => {}
        }
    }

    /// Whether the notice reports that the user at this terminal had a handle,
    /// which they know.
    fn is_own(&mut self, notice: &Notice) -> bool {
        let is_own = notice.kind == NoticeKind::Content && notice.handle == self.attached;
        is_own && self.attached.take().is_some()
    }

    /// Handles the reply to a call, at this time.
    fn done(&mut self, id: &str, is_error: bool, at: SystemTime) {
        let Some(end) = self.calls.end(id, is_error, at) else {
            return;
        };
        let (mark, code) = if end.is_error {
            ("✗", "31")
        } else {
            ("✓", "32")
        };
        let mark = self.styled(mark, code);
        let folded = match end.lines {
            lines if lines > 0 && !self.is_open && self.seat.keyboard.is_some() => {
                format!(" · {lines} lines, Ctrl-O opens")
            }
            _ => String::new(),
        };
        let took = format!("{}{folded}", end.took);
        let (columns, _) = self.screen.size();
        let room = columns.saturating_sub(took.width() + 4).max(10);
        let title = shortened(&end.title, room);
        let mut lines = vec![format!("{mark} {title} {}", self.dim(&took))];
        if std::mem::take(&mut self.spaced) {
            lines.insert(0, String::new());
        }
        if self.is_open {
            let output = self.calls.last_output();
            lines.extend(output.iter().map(|line| self.dim(line)));
        }
        self.paint(&lines);
    }

    /// Handles a key outside of prompts.
    async fn key(&mut self, key: KeyPress) {
        match key {
            KeyPress::Unfold => return self.unfold(),
            // The shell has used the terminal meanwhile.
            KeyPress::Continued => self.screen.invalidate(),
            _ => {}
        }
        let Some(writing) = &mut self.seat.writing else {
            if key == KeyPress::Interrupt {
                self.seat.interrupt();
            }
            return;
        };
        match key {
            KeyPress::Interrupt if !self.is_idle => return self.seat.interrupt(),
            KeyPress::Interrupt if writing.composer.text().is_empty() => {
                let _ = writing.messages.send(Message::Leave);
            }
            KeyPress::Interrupt => writing.composer.set(""),
            KeyPress::Continued => self.screen.write(PASTES),
            key => match writing.composer.take(key) {
                Composed::Stay => {}
                Composed::Sent(text) => {
                    let _ = writing.messages.send(Message::Say(text.clone()));
                    return self.said(&text);
                }
                Composed::End => {
                    let _ = writing.messages.send(Message::Leave);
                }
                Composed::Editor => return self.edit().await,
            },
        }
        self.paint(&[]);
    }

    /// Commits the user's message.
    fn said(&mut self, text: &str) {
        self.flush();
        let mut lines = vec![String::new()];
        for (place, line) in text.lines().enumerate() {
            let mark = if place == 0 { "›" } else { " " };
            let line: String = line.chars().filter(|&letter| harmless(letter)).collect();
            let rows = wrap::hanging(&format!("{mark} "), &line, self.columns());
            lines.extend(rows.iter().map(|row| self.styled(row, "1")));
        }
        self.spaced = true;
        self.paint(&lines);
    }

    /// Edits the message in the user's editor.
    async fn edit(&mut self) {
        self.screen.clear();
        let (Some(keyboard), Some(writing)) = (&mut self.seat.keyboard, &mut self.seat.writing)
        else {
            return;
        };
        let text = writing.composer.text().to_owned();
        let problem = match prompt::edit(keyboard, &text, ".md").await {
            Ok(Some(written)) => {
                writing.composer.set(written.trim_end());
                None
            }
            Ok(None) => None,
            Err(error) => Some(format!(
                "the editor cannot be opened: {error:#}; set EDITOR"
            )),
        };
        self.screen.write(PASTES);
        let lines: Vec<String> = problem.into_iter().collect();
        self.paint(&lines);
    }

    /// Shows the terminal of a handle until the user leaves it.
    async fn attach(&mut self, handle: HandleRef) {
        self.screen.clear();
        let Some(keyboard) = &mut self.seat.keyboard else {
            return;
        };
        self.attached = Some(handle.info().id);
        let left = attach::in_front(&handle, keyboard, Leaving::ByKey).await;
        self.screen.write(PASTES);
        let line = match left {
            Ok(line) => line,
            Err(error) => format!("{error:#}"),
        };
        let line = self.dim(&line);
        self.paint(&[line]);
    }

    /// Expands the output of all calls, or collapses later ones.
    fn unfold(&mut self) {
        self.is_open = !self.is_open;
        let lines: Vec<String> = if self.is_open {
            let opened = self.calls.opened();
            opened.iter().map(|line| self.dim(line)).collect()
        } else {
            vec![self.dim("the output of calls is folded")]
        };
        self.paint(&lines);
    }

    /// Reports the handles that the turn ended, and those that continue.
    fn tell_ended(&mut self) {
        let ended = std::mem::take(&mut self.ended);
        let kept = std::mem::take(&mut self.kept);
        let mut told = Vec::new();
        if !ended.is_empty() {
            let names: Vec<&str> = ended.iter().map(HandleId::as_str).collect();
            told.push(self.dim(&format!("ended: {}", names.join(", "))));
        }
        if !kept.is_empty() {
            told.push(self.dim(&format!("kept: {}", leased_names(&kept))));
        }
        if told.is_empty() {
            return;
        }
        let gap = std::mem::take(&mut self.spaced).then(String::new);
        let lines: Vec<String> = gap.into_iter().chain(told).collect();
        self.paint(&lines);
    }

    fn answered(&mut self, reply: &BatchReply) {
        // Calls may have ended during a prompt; handle their ends with their
        // times.
        while let Some(Some((_, entry))) = self.journal.next().now_or_never() {
            self.note(&entry);
        }
        for answer in &reply.replies {
            self.done(&answer.id, answer.is_error, SystemTime::now());
        }
        self.calls.answered(reply);
        self.spaced = true;
        self.activity = Some("thinking");
        self.began = Instant::now();
        self.show_notices(&reply.notices);
    }

    fn show_notices(&mut self, notices: &[Notice]) {
        let mut lines = Vec::new();
        for notice in notices {
            // It was shown on arrival.
            if let Some(place) = self.noticed.iter().position(|shown| shown == notice) {
                self.noticed.remove(place);
                continue;
            }
            let code = match notice.level {
                NoticeLevel::Info => "2",
                NoticeLevel::Warning => "33",
                NoticeLevel::Error | NoticeLevel::Critical => "31",
            };
            let text = notice.for_person();
            let text: String = text.chars().filter(|&letter| harmless(letter)).collect();
            let rows = wrap::hanging("! ", &text.replace('\n', " "), self.columns());
            lines.extend(rows.iter().map(|row| self.styled(row, code)));
        }
        self.paint(&lines);
    }

    fn paint(&mut self, committed: &[String]) {
        let mut live = Vec::new();
        if !self.text.is_empty() {
            if self.spaced {
                live.push(String::new());
            }
            live.extend(markdown::render(&self.text, self.columns(), self.colour));
        }
        let spinner = SPINNER[(self.began.elapsed().as_millis() / 100) as usize % SPINNER.len()];
        for call in self.calls.under_way() {
            let took = call.took.unwrap_or_else(|| "waits".to_owned());
            let room = self.columns().saturating_sub(took.width() + 3).max(10);
            let title = shortened(call.title, room);
            live.push(format!("{spinner} {title} {}", self.dim(&took)));
            live.extend(
                call.last_lines
                    .iter()
                    .map(|line| self.dim(&format!("  {line}"))),
            );
        }
        if let Some(activity) = self.activity.filter(|_| self.calls.is_idle()) {
            let took = elapsed(self.began.elapsed());
            live.push(self.dim(&format!("{spinner} {activity} {took}")));
        }
        live.extend(self.status());
        let Some(writing) = &self.seat.writing else {
            return self.screen.paint(committed, &live);
        };
        let (columns, rows) = self.screen.size();
        let mark = if self.is_idle { '›' } else { '»' };
        let columns = columns.saturating_sub(1);
        let (lines, cursor) = writing.composer.draw(mark, columns, rows / 2);
        live.extend(lines);
        self.screen.paint_cursor(committed, &live, cursor);
    }

    /// The live handles, on one line.
    fn status(&self) -> Option<String> {
        let alive: Vec<String> = self
            .session
            .handles()
            .into_iter()
            .filter(|handle| handle.state != HandleState::Stopped)
            .map(|handle| match handle.state {
                HandleState::Waiting => format!("{} ({}, waits)", handle.id, handle.tool),
                _ => format!("{} ({})", handle.id, handle.tool),
            })
            .collect();
        let line = format!("● {}", alive.join(", "));
        (!alive.is_empty()).then(|| self.styled(&line, "34"))
    }

    fn finish(&mut self) {
        self.flush();
        self.activity = None;
        self.calls = ShownCalls::default();
        self.tell_ended();
        if self.seat.writing.take().is_some() {
            self.screen.write(NO_PASTES);
        }
        self.screen.clear();
    }

    fn dim(&self, text: &str) -> String {
        self.styled(text, "2")
    }

    fn styled(&self, text: &str, code: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether a character may be shown: line ends, tabs, and all others except
/// control characters.
fn harmless(letter: char) -> bool {
    !letter.is_control() || matches!(letter, '\n' | '\t')
}
