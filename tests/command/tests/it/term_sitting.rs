//! Sitting at a terminal: one program, typed at through `windlass drive`.
//!
//! Start at [`Sitting::down`]. It waits for prompts, never for a while, and
//! counts what the conversation costs. What a program did is for the tests to
//! look up.

use std::fmt;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Drive, Project, call, eventually};

/// The bytes of an ordinary screen, all of it written.
pub(crate) const SCREEN: usize = 24 * 80;

/// A program on a terminal, in a session of its own.
pub(crate) struct Sitting {
    drive: Drive,
    tool: &'static str,
    cost: Cost,
}

/// What a conversation has cost, in bytes of what goes over the wire.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Calls.
    pub(crate) requests: usize,
    /// What the calls took.
    pub(crate) sent: usize,
    /// What the replies took.
    pub(crate) received: usize,
    /// What of the replies came after the first, which shows the program.
    pub(crate) later: usize,
}

impl Cost {
    /// What a reply after the first takes, on average.
    pub(crate) fn per_step(self) -> usize {
        self.later / (self.requests - 1).max(1)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:>3} calls, {:>5} bytes sent, {:>6} received, {:>4} a step after the first",
            self.requests,
            self.sent,
            self.received,
            self.per_step()
        )
    }
}

impl Sitting {
    /// Starts a command line on a terminal; returns what it shows at its first
    /// prompt.
    #[track_caller]
    pub(crate) fn down(project: &Project, command: &str) -> (Self, Value) {
        Self::with(
            project,
            "shell",
            json!({"command": command, "terminal": true}),
        )
    }

    /// The same of any tool, with arguments of its own.
    #[track_caller]
    pub(crate) fn with(project: &Project, tool: &'static str, arguments: Value) -> (Self, Value) {
        let mut sitting = Self::running(project, tool);
        let shown = sitting.act("spawn", arguments);
        let shown = sitting.until_it_asks(shown);
        (sitting, shown)
    }

    /// A session in which nothing was started yet.
    pub(crate) fn running(project: &Project, tool: &'static str) -> Self {
        Self {
            drive: project.drive(),
            tool,
            cost: Cost::default(),
        }
    }

    /// Types a line and Enter; returns what is shown at the next prompt.
    #[track_caller]
    pub(crate) fn line(&mut self, input: &str) -> Value {
        self.apply(json!({"input": input}))
    }

    /// Presses keys; returns what is shown at the next prompt.
    #[track_caller]
    pub(crate) fn keys(&mut self, keys: &[&str]) -> Value {
        self.apply(json!({"keys": keys}))
    }

    /// Applies this; returns what is shown at the next prompt, or at the end.
    #[track_caller]
    pub(crate) fn apply(&mut self, typing: Value) -> Value {
        let shown = self.act("apply", typing);
        self.until_it_asks(shown)
    }

    /// Waits until this is on the screen: the editor that a program has left
    /// may still be listening for its terminal when the next one starts.
    #[track_caller]
    pub(crate) fn see(&mut self, part: &str) {
        eventually(part, || {
            text(&self.act("fetch", json!({"view": "screen"}))).contains(part)
        });
    }

    /// Applies what ends the program; returns its end.
    #[track_caller]
    pub(crate) fn leave(&mut self, typing: Value) -> Value {
        let mut shown = self.act("apply", typing);
        eventually("the program has ended", || {
            if shown["state"] != json!("stopped") {
                shown = self.act("fetch", json!({}));
            }
            shown["state"] == json!("stopped")
        });
        shown
    }

    /// Calls an action on the program; returns the unchanged reply.
    #[track_caller]
    pub(crate) fn act(&mut self, action: &str, arguments: Value) -> Value {
        let reply = self.reply(action, arguments);
        assert_eq!(reply["is_error"], json!(false), "{reply}");
        reply["content"].clone()
    }

    /// Calls an action that must be refused; returns the reason.
    #[track_caller]
    pub(crate) fn refused(&mut self, action: &str, arguments: Value) -> String {
        let reply = self.reply(action, arguments);
        assert_eq!(reply["is_error"], json!(true), "{reply}");
        let reason = reply["content"].as_str().expect("errors are strings");
        reason.to_owned()
    }

    #[track_caller]
    fn reply(&mut self, action: &str, mut arguments: Value) -> Value {
        arguments["action"] = json!(action);
        arguments["id"] = json!("it");
        let batch = json!([call(self.tool, arguments)]);
        self.drive.send(&batch);
        let answer = self.drive.next();
        self.cost.requests += 1;
        self.cost.sent += batch.to_string().len() + 1;
        let received = answer.to_string().len() + 1;
        self.cost.received += received;
        if self.cost.requests > 1 {
            self.cost.later += received;
        }
        answer["replies"][0].clone()
    }

    /// Fetches until the program is at a prompt, asks or has stopped; the
    /// contents are put together. On a machine with other work a program may
    /// take longer than a reply waits.
    #[track_caller]
    fn until_it_asks(&mut self, mut shown: Value) -> Value {
        let mut content = text(&shown);
        eventually("the program is at a prompt", || {
            if shown["state"] != json!("running") || shown["awaiting_input"] == json!(true) {
                return true;
            }
            shown = self.act("fetch", json!({}));
            content.push_str(&text(&shown));
            false
        });
        if shown["state"] == json!("stopped") {
            // The end has a place of its own for what was written last.
            return shown;
        }
        shown["content"] = json!(content);
        shown
    }

    /// Ends the session; returns what it has cost.
    #[track_caller]
    pub(crate) fn up(mut self) -> Cost {
        let (rest, code) = self.drive.finish();
        assert_eq!((rest, code), (Vec::new(), Some(0)));
        self.cost
    }

    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }

    pub(crate) fn drive(&mut self) -> &mut Drive {
        &mut self.drive
    }
}

/// What a reply shows of the program; nothing where it shows nothing.
pub(crate) fn text(shown: &Value) -> String {
    shown["content"].as_str().unwrap_or_default().to_owned()
}

/// The program has ended, and well.
#[track_caller]
pub(crate) fn assert_ended_well(shown: &Value) {
    assert_eq!(shown["state"], json!("stopped"), "{shown}");
    assert_eq!(shown.get("error"), None, "{shown}");
}

/// What is shown has this in it.
#[track_caller]
pub(crate) fn assert_shows(shown: &Value, part: &str) {
    let all = format!(
        "{}{}",
        text(shown),
        shown["result"].as_str().unwrap_or_default()
    );
    assert!(all.contains(part), "no `{part}` in {shown}");
}

/// Runs a program in the project, not through Windlass; returns what it printed.
#[track_caller]
pub(crate) fn outside(project: &Project, program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(project.root())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The numbers from 1 to this, a line each.
pub(crate) fn numbers(last: u32) -> String {
    (1..=last).fold(String::new(), |text, number| {
        text + &number.to_string() + "\n"
    })
}
