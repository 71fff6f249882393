use serde_json::json;

use super::*;
use crate::{Attachment, Ending, Exit, Question, ToolEvent, ToolReport};

#[track_caller]
fn round_trip<T>(value: &T)
where
    T: Serialize + for<'a> Deserialize<'a> + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&read, value, "{text}");
}

fn start() -> Start {
    let args = json!({"command": "make", "deep": {"list": [1, null]}});
    Start {
        session: SessionId::from_suffix("1"),
        root: PathBuf::from("/project").into(),
        log: Some(PathBuf::from("/project/1.log").into()),
        handle: Some(HandleId::new("build").unwrap()),
        keep: Some(KeepRequest {
            lease_secs: 60,
            folder: PathBuf::from("/state/held").into(),
            name: "1".to_owned(),
            registration: None,
        }),
        outside: true,
        widenings: Vec::new(),
        tool: Arc::new(ToolDefinition::new("shell")),
        args: serde_json::from_value(args).unwrap(),
    }
}

#[test]
fn a_start_crosses_a_wire() {
    round_trip(&start());
    let one_shot = Start {
        log: None,
        handle: None,
        keep: None,
        outside: false,
        widenings: Vec::new(),
        ..start()
    };
    round_trip(&one_shot);
}

#[test]
fn a_local_path_says_that_it_is_one() {
    let path = LocalPath::from(PathBuf::from("/tmp/x"));
    assert_eq!(
        serde_json::to_value(&path).unwrap(),
        json!({"local": "/tmp/x"})
    );
}

#[test]
fn a_description_crosses_a_wire() {
    round_trip(&JobDescription {
        start: start(),
        key: json!({"holder": 7}),
        at: 1 << 40,
    });
}

#[test]
fn every_report_crosses_a_wire() {
    let ending = Ending {
        exit: Some(Exit::Code(3)),
        left_running: 2,
        attachments: vec![Attachment::file(Path::new("/tmp/a b.png"), "image/png")],
        ..Ending::with(Err(ToolError {
            trace: vec!["why".to_owned()],
            transient: true,
            ..ToolError::new("failed")
        }))
    };
    let events = [
        ToolEvent::Started,
        ToolEvent::Wrote { bytes: 5 },
        ToolEvent::Asked {
            question: Question {
                id: "name".to_owned(),
                text: "Who?".to_owned(),
                pre_amble: None,
                answer_type: crate::AnswerType::Text,
                default: None,
                secret: false,
            },
            content: Some("3 files".to_owned()),
            form: None,
        },
        ToolEvent::Answered,
        ToolEvent::Aborting {
            reason: "enough".to_owned(),
        },
        ToolEvent::Ended(ending),
        ToolEvent::Ended(Ending::output()),
        ToolEvent::Ended(Ending::with(Ok(Some("done".to_owned())))),
    ];
    for event in events {
        round_trip(&ToolReport { at: 7, event });
    }
}

#[test]
fn orders_and_their_errors_cross_a_wire() {
    round_trip(&OrderId("one".into()));
    round_trip(&Keyboard::Bytes(vec![0, 27, 255]));
    round_trip(&Keyboard::Typing(Typing::input("ls")));
    round_trip(&InputError::StdinFull { queued: 9 });
    round_trip(&InputError::Rerun(ToolError::new("gone")));
}

#[test]
fn only_what_ends_a_line_submits() {
    let typing = |input: Option<&str>, enter, keys: &[&str]| {
        Keyboard::Typing(Typing {
            input: input.map(Into::into),
            enter,
            keys: keys.iter().map(|&key| key.to_owned()).collect(),
        })
    };
    assert!(typing(Some("x"), true, &[]).submits());
    assert!(typing(Some("x\n"), false, &[]).submits());
    assert!(typing(None, true, &["enter"]).submits());
    assert!(Keyboard::Bytes(b"x\r".to_vec()).submits());
    assert!(!typing(Some("x"), false, &[]).submits());
    assert!(!typing(None, true, &["tab"]).submits());
    assert!(!Keyboard::Bytes(b"x".to_vec()).submits());
}
