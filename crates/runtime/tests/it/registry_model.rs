//! Random batches against a simple model of the registry.
//!
//! The model knows all ids, their owners and their states.
//! Every reply must agree with it, and at the end nothing may be lost, told
//! twice or left running.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_protocol::{Batch, BatchReply, NoticeKind, ReplyContent, ToolCall};
use windlass_runtime::RunOptions;
use windlass_testing::{ScriptedJob, question};

use crate::support::Stage;

const IDS: [&str; 3] = ["x", "y", "z"];
const TOOLS: [&str; 2] = ["tool", "other"];

/// What a tool does of its own accord.
#[derive(Debug, Clone, Copy)]
enum Behaviour {
    Stays,
    Ends,
    Fails,
    Asks,
    EndsOnInput,
    RefusesInput,
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Spawn(usize, usize, Behaviour),
    Fetch(usize, usize),
    Apply(usize, usize),
    Abort(usize, usize),
    Await {
        first: usize,
        second: usize,
        all: bool,
    },
}

/// What happens between batches.
#[derive(Debug, Clone, Copy)]
enum Act {
    Nothing,
    Writes(usize),
    Ends(usize),
    Fails(usize),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Pending,
    Running,
    Waiting,
    Stopped,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Known {
    tool: usize,
    state: State,
    behaviour: Behaviour,
}

impl Op {
    /// The handle that it is about, unless it waits.
    fn id(self) -> Option<usize> {
        match self {
            Self::Spawn(_, id, _)
            | Self::Fetch(_, id)
            | Self::Apply(_, id)
            | Self::Abort(_, id) => Some(id),
            Self::Await { .. } => None,
        }
    }
}

fn spawns(ops: &[Op], wanted: usize) -> bool {
    ops.iter()
        .any(|op| matches!(*op, Op::Spawn(_, id, _) if id == wanted))
}

/// What a reply must be.
#[derive(Debug, PartialEq)]
enum Expected {
    Refused,
    Shown(&'static str),
    Awaited(Vec<&'static str>),
}

/// The registry, as it should be.
#[derive(Default)]
struct Model {
    handles: BTreeMap<&'static str, Known>,
    spawned: BTreeMap<&'static str, usize>,
}

impl Model {
    fn batch(&mut self, ops: &[Op]) -> Vec<Expected> {
        if self.collides(ops) {
            return ops.iter().map(|_| Expected::Refused).collect();
        }
        let before = self.handles.clone();
        for op in ops {
            if let Op::Spawn(tool, id, behaviour) = *op {
                let state = State::Pending;
                self.handles.insert(
                    IDS[id],
                    Known {
                        tool,
                        state,
                        behaviour,
                    },
                );
                *self.spawned.entry(IDS[id]).or_default() += 1;
            }
        }
        let each = ops.iter().enumerate();
        each.map(|(place, op)| {
            // A call before a spawn refers to the previous handle with that id.
            let later = op.id().filter(|id| spawns(&ops[place + 1..], *id));
            match later.and_then(|id| before.get(IDS[id])) {
                Some(old) => Self::of(IDS[later.unwrap_or_default()], *old).one(*op),
                None => self.one(*op),
            }
        })
        .collect()
    }

    /// Nothing but this handle.
    fn of(id: &'static str, known: Known) -> Self {
        Self {
            handles: BTreeMap::from([(id, known)]),
            ..Self::default()
        }
    }

    fn collides(&self, ops: &[Op]) -> bool {
        let mut seen = Vec::new();
        ops.iter().any(|op| match *op {
            Op::Spawn(_, id, _) => {
                let twice = seen.contains(&id);
                seen.push(id);
                let held = self.handles.get(IDS[id]);
                twice || held.is_some_and(|held| held.state != State::Stopped)
            }
            _ => false,
        })
    }

    fn one(&mut self, op: Op) -> Expected {
        match op {
            Op::Await { first, second, .. } => {
                let mut ids = vec![IDS[first]];
                if second != first {
                    ids.push(IDS[second]);
                }
                if ids.iter().all(|id| self.handles.contains_key(id)) {
                    Expected::Awaited(ids)
                } else {
                    Expected::Refused
                }
            }
            Op::Spawn(tool, id, _) => self.act(tool, id, |known| {
                if known.state == State::Pending {
                    known.state = match known.behaviour {
                        Behaviour::Ends | Behaviour::Fails => State::Stopped,
                        Behaviour::Asks => State::Waiting,
                        _ => State::Running,
                    };
                }
                true
            }),
            Op::Fetch(tool, id) => self.act(tool, id, |_| true),
            Op::Abort(tool, id) => self.act(tool, id, |known| {
                known.state = State::Stopped;
                true
            }),
            Op::Apply(tool, id) => self.act(tool, id, |known| {
                match (known.state, known.behaviour) {
                    (State::Pending | State::Stopped, _)
                    | (State::Running, Behaviour::RefusesInput) => return false,
                    (State::Running, Behaviour::EndsOnInput) => known.state = State::Stopped,
                    (State::Waiting, _) => known.state = State::Running,
                    (State::Running, _) => {}
                }
                true
            }),
        }
    }

    fn act(&mut self, tool: usize, id: usize, act: impl FnOnce(&mut Known) -> bool) -> Expected {
        match self.handles.get_mut(IDS[id]) {
            Some(known) if known.tool == tool => {
                if act(known) {
                    Expected::Shown(known.state.name())
                } else {
                    Expected::Refused
                }
            }
            _ => Expected::Refused,
        }
    }
}

fn behave(job: &ScriptedJob) {
    match job.args()["do"].as_str().unwrap() {
        "Ends" => job.end(),
        "Fails" => job.fail("broke"),
        "Asks" => job.ask(question("q", "Really?")),
        "EndsOnInput" => job.on_input(|job, _| job.end()),
        "RefusesInput" => job.refuse_input("no input"),
        _ => {}
    }
}

fn call(place: usize, op: Op) -> ToolCall {
    let handle = |tool: usize, id: usize, action: &str| {
        (TOOLS[tool], json!({"action": action, "id": IDS[id]}))
    };
    let (tool, arguments) = match op {
        Op::Spawn(tool, id, behaviour) => {
            let (tool, mut arguments) = handle(tool, id, "spawn");
            arguments["do"] = json!(format!("{behaviour:?}"));
            (tool, arguments)
        }
        Op::Fetch(tool, id) => handle(tool, id, "fetch"),
        Op::Apply(tool, id) => {
            let (tool, mut arguments) = handle(tool, id, "apply");
            arguments["input"] = json!("yes");
            (tool, arguments)
        }
        Op::Abort(tool, id) => handle(tool, id, "abort"),
        Op::Await { first, second, all } => {
            let mode = if all { "all" } else { "any" };
            let ids = json!([IDS[first], IDS[second]]);
            ("await", json!({mode: ids, "timeout_secs": 0}))
        }
    };
    let Value::Object(arguments) = arguments else {
        unreachable!("every arm makes an object")
    };
    ToolCall {
        id: format!("c{place}"),
        tool: tool.to_owned(),
        arguments,
    }
}

/// Compares a batch's replies with what they must be, whole.
fn check(reply: &BatchReply, expected: &[Expected]) {
    let mut difference = String::new();
    for (place, (reply, expected)) in reply.replies.iter().zip(expected).enumerate() {
        assert_eq!(reply.id, format!("c{place}"), "no reply is out of order");
        let got = match &reply.content {
            ReplyContent::Text(_) if reply.is_error => Expected::Refused,
            ReplyContent::Handle(view) => Expected::Shown(view.state.as_str()),
            ReplyContent::Await(waited) => {
                let stopped = |state: &str| state == "stopped";
                assert!(
                    waited
                        .completed
                        .iter()
                        .all(|view| stopped(view.state.as_str()))
                );
                assert!(
                    !waited
                        .pending
                        .iter()
                        .any(|view| stopped(view.state.as_str()))
                );
                let both = waited.completed.iter().chain(&waited.pending);
                let mut ids: Vec<_> = both
                    .filter_map(|view| IDS.into_iter().find(|id| *id == view.id.as_str()))
                    .collect();
                if let Expected::Awaited(wanted) = expected {
                    ids.sort_by_key(|id| wanted.iter().position(|wanted| wanted == id));
                }
                Expected::Awaited(ids)
            }
            other => panic!("{other:?}"),
        };
        if got != *expected {
            writeln!(difference, "c{place}: {got:?} instead of {expected:?}").unwrap();
        }
    }
    assert!(difference.is_empty(), "{difference}{reply:#?}");
    assert_eq!(reply.replies.len(), expected.len(), "no reply is missing");
}

fn mentions(op: Op, id: &str) -> bool {
    match op {
        Op::Spawn(_, place, _)
        | Op::Fetch(_, place)
        | Op::Apply(_, place)
        | Op::Abort(_, place) => IDS[place] == id,
        Op::Await { first, second, .. } => IDS[first] == id || IDS[second] == id,
    }
}

/// Lets a handle act between batches; returns its id if that stopped it.
fn act(stage: &Stage, model: &mut Model, act: Act) -> Option<&'static str> {
    let (Act::Writes(id) | Act::Ends(id) | Act::Fails(id)) = act else {
        return None;
    };
    let known = model.handles.get_mut(IDS[id])?;
    if known.state == State::Stopped {
        return None;
    }
    let scripted = [&stage.tool, &stage.other][known.tool];
    let job = scripted.job(IDS[id]).expect("what is active was started");
    match act {
        Act::Writes(_) => {
            job.write("news\n");
            return None;
        }
        Act::Ends(_) => job.end(),
        _ => job.fail("broke"),
    }
    known.state = State::Stopped;
    Some(IDS[id])
}

async fn run(rounds: Vec<(Vec<Op>, Act)>) {
    let stage = Stage::new();
    stage.tool.opening(behave);
    stage.other.opening(behave);
    let mut model = Model::default();
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for (ops, between) in rounds {
        let ended = act(&stage, &mut model, between);
        let calls = ops.iter().enumerate().map(|(place, op)| call(place, *op));
        let batch = Batch {
            id: "b".into(),
            calls: calls.collect(),
        };
        let expected = model.batch(&ops);
        let reply = stage.session.run(batch, RunOptions::default()).await;
        check(&reply, &expected);
        let mut now: BTreeMap<String, usize> = BTreeMap::new();
        for notice in &reply.notices {
            if matches!(notice.kind, NoticeKind::Success | NoticeKind::Failure) {
                let id = notice.handle.as_ref().unwrap().to_string();
                *now.entry(id.clone()).or_default() += 1;
                *told.entry(id).or_default() += 1;
            }
        }
        if let Some(ended) = ended
            && !ops.iter().any(|op| mentions(*op, ended))
        {
            assert_eq!(
                now.get(ended),
                Some(&1),
                "an end that no reply told is a notice"
            );
        }
    }
    for (id, count) in told {
        // As news, and with its result if its id is spawned again unread.
        let most = 2 * model.spawned[&*id] - 1;
        assert!(count <= most, "no end is told more often than that");
    }
    let held = stage.session.handles();
    let held: BTreeMap<_, _> = held
        .iter()
        .map(|handle| (handle.id.as_str(), handle.state.as_str()))
        .collect();
    let known = model
        .handles
        .iter()
        .map(|(id, known)| (*id, known.state.name()));
    assert_eq!(held, known.collect(), "no id is lost");
    stage.session.close().await;
    for scripted in [&stage.tool, &stage.other] {
        assert!(scripted.started().iter().all(ScriptedJob::has_ended));
    }
}

fn ops() -> impl Strategy<Value = Op> {
    let behaviour = prop_oneof![
        Just(Behaviour::Stays),
        Just(Behaviour::Ends),
        Just(Behaviour::Fails),
        Just(Behaviour::Asks),
        Just(Behaviour::EndsOnInput),
        Just(Behaviour::RefusesInput),
    ];
    let tool = 0..TOOLS.len();
    let id = 0..IDS.len();
    prop_oneof![
        3 => (tool.clone(), id.clone(), behaviour).prop_map(|(tool, id, does)| Op::Spawn(tool, id, does)),
        2 => (tool.clone(), id.clone()).prop_map(|(tool, id)| Op::Fetch(tool, id)),
        2 => (tool.clone(), id.clone()).prop_map(|(tool, id)| Op::Apply(tool, id)),
        2 => (tool, id.clone()).prop_map(|(tool, id)| Op::Abort(tool, id)),
        1 => (id.clone(), id, any::<bool>())
            .prop_map(|(first, second, all)| Op::Await { first, second, all }),
    ]
}

fn acts() -> impl Strategy<Value = Act> {
    let id = 0..IDS.len();
    prop_oneof![
        Just(Act::Nothing),
        id.clone().prop_map(Act::Writes),
        id.clone().prop_map(Act::Ends),
        id.prop_map(Act::Fails),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replies_agree_with_the_model(rounds in vec((vec(ops(), 1..5), acts()), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(rounds));
    }
}
