//! Converts our types to opencode's. Pure.

use windlass_protocol::{
    MessageId, MessageInfo, MessagePart, MessageRecord, MessageTime, Millis, PartState,
    PermissionId, PermissionReply, PermissionRequest, Role, SessionId, SessionInfo, SessionRecord,
    project_id,
};

use super::wire::{
    OpencodeAssistantMessage, OpencodeMessage, OpencodeMessageInfo, OpencodeModel, OpencodePath,
    OpencodePermission, OpencodePermissionTime, OpencodeReplied, OpencodeSession,
    OpencodeSessionTime, OpencodeTokens, OpencodeUserMessage,
};

/// The model name for opencode's clients, since the real one is unknown.
const NOBODY: &str = "windlass";

/// A session of the record.
pub(super) fn recorded(record: &SessionRecord) -> OpencodeSession {
    OpencodeSession {
        slug: slug(&record.id),
        id: record.id.clone(),
        project_id: record.project_id.clone(),
        directory: record.directory.clone(),
        title: record.title.clone(),
        version: record.version.clone(),
        time: OpencodeSessionTime {
            created: record.time.created,
            updated: record.time.updated,
        },
    }
}

/// A session that is under way and of which there is no record yet.
pub(super) fn live(info: &SessionInfo) -> OpencodeSession {
    OpencodeSession {
        slug: slug(&info.id),
        id: info.id.clone(),
        project_id: project_id(&info.root),
        directory: info.root.to_string_lossy().into_owned(),
        title: info.front_end.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        time: OpencodeSessionTime {
            created: info.created,
            updated: info.created,
        },
    }
}

fn slug(id: &SessionId) -> String {
    let name = id.as_str();
    let name = name.strip_prefix("ses_").unwrap_or(name);
    name.to_ascii_lowercase()
}

/// The messages of a session, oldest first.
pub(super) fn messages(records: Vec<MessageRecord>, directory: &str) -> Vec<OpencodeMessage> {
    let mut parent = None;
    let mut message = |record: MessageRecord| {
        let info = message_info(record.info, directory, parent.as_ref());
        if let OpencodeMessageInfo::User(user) = &info {
            parent = Some(user.id.clone());
        }
        OpencodeMessage {
            info,
            parts: record.parts,
        }
    };
    records.into_iter().map(&mut message).collect()
}

/// The info of a message. One without a user's message is its own parent, since
/// the field is required.
pub(super) fn message_info(
    info: MessageInfo,
    directory: &str,
    parent: Option<&MessageId>,
) -> OpencodeMessageInfo {
    let model = OpencodeModel {
        provider_id: NOBODY.to_owned(),
        model_id: NOBODY.to_owned(),
    };
    match info.role {
        Role::User => OpencodeMessageInfo::User(OpencodeUserMessage {
            id: info.id,
            session_id: info.session_id,
            time: MessageTime {
                completed: None,
                ..info.time
            },
            agent: NOBODY.to_owned(),
            model,
        }),
        Role::Assistant => OpencodeMessageInfo::Assistant(Box::new(OpencodeAssistantMessage {
            parent_id: parent.unwrap_or(&info.id).clone(),
            id: info.id,
            session_id: info.session_id,
            time: info.time,
            model_id: model.model_id,
            provider_id: model.provider_id,
            mode: NOBODY.to_owned(),
            agent: NOBODY.to_owned(),
            path: OpencodePath {
                cwd: directory.to_owned(),
                root: directory.to_owned(),
            },
            cost: 0.0,
            tokens: OpencodeTokens::default(),
        })),
    }
}

/// A request, for clients of the first generation.
pub(super) fn permission(request: &PermissionRequest, at: Millis) -> OpencodePermission {
    let tool = request.tool.as_ref();
    let patterns = request.patterns.join("; ");
    let title = if patterns.is_empty() {
        request.permission.clone()
    } else {
        format!("{}: {patterns}", request.permission)
    };
    OpencodePermission {
        id: request.id.clone(),
        kind: request.permission.clone(),
        pattern: request.patterns.clone(),
        session_id: request.session_id.clone(),
        message_id: tool.map_or_else(String::new, |tool| tool.message_id.to_string()),
        call_id: tool.map(|tool| tool.call_id.clone()),
        title,
        metadata: request.metadata.clone(),
        time: OpencodePermissionTime { created: at },
    }
}

/// A reply, for both generations. What was withdrawn will not run.
pub(super) fn replied(
    session: SessionId,
    permission: PermissionId,
    reply: Option<PermissionReply>,
) -> OpencodeReplied {
    let reply = reply.unwrap_or(PermissionReply::Reject);
    OpencodeReplied {
        session_id: session,
        request_id: permission.clone(),
        reply,
        permission_id: permission,
        response: reply,
    }
}

/// How far a part has come; it never goes back.
pub(super) fn rank(state: &PartState) -> u8 {
    match state {
        PartState::Pending(_) => 0,
        PartState::Running(_) => 1,
        PartState::Completed(_) | PartState::Error(_) => 2,
    }
}

/// When the last of a message's calls was answered, once all are.
pub(super) fn completed(parts: &[MessagePart]) -> Option<Millis> {
    let mut last = None;
    for part in parts {
        let MessagePart::Tool(part) = part else {
            continue;
        };
        let end = match &part.state {
            PartState::Completed(state) => state.time.end,
            PartState::Error(state) => state.time.end,
            PartState::Pending(_) | PartState::Running(_) => return None,
        };
        last = last.max(Some(end));
    }
    last
}
