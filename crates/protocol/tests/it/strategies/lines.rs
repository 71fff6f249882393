//! `await`, batches, and the lines of `windlass drive`.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use windlass_protocol::{
    Ask, AwaitReply, AwaitRequest, Batch, BatchReply, CallReply, Condition, DriveEvent,
    DriveOutput, Matched, ReplyContent, RequestRendering, ToolCall, TurnEndDecision, TurnEndHandle,
    TurnEndReport,
};

use super::{
    arguments, handle_id, handle_state, handle_view, maybe, notice, own_arguments,
    permission_request, question, seconds, texts, value,
};

pub(crate) fn condition() -> impl Strategy<Value = Condition> {
    (
        any::<String>(),
        any::<Option<String>>(),
        any::<Option<bool>>(),
        maybe(seconds()),
        any::<Option<u16>>(),
        any::<Option<bool>>(),
    )
        .prop_map(|(id, pattern, new, idle_secs, port, waiting)| Condition {
            id,
            pattern,
            new,
            idle_secs,
            port,
            waiting,
        })
}

pub(crate) fn await_request() -> impl Strategy<Value = AwaitRequest> {
    (
        texts(),
        texts(),
        prop::collection::vec(condition(), 0..3),
        maybe(seconds()),
    )
        .prop_map(|(any, all, until, timeout_secs)| AwaitRequest {
            any,
            all,
            until,
            timeout_secs,
        })
}

pub(crate) fn matched() -> impl Strategy<Value = Matched> {
    (condition(), any::<Option<String>>()).prop_map(|(condition, line)| Matched { condition, line })
}

pub(crate) fn await_reply() -> impl Strategy<Value = AwaitReply> {
    (
        prop::collection::vec(handle_view(), 0..2),
        prop::collection::vec(handle_view(), 0..2),
        prop::collection::vec(matched(), 0..2),
        prop::collection::vec(condition(), 0..2),
        any::<bool>(),
    )
        .prop_map(
            |(completed, pending, matched, unmet, timed_out)| AwaitReply {
                completed,
                pending,
                matched,
                unmet,
                needs_answer: Vec::new(),
                timed_out,
            },
        )
}

pub(crate) fn tool_call() -> impl Strategy<Value = ToolCall> {
    (any::<String>(), any::<String>(), arguments()).prop_map(|(id, tool, arguments)| ToolCall {
        id,
        tool,
        arguments,
    })
}

/// A batch whose calls have names of their own, as every batch must.
pub(crate) fn batch() -> impl Strategy<Value = Batch> {
    (any::<String>(), prop::collection::vec(tool_call(), 0..4)).prop_map(|(id, mut calls)| {
        for (place, call) in calls.iter_mut().enumerate() {
            call.id = format!("{place} {}", call.id);
        }
        Batch { id, calls }
    })
}

pub(crate) fn reply_content() -> impl Strategy<Value = ReplyContent> {
    // A value that is a string, or has a handle's fields, is read as one.
    let other = prop_oneof![
        own_arguments().prop_map(Value::Object),
        prop::collection::vec(value(), 0..3).prop_map(Value::Array),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ];
    prop_oneof![
        any::<String>().prop_map(ReplyContent::Text),
        await_reply().prop_map(ReplyContent::Await),
        handle_view().prop_map(|view| ReplyContent::Handle(Box::new(view))),
        other.prop_map(ReplyContent::Value),
    ]
}

pub(crate) fn call_reply() -> impl Strategy<Value = CallReply> {
    (any::<String>(), reply_content(), any::<bool>()).prop_map(|(id, content, is_error)| {
        CallReply {
            id,
            content,
            is_error,
            error: None,
            extras: windlass_protocol::ReplyExtras::default(),
        }
    })
}

pub(crate) fn batch_reply() -> impl Strategy<Value = BatchReply> {
    (
        any::<String>(),
        prop::collection::vec(call_reply(), 0..3),
        prop::collection::vec(notice(), 0..3),
    )
        .prop_map(|(batch, replies, notices)| BatchReply {
            batch,
            replies,
            notices,
        })
}

pub(crate) fn turn_end_decision() -> impl Strategy<Value = TurnEndDecision> {
    select(vec![TurnEndDecision::Wait, TurnEndDecision::Abort])
}

pub(crate) fn turn_end_handle() -> impl Strategy<Value = TurnEndHandle> {
    (
        handle_id(),
        any::<String>(),
        handle_state(),
        seconds(),
        any::<String>(),
    )
        .prop_map(
            |(id, tool, state, elapsed_secs, output_preview)| TurnEndHandle {
                id,
                tool,
                state,
                elapsed_secs,
                output_preview,
                question: None,
            },
        )
}

pub(crate) fn turn_end_report() -> impl Strategy<Value = TurnEndReport> {
    (
        prop::collection::vec(handle_id(), 0..3),
        prop::collection::vec(handle_id(), 0..3),
        prop::collection::vec(handle_view(), 0..2),
    )
        .prop_map(|(ended, awaited, results)| TurnEndReport {
            ended,
            awaited,
            undecided: Vec::new(),
            kept: Vec::new(),
            results,
        })
}

pub(crate) fn ask() -> impl Strategy<Value = Ask> {
    (
        any::<String>(),
        any::<Option<String>>(),
        maybe(handle_id()),
        any::<String>(),
        question(),
        any::<Option<String>>(),
        any::<bool>(),
    )
        .prop_map(|(ask, call, handle, tool, question, content, rendered)| {
            let mut ask = Ask {
                ask,
                call,
                handle,
                tool,
                question,
                content,
                form: None,
                rendering: None,
            };
            ask.rendering = rendered.then(|| Box::new(RequestRendering::of_question(&ask)));
            ask
        })
}

pub(crate) fn drive_event() -> impl Strategy<Value = DriveEvent> {
    prop_oneof![
        permission_request().prop_map(|request| DriveEvent::Permission { request }),
        ask().prop_map(DriveEvent::Question),
        (
            any::<String>(),
            prop::collection::vec(turn_end_handle(), 0..3)
        )
            .prop_map(|(ask, handles)| DriveEvent::Inquire { ask, handles }),
    ]
}

pub(crate) fn drive_output() -> impl Strategy<Value = DriveOutput> {
    prop_oneof![
        batch_reply().prop_map(DriveOutput::Replies),
        turn_end_report().prop_map(|turn_end| DriveOutput::TurnEnd { turn_end }),
        drive_event().prop_map(|event| DriveOutput::Event(Box::new(event))),
        any::<String>().prop_map(|error| DriveOutput::Error { error }),
    ]
}
