//! Parts, permissions and notices.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use windlass_protocol::{
    FilePart, Millis, Notice, NoticeKind, NoticeLevel, PartState, PartTime, PartTimeWithEnd,
    PermissionAnswer, PermissionReply, PermissionRequest, PermissionToolContext, StateCompleted,
    StateError, StatePending, StateRunning, ToolPart,
};

use super::{
    arguments, handle_id, maybe, message_id, part_id, permission_id, session_id, some_value, texts,
};

pub(crate) fn millis() -> impl Strategy<Value = Millis> {
    any::<u64>().prop_map(Millis)
}

pub(crate) fn part_time() -> impl Strategy<Value = PartTime> {
    millis().prop_map(|start| PartTime { start })
}

pub(crate) fn part_time_with_end() -> impl Strategy<Value = PartTimeWithEnd> {
    (millis(), millis(), maybe(millis())).prop_map(|(start, end, compacted)| PartTimeWithEnd {
        start,
        end,
        compacted,
    })
}

pub(crate) fn state_pending() -> impl Strategy<Value = StatePending> {
    (arguments(), any::<String>()).prop_map(|(input, raw)| StatePending {
        input: Arc::new(input),
        raw: raw.into(),
    })
}

pub(crate) fn state_running() -> impl Strategy<Value = StateRunning> {
    (
        arguments(),
        any::<Option<String>>(),
        maybe(arguments()),
        part_time(),
    )
        .prop_map(|(input, title, metadata, time)| StateRunning {
            input: Arc::new(input),
            title,
            metadata,
            time,
        })
}

pub(crate) fn state_completed() -> impl Strategy<Value = StateCompleted> {
    (
        arguments(),
        any::<String>(),
        any::<String>(),
        arguments(),
        part_time_with_end(),
        maybe(prop::collection::vec(file_part(), 0..2)),
    )
        .prop_map(
            |(input, output, title, metadata, time, attachments)| StateCompleted {
                input: Arc::new(input),
                output,
                title,
                metadata,
                time,
                attachments,
            },
        )
}

pub(crate) fn state_error() -> impl Strategy<Value = StateError> {
    (
        arguments(),
        any::<String>(),
        maybe(arguments()),
        part_time_with_end(),
    )
        .prop_map(|(input, error, metadata, time)| StateError {
            input: Arc::new(input),
            error,
            metadata,
            time,
        })
}

pub(crate) fn part_state() -> impl Strategy<Value = PartState> {
    prop_oneof![
        state_pending().prop_map(PartState::Pending),
        state_running().prop_map(PartState::Running),
        state_completed().prop_map(PartState::Completed),
        state_error().prop_map(PartState::Error),
    ]
}

pub(crate) fn tool_part() -> impl Strategy<Value = ToolPart> {
    (
        part_id(),
        session_id(),
        message_id(),
        any::<String>(),
        any::<String>(),
        part_state(),
        maybe(arguments()),
    )
        .prop_map(
            |(id, session_id, message_id, call_id, tool, state, metadata)| ToolPart {
                id,
                session_id,
                message_id,
                call_id,
                tool,
                state,
                metadata,
            },
        )
}

pub(crate) fn file_part() -> impl Strategy<Value = FilePart> {
    (
        part_id(),
        session_id(),
        message_id(),
        any::<String>(),
        any::<Option<String>>(),
        any::<String>(),
        maybe(some_value()),
    )
        .prop_map(
            |(id, session_id, message_id, mime, filename, url, source)| FilePart {
                id,
                session_id,
                message_id,
                mime,
                filename,
                url,
                source,
            },
        )
}

pub(crate) fn permission_tool_context() -> impl Strategy<Value = PermissionToolContext> {
    (message_id(), any::<String>()).prop_map(|(message_id, call_id)| PermissionToolContext {
        message_id,
        call_id,
    })
}

pub(crate) fn permission_request() -> impl Strategy<Value = PermissionRequest> {
    (
        permission_id(),
        session_id(),
        any::<String>(),
        texts(),
        arguments(),
        texts(),
        maybe(permission_tool_context()),
    )
        .prop_map(
            |(id, session_id, permission, patterns, metadata, always, tool)| PermissionRequest {
                id,
                session_id,
                permission,
                patterns,
                metadata,
                always,
                tool,
            },
        )
}

pub(crate) fn permission_reply() -> impl Strategy<Value = PermissionReply> {
    select(vec![
        PermissionReply::Once,
        PermissionReply::Always,
        PermissionReply::Reject,
    ])
}

pub(crate) fn permission_answer() -> impl Strategy<Value = PermissionAnswer> {
    (
        permission_reply(),
        any::<Option<String>>(),
        maybe(arguments()),
    )
        .prop_map(|(reply, message, arguments)| PermissionAnswer {
            reply,
            message,
            arguments,
        })
}

pub(crate) fn notice_level() -> impl Strategy<Value = NoticeLevel> {
    select(vec![
        NoticeLevel::Info,
        NoticeLevel::Warning,
        NoticeLevel::Error,
        NoticeLevel::Critical,
    ])
}

pub(crate) fn notice_kind() -> impl Strategy<Value = NoticeKind> {
    select(vec![
        NoticeKind::Success,
        NoticeKind::Failure,
        NoticeKind::Waiting,
        NoticeKind::Content,
        NoticeKind::LeftRunning,
        NoticeKind::Server,
        NoticeKind::Edited,
        NoticeKind::Trust,
        NoticeKind::Sandbox,
    ])
}

pub(crate) fn notice() -> impl Strategy<Value = Notice> {
    (
        notice_level(),
        notice_kind(),
        maybe(handle_id()),
        any::<Option<String>>(),
        any::<String>(),
    )
        .prop_map(|(level, kind, handle, tool, text)| Notice {
            level,
            kind,
            handle,
            tool,
            text,
        })
}
