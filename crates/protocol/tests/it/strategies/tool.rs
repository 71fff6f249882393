//! Tools: what they say, and what is asked of them.

use proptest::prelude::*;
use proptest::sample::select;
use windlass_protocol::{
    Action, AnswerType, Context, ErrorView, ExecAnswer, HandleAction, HandleState, HandleView,
    IoMode, LineRange, Outcome, Question, StateInput, ToolCommand, ToolError, ToolInvocation,
    ToolState, Typing, View,
};

use super::{arguments, handle_id, maybe, own_arguments, path, some_value, texts, value};

pub(crate) fn answer_type() -> impl Strategy<Value = AnswerType> {
    prop_oneof![
        Just(AnswerType::Boolean),
        Just(AnswerType::Text),
        texts().prop_map(|options| AnswerType::Select { options }),
    ]
}

pub(crate) fn question() -> impl Strategy<Value = Question> {
    (
        any::<String>(),
        any::<String>(),
        any::<Option<String>>(),
        answer_type(),
        maybe(some_value()),
        any::<bool>(),
    )
        .prop_map(
            |(id, text, pre_amble, answer_type, default, secret)| Question {
                id,
                text,
                pre_amble,
                answer_type,
                default,
                secret,
            },
        )
}

pub(crate) fn tool_error() -> impl Strategy<Value = ToolError> {
    (any::<String>(), texts(), any::<bool>()).prop_map(|(message, trace, transient)| ToolError {
        message,
        trace,
        transient,
    })
}

pub(crate) fn tool_state() -> impl Strategy<Value = ToolState> {
    prop_oneof![
        any::<Option<String>>().prop_map(|content| ToolState::Running { content }),
        (any::<Option<String>>(), question())
            .prop_map(|(content, question)| ToolState::Waiting { content, question }),
        any::<String>().prop_map(|output| ToolState::Stopped { result: Ok(output) }),
        tool_error().prop_map(|error| ToolState::Stopped { result: Err(error) }),
    ]
}

pub(crate) fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        any::<String>().prop_map(|content| Outcome::Success { content }),
        tool_error().prop_map(|error| Outcome::Error {
            message: error.message,
            trace: error.trace,
            transient: error.transient,
        }),
        question().prop_map(|question| Outcome::NeedsInput { question }),
    ]
}

pub(crate) fn io_mode() -> impl Strategy<Value = IoMode> {
    select(vec![IoMode::Text, IoMode::Terminal, IoMode::State])
}

pub(crate) fn exec_answer() -> impl Strategy<Value = ExecAnswer> {
    (
        any::<String>(),
        texts(),
        io_mode(),
        maybe(path()),
        prop::collection::vec(any::<(String, String)>(), 0..3),
    )
        .prop_map(|(program, args, io, cwd, env)| ExecAnswer {
            program,
            args,
            io,
            cwd,
            env: env.into_iter().collect(),
        })
}

pub(crate) fn state_input() -> impl Strategy<Value = StateInput> {
    prop_oneof![
        value().prop_map(|input| StateInput::Apply { input }),
        (any::<String>(), value())
            .prop_map(|(question, answer)| StateInput::Answer { question, answer }),
        Just(StateInput::Abort),
    ]
}

pub(crate) fn handle_action() -> impl Strategy<Value = HandleAction> {
    select(HandleAction::ALL.to_vec())
}

pub(crate) fn view() -> impl Strategy<Value = View> {
    select(vec![View::New, View::Screen, View::All])
}

pub(crate) fn line_range() -> impl Strategy<Value = LineRange> {
    (1..1000_u64, 0..1000_u64)
        .prop_map(|(first, more)| LineRange::new(first, first + more).expect("it is in order"))
}

pub(crate) fn typing() -> impl Strategy<Value = Typing> {
    (maybe(some_value()), any::<bool>(), texts()).prop_map(|(input, enter, keys)| Typing {
        input,
        enter,
        keys,
    })
}

pub(crate) fn tool_command() -> impl Strategy<Value = ToolCommand> {
    prop_oneof![
        (handle_id(), own_arguments()).prop_map(|(id, args)| ToolCommand::Spawn {
            id,
            keep: None,
            args
        }),
        (handle_id(), view(), maybe(line_range()))
            .prop_map(|(id, view, lines)| ToolCommand::Fetch { id, view, lines }),
        (handle_id(), typing()).prop_map(|(id, typing)| ToolCommand::Apply { id, typing }),
        handle_id().prop_map(|id| ToolCommand::Abort { id }),
    ]
}

pub(crate) fn action() -> impl Strategy<Value = Action> {
    select(vec![Action::Run, Action::FormatArguments, Action::Schema])
}

pub(crate) fn context() -> impl Strategy<Value = Context> {
    let name = any::<Option<String>>;
    (action(), path(), name(), name(), name()).prop_map(
        |(action, root, workspace_id, conversation_id, handle_id)| Context {
            action,
            root,
            workspace_id,
            conversation_id,
            handle_id,
        },
    )
}

pub(crate) fn tool() -> impl Strategy<Value = ToolInvocation> {
    (any::<String>(), arguments(), arguments(), arguments()).prop_map(
        |(name, arguments, answers, options)| ToolInvocation {
            name,
            arguments,
            answers,
            options,
        },
    )
}

pub(crate) fn handle_state() -> impl Strategy<Value = HandleState> {
    select(vec![
        HandleState::Pending,
        HandleState::Running,
        HandleState::Waiting,
        HandleState::Stopped,
    ])
}

pub(crate) fn error_view() -> impl Strategy<Value = ErrorView> {
    (any::<bool>(), texts()).prop_map(|(transient, trace)| ErrorView { transient, trace })
}

pub(crate) fn handle_view() -> impl Strategy<Value = HandleView> {
    let words = (
        any::<Option<String>>(),
        maybe(question()),
        any::<Option<String>>(),
        maybe(error_view()),
    );
    let numbers = (
        any::<Option<i32>>(),
        any::<Option<String>>(),
        any::<Option<usize>>(),
        any::<Option<u64>>(),
    );
    let rest = (maybe(path()), any::<bool>());
    (handle_id(), handle_state(), words, numbers, rest).prop_map(
        |(id, state, words, numbers, rest)| HandleView {
            id,
            state,
            content: words.0,
            question: words.1,
            note: words.2.clone(),
            result: words.2,
            error: words.3,
            exit_code: numbers.0,
            signal: numbers.1,
            aborted: None,
            ended: numbers.2,
            omitted_bytes: numbers.3,
            log: rest.0,
            awaiting_input: rest.1,
            cursor: numbers.0.map(|_| (3, 5)),
            digest: None,
        },
    )
}
