//! Whole turns, on every provider's wire: what the seeds show, as it comes to
//! be said.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use windlass_assistant::{
    Assistant, Audience, Conversation, Heard, Interjection, ModelEvent, ModelInquirer, TurnError,
    TurnOutcome, system_prompt,
};
use windlass_outside::model::{Fault, ModelServer, Say, Script, Turn};
use windlass_protocol::{Notice, NoticeKind, NoticeLevel, Said, TurnEvent};
use windlass_runtime::{
    Attendance, Await, Catalogue, OnTurnEnd, QuestionPolicy, QuestionTarget, RunMode, RunPolicy,
    Runtime, SessionOptions, ToolDefinition,
};
use windlass_testing::{Scripted, ScriptedPerson, lasting, question};

use crate::support::{APIS, DEADLINE, model};

/// An assistant with two tools, `git` and `check`, and everyone around it.
struct Play {
    server: ModelServer,
    git: Scripted,
    check: Scripted,
    person: Arc<ScriptedPerson>,
    assistant: Arc<Assistant>,
    interject: mpsc::Sender<Interjection>,
    interjections: mpsc::Receiver<Interjection>,
}

struct Setup {
    git: ToolDefinition,
    check: ToolDefinition,
    inquirer: bool,
}

async fn play(
    which: usize,
    turns: impl IntoIterator<Item = Turn>,
    change: impl FnOnce(&mut Setup),
) -> Play {
    let server = ModelServer::start(Script::new(turns)).await.unwrap();
    let unattended = |name| ToolDefinition {
        run: RunPolicy::starting(RunMode::Unattended),
        ..lasting(name)
    };
    let mut setup = Setup {
        git: unattended("git"),
        check: unattended("check"),
        inquirer: true,
    };
    change(&mut setup);
    let (git, check) = (Scripted::new(), Scripted::new());
    let mut catalogue = Catalogue::new();
    catalogue.register(setup.git, git.executor()).unwrap();
    catalogue.register(setup.check, check.executor()).unwrap();
    catalogue
        .register_builtin(Await::definition(), Arc::new(Await))
        .unwrap();
    let model = model(&server, which);
    let conversation = Arc::new(Conversation::new());
    let inquirer = ModelInquirer::new(model.clone(), conversation.clone());
    let person = Arc::new(ScriptedPerson::new());
    let runtime = Runtime::new(catalogue);
    let tools = Assistant::offered(runtime.tools());
    let assistant = Assistant {
        model,
        system: system_prompt(None, "/project".as_ref(), &tools),
        max_tokens: None,
        effort: None,
        tools,
        session: runtime.session(SessionOptions {
            attendance: Attendance::Attended,
            inquirer: setup.inquirer.then(|| Arc::new(inquirer) as _),
            ..SessionOptions::default()
        }),
        conversation,
    };
    person.attend(assistant.session.requests());
    let (interject, interjections) = mpsc::channel(8);
    Play {
        server,
        git,
        check,
        person,
        assistant: Arc::new(assistant),
        interject,
        interjections,
    }
}

impl Play {
    async fn turn(&mut self, message: &str) -> Result<TurnOutcome, TurnError> {
        self.turn_heard(message, &()).await
    }

    async fn turn_heard(
        &mut self,
        message: &str,
        audience: &dyn Audience,
    ) -> Result<TurnOutcome, TurnError> {
        let turn = self
            .assistant
            .turn(message, audience, &mut self.interjections);
        let turn = tokio::time::timeout(DEADLINE, turn).await;
        turn.expect("the turn ends")
    }

    /// The conversation, a line for each thing said.
    fn told(&self) -> String {
        let mut told = String::new();
        for event in self.assistant.conversation.events() {
            tell(&mut told, &event);
        }
        told
    }
}

fn tell(told: &mut String, event: &TurnEvent) {
    let notices = match event {
        TurnEvent::User { text, notices } => {
            writeln!(told, "user: {text}").unwrap();
            notices
        }
        TurnEvent::Assistant {
            said, interrupted, ..
        } => {
            for said in said {
                match said {
                    Said::Text { text } => writeln!(told, "assistant: {text}").unwrap(),
                    Said::Reasoning { text, .. } => writeln!(told, "thinks: {text}").unwrap(),
                    Said::Call { call, .. } => {
                        writeln!(told, "call: {} {}", call.tool, json!(call.arguments)).unwrap();
                    }
                }
            }
            if *interrupted {
                writeln!(told, "(interrupted)").unwrap();
            }
            return;
        }
        TurnEvent::Replies { replies, notices } => {
            for reply in replies {
                let mark = if reply.is_error { "error" } else { "reply" };
                writeln!(told, "{mark}: {}", reply.content.to_text().trim_end()).unwrap();
            }
            notices
        }
        TurnEvent::Notices { notices } => notices,
        TurnEvent::TurnEnded => return writeln!(told, "(end)").unwrap(),
    };
    for notice in notices {
        writeln!(told, "notice: {}", notice.text).unwrap();
    }
}

fn spawn(id: &str) -> Value {
    json!({"action": "spawn", "id": id})
}

#[tokio::test]
async fn hunks_are_staged_by_handle() {
    for (which, (api, ..)) in APIS.into_iter().enumerate() {
        let apply = |input: &str| json!({"action": "apply", "id": "staging", "input": input});
        let turns = [
            Turn::new([
                Say::Reasoning("Interactive, so a handle.".into()),
                Say::Text("I stage it.".into()),
                Say::call("git", spawn("staging")),
            ]),
            Turn::calls([("git", apply("y"))]),
            Turn::calls([("git", apply("n"))]),
            Turn::text("Staged one of two hunks."),
        ];
        let mut play = play(which, turns, |_| {}).await;
        play.git.opening(|job| {
            job.write("Stage this hunk [y,n]? ");
            job.on_input(|job, typing| {
                if typing.input == Some(json!("y")) {
                    job.write("Stage the next hunk [y,n]? ");
                } else {
                    job.end();
                }
            });
        });
        let outcome = play.turn("stage my changes").await.unwrap();
        assert_eq!(outcome.text, "Staged one of two hunks.");
        assert_eq!(outcome.usage.output, 80);
        assert_eq!(
            play.told(),
            "\
user: stage my changes
thinks: Interactive, so a handle.
assistant: I stage it.
call: git {\"action\":\"spawn\",\"id\":\"staging\"}
reply: {\"id\":\"staging\",\"state\":\"running\",\"content\":\"Stage this hunk [y,n]? \"}
call: git {\"action\":\"apply\",\"id\":\"staging\",\"input\":\"y\"}
reply: {\"id\":\"staging\",\"state\":\"running\",\"content\":\"Stage the next hunk [y,n]? \"}
call: git {\"action\":\"apply\",\"id\":\"staging\",\"input\":\"n\"}
reply: {\"id\":\"staging\",\"state\":\"stopped\",\"result\":\"\"}
assistant: Staged one of two hunks.
(end)
",
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn check_and_test_are_awaited_in_one_batch() {
    for which in 0..APIS.len() {
        let turns = [
            Turn::calls([
                ("check", spawn("check")),
                ("git", spawn("test")),
                ("await", json!({"all": ["check", "test"]})),
            ]),
            Turn::text("Both are fine."),
        ];
        let mut play = play(which, turns, |_| {}).await;
        play.check.opening(|job| job.end_saying("ok, 0 warnings"));
        play.git.opening(|job| job.end_saying("42 passed"));
        play.turn("check and test").await.unwrap();
        let told = play.told();
        let awaited = "\
reply: {\"completed\":[{\"id\":\"check\",\"state\":\"stopped\",\"result\":\"ok, 0 warnings\"},\
{\"id\":\"test\",\"state\":\"stopped\",\"result\":\"42 passed\"}],\"pending\":[]}
assistant: Both are fine.
(end)
";
        assert!(told.ends_with(awaited), "{told}");
    }
}

#[tokio::test]
async fn of_a_race_the_other_is_asked_about_at_the_end_and_aborted() {
    for which in 0..APIS.len() {
        let decision = json!({"handles": [{"id": "github", "action": "abort"}]});
        let turns = [
            Turn::calls([
                ("check", spawn("crates")),
                ("git", spawn("github")),
                ("await", json!({"any": ["crates", "github"]})),
            ]),
            Turn::text(decision.to_string()).structured(),
            Turn::text("tokio it is."),
        ];
        let mut play = play(which, turns, |_| {}).await;
        play.check.opening(|job| job.end_saying("tokio"));
        play.turn("which runtime?").await.unwrap();
        assert!(play.git.job("github").unwrap().has_ended());
        let told = play.told();
        assert!(told.ends_with("assistant: tokio it is.\n(end)\n"), "{told}");
        // The inquiry said what runs and left no trace.
        let seen = play.server.seen();
        let inquiry = seen.last().unwrap().body.to_string();
        assert!(inquiry.contains("github") && inquiry.contains("elapsed_secs"));
        assert!(!told.contains("elapsed_secs"));
    }
}

/// Hears of calls and of replies to them.
#[derive(Default)]
struct Answered(std::sync::Mutex<Vec<String>>);

impl Audience for Answered {
    fn hear(&self, heard: Heard<'_>) {
        let mut told = self.0.lock().unwrap();
        match heard {
            Heard::Running(batch) => told.extend(batch.calls.iter().map(|call| {
                let action = call.arguments.get("action").and_then(|it| it.as_str());
                format!("{} {}", call.tool, action.unwrap_or_default())
                    .trim_end()
                    .to_owned()
            })),
            Heard::Answered(reply) => told.extend(reply.replies.iter().map(|_| "reply".to_owned())),
            _ => {}
        }
    }
}

#[tokio::test]
async fn what_is_waited_for_at_the_end_is_answered_and_spoken_of() {
    for which in 0..APIS.len() {
        let decision = json!({"handles": [{"id": "check", "action": "wait"}]});
        let turns = [
            Turn::calls([("check", spawn("check"))]),
            Turn::text(decision.to_string()).structured(),
            Turn::text("It runs."),
            Turn::text("It is fine."),
        ];
        let mut play = play(which, turns, |_| {}).await;
        let check = play.check.clone();
        // It ends once the turn's end has asked.
        let server = &play.server;
        let ending = async {
            server.wait_for(3).await;
            check.job("check").unwrap().end_saying("0 warnings");
        };
        let answered = Answered::default();
        let turn = play
            .assistant
            .turn("check", &answered, &mut play.interjections);
        let (turn, ()) = tokio::join!(turn, ending);
        turn.unwrap();
        assert_eq!(
            *answered.0.lock().unwrap(),
            ["check spawn", "reply", "await", "reply"]
        );
        let told = play.told();
        let end = "\
assistant: It runs.
call: await {\"all\":[\"check\"]}
reply: {\"completed\":[{\"id\":\"check\",\"state\":\"stopped\",\"result\":\"0 warnings\"}],\"pending\":[]}
assistant: It is fine.
(end)
";
        assert!(told.ends_with(end), "{told}");
    }
}

#[tokio::test]
async fn a_background_tool_that_stopped_is_reported_with_the_next_message() {
    for which in 0..APIS.len() {
        let turns = [
            Turn::calls([("check", spawn("check"))]),
            Turn::text("It runs."),
            Turn::text("I heard."),
        ];
        let mut play = play(which, turns, |setup| {
            setup.check.lifecycle.on_turn_end = OnTurnEnd::Await;
        })
        .await;
        let check = play.check.clone();
        let ended = async {
            check.next().await.end_saying("0 warnings");
        };
        let turn = play.assistant.turn("check", &(), &mut play.interjections);
        let (turn, ()) = tokio::join!(turn, ended);
        turn.unwrap();
        play.turn("and now?").await.unwrap();
        let told = play.told();
        let end = "\
user: and now?
notice: `check` stopped: 0 warnings
assistant: I heard.
(end)
";
        assert!(told.ends_with(end), "{told}");
        let request = play.server.seen().pop().unwrap().body.to_string();
        assert_eq!(request.matches("`check` stopped: 0 warnings").count(), 1);
    }
}

#[tokio::test]
async fn a_tools_question_goes_to_the_assistant() {
    for which in 0..APIS.len() {
        let turns = [
            Turn::calls([("check", json!({}))]),
            // Not an answer, and then one.
            Turn::text("{\"answer\": \"perhaps\"}").structured(),
            Turn::text("{\"answer\": true}").structured(),
            Turn::text("Done."),
        ];
        let mut play = play(which, turns, |setup| {
            let policy = QuestionPolicy {
                target: QuestionTarget::Assistant,
                answer: None,
            };
            setup.check.questions.insert("go".to_owned(), policy);
        })
        .await;
        play.check.opening(|job| {
            job.on_answer(|job, answer| job.end_saying(&format!("told {answer}")));
            job.ask(question("go", "Overwrite the file?"));
        });
        play.turn("check").await.unwrap();
        assert_eq!(
            play.told(),
            "user: check\ncall: check {}\nreply: told true\nassistant: Done.\n(end)\n"
        );
        let seen = play.server.seen();
        let asked = seen[2].body.to_string();
        assert!(asked.contains("Overwrite the file?") && asked.contains("was invalid"));
        assert!(asked.contains("User: check"));
    }
}

#[tokio::test]
async fn a_tools_question_goes_to_the_user() {
    for which in 0..APIS.len() {
        let turns = [Turn::calls([("check", json!({}))]), Turn::text("Done.")];
        let mut play = play(which, turns, |_| {}).await;
        play.check.opening(|job| {
            job.on_answer(|job, answer| job.end_saying(&format!("told {answer}")));
            job.ask(question("go", "Overwrite?"));
        });
        let person = play.person.clone();
        let answering = async {
            person.next_question().await.reply(json!(false));
        };
        let turn = play.assistant.turn("check", &(), &mut play.interjections);
        let (turn, ()) = tokio::join!(turn, answering);
        turn.unwrap();
        assert!(play.told().contains("reply: told false"));
    }
}

#[tokio::test]
async fn a_rejected_permission_is_an_error_that_the_assistant_reads() {
    for which in 0..APIS.len() {
        let turns = [Turn::calls([("git", json!({}))]), Turn::text("Then not.")];
        let mut play = play(which, turns, |setup| {
            setup.git.run = RunPolicy::starting(RunMode::Ask);
        })
        .await;
        let person = play.person.clone();
        let rejecting = async {
            person.next_permission().await.reject(Some("use jj"));
        };
        let turn = play.assistant.turn("commit", &(), &mut play.interjections);
        let (turn, ()) = tokio::join!(turn, rejecting);
        turn.unwrap();
        assert!(play.git.started().is_empty());
        let told = play.told();
        assert!(
            told.contains("error: the user rejected `git`: use jj"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn a_critical_notice_interrupts_the_model() {
    let turns = [
        Turn::new([
            Say::Text("I was going to ".into()),
            Say::Hold("never".into()),
            Say::Text("say".into()),
        ]),
        Turn::text("I see."),
    ];
    let mut play = play(0, turns, |_| {}).await;
    let alarm = Alarm(
        play.assistant.session.clone(),
        parking_lot::Mutex::default(),
    );
    play.turn_heard("go", &alarm).await.unwrap();
    assert_eq!(
        play.told(),
        "user: go\nassistant: I was going to \n(interrupted)\nnotice: the disk is full\n\
         assistant: I see.\n(end)\n"
    );
}

#[tokio::test]
async fn a_message_in_between_interrupts_the_model() {
    let turns = [
        Turn::new([Say::Text("Long ".into()), Say::Hold("never".into())]),
        Turn::text("Short."),
    ];
    let mut play = play(1, turns, |_| {}).await;
    let hasty = Hasty(play.interject.clone());
    play.turn_heard("go", &hasty).await.unwrap();
    assert_eq!(
        play.told(),
        "user: go\nassistant: Long \n(interrupted)\nuser: shorter\nassistant: Short.\n(end)\n"
    );
}

#[tokio::test]
async fn a_message_waits_for_calls_that_run_and_stopping_them_ends_them() {
    let turns = [
        Turn::calls([("check", json!({})), ("git", spawn("g"))]),
        Turn::text("Stopped."),
    ];
    let mut play = play(2, turns, |_| {}).await;
    let (check, interject) = (play.check.clone(), play.interject.clone());
    let git = play.git.clone();
    let stopping = async {
        check.next().await;
        git.next().await;
        interject
            .send(Interjection::Say("stop it".into()))
            .await
            .unwrap();
        interject.send(Interjection::StopTools).await.unwrap();
    };
    let turn = play.assistant.turn("go", &(), &mut play.interjections);
    let (turn, ()) = tokio::join!(turn, stopping);
    turn.unwrap();
    let told = play.told();
    assert!(
        told.contains("user: stop it\nnotice: the user stopped every tool"),
        "{told}"
    );
    assert!(play.git.started()[0].has_ended());
}

#[tokio::test]
async fn an_aborted_turn_is_over_and_its_calls_are_answered() {
    let turns = [Turn::calls([("check", json!({}))])];
    let mut play = play(3, turns, |_| {}).await;
    let (check, interject) = (play.check.clone(), play.interject.clone());
    let aborting = async {
        check.next().await;
        interject.send(Interjection::Abort).await.unwrap();
    };
    let turn = play.assistant.turn("go", &(), &mut play.interjections);
    let (turn, ()) = tokio::join!(turn, aborting);
    assert!(turn.unwrap().aborted);
    let told = play.told();
    assert!(told.contains("call: check {}\nerror: "), "{told}");
}

#[tokio::test]
async fn a_broken_stream_runs_no_call() {
    for which in 0..APIS.len() {
        let call = Turn::calls([(
            "check",
            json!({"note": "a long argument, so that it is cut"}),
        )]);
        let turns = [
            call.clone().with(Fault::Cut(150)),
            call.with(Fault::End(160)),
            Turn::text("Never mind."),
        ];
        let mut play = play(which, turns, |_| {}).await;
        play.turn("go").await.unwrap();
        assert!(play.check.started().is_empty());
        assert_eq!(play.told(), "user: go\nassistant: Never mind.\n(end)\n");
    }
}

#[tokio::test]
async fn calls_of_a_reply_that_was_cut_at_its_limit_do_not_run() {
    for which in 0..APIS.len() {
        let cut = Turn {
            finish: Some("length".into()),
            ..Turn::calls([("check", json!({}))])
        };
        let mut play = play(which, [cut, Turn::text("Less.")], |_| {}).await;
        play.turn("go").await.unwrap();
        assert!(play.check.started().is_empty());
        assert!(play.told().contains("error: not run: your reply was cut"));
    }
}

#[tokio::test]
async fn a_refusal_is_reported_and_the_conversation_can_continue() {
    let refused = Turn::fault(Fault::status(400));
    let mut play = play(0, [refused, Turn::text("Hello.")], |_| {}).await;
    assert!(matches!(play.turn("go").await, Err(TurnError::Model(_))));
    play.turn("again").await.unwrap();
    assert!(
        play.told()
            .ends_with("user: again\nassistant: Hello.\n(end)\n")
    );
}

/// Notifies once the model speaks.
struct Alarm(windlass_runtime::Session, parking_lot::Mutex<bool>);
impl Audience for Alarm {
    fn hear(&self, heard: Heard<'_>) {
        let spoke = matches!(heard, Heard::Model(ModelEvent::Text(text)) if text == "to ");
        if spoke && !std::mem::replace(&mut *self.1.lock(), true) {
            self.0.notify(Notice {
                level: NoticeLevel::Critical,
                kind: NoticeKind::Server,
                handle: None,
                tool: None,
                text: "the disk is full".to_owned(),
            });
        }
    }
}

/// Says it once the model speaks.
struct Hasty(mpsc::Sender<Interjection>);
impl Audience for Hasty {
    fn hear(&self, heard: Heard<'_>) {
        if matches!(heard, Heard::Model(ModelEvent::Text(text)) if text == "Long ") {
            let _ = self.0.try_send(Interjection::Say("shorter".to_owned()));
        }
    }
}
