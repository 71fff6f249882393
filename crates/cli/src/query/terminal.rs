//! A turn on a terminal: Markdown as it comes, calls as they run, handles
//! that are alive, and questions.
//!
//! Start at [`run`]. One task owns the terminal and its keyboard; everything
//! that is to be seen comes to it, and Ctrl-C goes from it to the turn.

use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use windlass_protocol::{BatchReply, HandleState, Notice, NoticeLevel, ToolCall};
use windlass_runtime::{OpenRequest, RequestWatch, Session, SessionEvent, Tail};

use super::markdown;
use super::show::{Show, Shows, Urgent};
use crate::prompt::{self, Asking, Choice, Interruption, Key, Keyboard, NoAnswer};
use crate::screen::Screen;

const TICK: Duration = Duration::from_millis(100);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The person at the terminal.
pub(crate) struct Seat {
    /// What they type. Without it, it is taken when something is asked.
    pub(crate) keyboard: Option<Keyboard>,
    /// Where each Ctrl-C goes.
    pub(crate) interrupts: mpsc::UnboundedSender<()>,
}

/// Shows a turn until there is no more to show.
pub(crate) async fn run(shows: Shows, session: Session, seat: Seat, colour: bool) {
    let mut view = View {
        shows,
        seat,
        screen: Screen::stdout(),
        colour,
        text: String::new(),
        calls: Vec::new(),
        activity: Some("thinking"),
        began: Instant::now(),
        spaced: false,
        journal: session.journal().tail(session.journal().last()),
        requests: session.requests().watch(),
        session,
    };
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
            key = view.seat.next() => if key == Key::Interrupt {
                view.seat.interrupt();
            },
            Some((_, entry)) = view.journal.next() => {
                if let SessionEvent::Replied { call, is_error } = &entry.event {
                    view.done(call, *is_error);
                }
            }
            _ = tick.tick() => view.paint(&[]),
            _ = resize => view.paint(&[]),
        }
    }
    view.finish();
}

impl Seat {
    /// The next key; never, where there is no keyboard.
    async fn next(&mut self) -> Key {
        let key = match &mut self.keyboard {
            Some(keyboard) => keyboard.next().await,
            None => std::future::pending().await,
        };
        match key {
            Ok(key) => key,
            // Its terminal has gone.
            Err(_) => std::future::pending().await,
        }
    }

    fn interrupt(&self) {
        // The turn is over when nobody hears it.
        let _ = self.interrupts.send(());
    }

    /// Asks. Ctrl-C is the turn's to decide on, which then takes this away.
    async fn ask<A: Asking>(&mut self, asking: &A) -> Option<A::Answer> {
        let mut own;
        let keyboard = if let Some(keyboard) = &mut self.keyboard {
            keyboard
        } else {
            own = Keyboard::open().ok()?;
            &mut own
        };
        match asking.ask(keyboard).await {
            Ok(answer) => Some(answer),
            Err(NoAnswer::Declined | NoAnswer::NoTerminal) => None,
            Err(NoAnswer::Interrupted) => {
                self.interrupt();
                std::future::pending().await
            }
        }
    }
}

/// How asking something went.
enum Came<T> {
    Answered(Option<T>),
    /// Nobody waits for an answer any more.
    Elsewhere,
    Interrupted(oneshot::Sender<Choice>),
    Over,
}

struct View {
    shows: Shows,
    seat: Seat,
    screen: Screen,
    colour: bool,
    /// What the model has said and is not shown for good yet.
    text: String,
    calls: Vec<Running>,
    /// What goes on while nothing else is to be seen.
    activity: Option<&'static str>,
    began: Instant,
    /// The last thing shown was text, and what follows keeps its distance.
    spaced: bool,
    journal: Tail,
    requests: RequestWatch,
    session: Session,
}

struct Running {
    id: String,
    title: String,
    began: Instant,
}

impl View {
    async fn take(&mut self, show: Show) {
        match show {
            Show::Text(text) => self.say(&text),
            Show::Reasoning(_) => self.activity = Some("thinking"),
            Show::Calling => self.activity = Some("writing a call"),
            Show::Again(why) => {
                self.text.clear();
                self.activity = Some("thinking");
                let line = self.dim(&format!("{why}; asking again"));
                self.paint(&[line]);
            }
            Show::Said => self.flush(),
            Show::Running(batch) => self.start(batch.calls),
            Show::Answered(reply) => self.answered(&reply),
            Show::Told(notices) => self.tell(&notices),
            Show::Ending => self.activity = Some("finishing"),
            Show::InquiryFailed(handles) => {
                let names: Vec<String> = handles.iter().map(ToString::to_string).collect();
                let names = names.join(", ");
                let line = format!("nobody decided what becomes of {names}; they were ended");
                let line = self.dim(&line);
                self.paint(&[line]);
            }
            Show::Interrupted(reply) => self.interrupted(reply).await,
            Show::Over => {}
        }
    }

    fn say(&mut self, text: &str) {
        self.activity = None;
        // What a model says must not steer the terminal.
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

    /// Shows what is left of the text for good.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let lines = self.block(&text);
        self.paint(&lines);
    }

    fn block(&mut self, text: &str) -> Vec<String> {
        let (columns, _) = self.screen.size();
        let mut lines = markdown::render(text, columns.saturating_sub(1), self.colour);
        if !lines.is_empty() && std::mem::replace(&mut self.spaced, true) {
            lines.insert(0, String::new());
        }
        lines
    }

    fn start(&mut self, calls: Vec<ToolCall>) {
        self.activity = None;
        self.calls = calls
            .into_iter()
            .map(|call| Running {
                title: title(&call),
                id: call.id,
                began: Instant::now(),
            })
            .collect();
        self.paint(&[]);
    }

    /// A call was answered.
    fn done(&mut self, id: &str, is_error: bool) {
        let Some(place) = self.calls.iter().position(|call| call.id == id) else {
            return;
        };
        let call = self.calls.remove(place);
        let (mark, code) = if is_error {
            ("✗", "31")
        } else {
            ("✓", "32")
        };
        let mark = self.styled(mark, code);
        let took = self.dim(&elapsed(call.began.elapsed()));
        let mut lines = vec![format!("{mark} {} {took}", call.title)];
        if std::mem::take(&mut self.spaced) {
            lines.insert(0, String::new());
        }
        self.paint(&lines);
    }

    fn answered(&mut self, reply: &BatchReply) {
        for answer in &reply.replies {
            self.done(&answer.id, answer.is_error);
        }
        self.calls.clear();
        self.spaced = true;
        self.activity = Some("thinking");
        self.began = Instant::now();
        self.tell(&reply.notices);
    }

    fn tell(&mut self, notices: &[Notice]) {
        let lines: Vec<String> = notices
            .iter()
            .map(|notice| {
                let code = match notice.level {
                    NoticeLevel::Info => "2",
                    NoticeLevel::Warning => "33",
                    NoticeLevel::Error | NoticeLevel::Critical => "31",
                };
                let text: String = notice
                    .text
                    .chars()
                    .filter(|&letter| harmless(letter))
                    .collect();
                self.styled(&format!("! {}", text.replace('\n', " ")), code)
            })
            .collect();
        self.paint(&lines);
    }

    /// Asks until it is answered, here or elsewhere, or the turn is over.
    async fn ask(&mut self, open: OpenRequest) {
        // What was said before it is shown before it.
        while let Some(show) = self.shows.ready() {
            Box::pin(self.take(show)).await;
        }
        // Somebody elsewhere may have been first.
        while open.is_open() {
            match self.put(open.request(), open.closed()).await {
                Came::Answered(typed) => {
                    prompt::give(&open, typed);
                    // What was edited badly is edited again.
                    if !open.is_open() {
                        return self.paint(&[]);
                    }
                }
                Came::Over => {
                    open.give_up();
                    return self.paint(&[]);
                }
                Came::Elsewhere => {
                    let line = self.dim("answered elsewhere, or no longer asked");
                    return self.paint(&[line]);
                }
                Came::Interrupted(choice) => self.interrupted(choice).await,
            }
        }
    }

    /// Ctrl-C: what now?
    async fn interrupted(&mut self, mut reply: oneshot::Sender<Choice>) {
        if reply.is_closed() {
            return;
        }
        if let Came::Answered(Some(choice)) = self.put(&Interruption, reply.closed()).await {
            let _ = reply.send(choice);
        }
        self.paint(&[]);
    }

    /// Gives the terminal to a prompt, and takes it back.
    async fn put<A: Asking>(
        &mut self,
        asking: &A,
        closed: impl Future<Output = ()>,
    ) -> Came<A::Answer> {
        self.screen.clear();
        tokio::select! {
            biased;
            () = closed => Came::Elsewhere,
            urgent = self.shows.urgent() => match urgent {
                Urgent::Interrupted(choice) => Came::Interrupted(choice),
                Urgent::Over => Came::Over,
            },
            answer = self.seat.ask(asking) => Came::Answered(answer),
        }
    }

    fn paint(&mut self, committed: &[String]) {
        let mut live = Vec::new();
        if !self.text.is_empty() {
            let (columns, _) = self.screen.size();
            if self.spaced {
                live.push(String::new());
            }
            let width = columns.saturating_sub(1);
            live.extend(markdown::render(&self.text, width, self.colour));
        }
        let spinner = SPINNER[(self.began.elapsed().as_millis() / 100) as usize % SPINNER.len()];
        for call in &self.calls {
            let took = self.dim(&elapsed(call.began.elapsed()));
            live.push(format!("{spinner} {} {took}", call.title));
        }
        if let Some(activity) = self.activity.filter(|_| self.calls.is_empty()) {
            let took = elapsed(self.began.elapsed());
            live.push(self.dim(&format!("{spinner} {activity} {took}")));
        }
        live.extend(self.status());
        self.screen.paint(committed, &live);
    }

    /// The handles that are alive, in a line.
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
        self.calls.clear();
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

/// Line ends and tabs aside, control characters are nothing to show.
fn harmless(letter: char) -> bool {
    !letter.is_control() || matches!(letter, '\n' | '\t')
}

/// A call in a line: its tool and what matters of its arguments.
fn title(call: &ToolCall) -> String {
    let text = |key: &str| call.arguments.get(key).and_then(|value| value.as_str());
    let mut title = call.tool.clone();
    for key in ["action", "id"] {
        if let Some(value) = text(key) {
            title.push(' ');
            title.push_str(value);
        }
    }
    let telling = ["command", "task", "input"];
    let rest = telling.iter().find_map(|key| text(key)).map(str::to_owned);
    let rest = rest.or_else(|| {
        let mut rest = call.arguments.clone();
        rest.retain(|key, _| key != "action" && key != "id");
        (!rest.is_empty()).then(|| serde_json::Value::Object(rest).to_string())
    });
    if let Some(rest) = rest {
        title.push(' ');
        let line = rest.lines().next().unwrap_or_default();
        title.extend(line.chars().filter(|letter| !letter.is_control()).take(100));
    }
    title
}

fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{:.1}s", time.as_secs_f64()),
        seconds if seconds < 60 => format!("{seconds}s"),
        seconds => format!("{}m {:02}s", seconds / 60, seconds % 60),
    }
}
