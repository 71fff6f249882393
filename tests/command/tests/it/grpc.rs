//! `windlass serve` over gRPC: a generated client, and one that knows nothing
//! but what reflection tells.

use prost_types::value::Kind;
use prost_types::{Struct, Value as AnyValue};
use serde_json::{Value, json};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use windlass_outside::needs;

use self::proto::permission_service_client::PermissionServiceClient;
use self::proto::question_service_client::QuestionServiceClient;
use self::proto::run_calls_response::Update;
use self::proto::tool_part::State;
use self::proto::tool_service_client::ToolServiceClient;
use self::proto::watch_session_response::Event;
use self::proto::{
    AnswerQuestionRequest, AnswerType, CloseSessionRequest, ListQuestionsRequest,
    OpenSessionRequest, PermissionReply, PermissionResponse, Question, RunCallsRequest,
    RunCallsResponse, ToolCall, ToolPart, WatchSessionRequest, WatchSessionResponse,
};
use crate::http_support::Serve;
use crate::support::{DEADLINE, Project, eventually};

/// The messages and clients of `proto/tool.proto`, as generated from it.
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    reason = "it is generated"
)]
mod proto {
    include!("../../../../crates/control/generated/opencode.tool.rs");
}

/// Shows the token with every request.
#[derive(Clone)]
struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = request.metadata_mut();
        metadata.insert("authorization", self.0.clone());
        Ok(request)
    }
}

type Tools = ToolServiceClient<InterceptedService<Channel, Bearer>>;

struct Client {
    tools: Tools,
    permissions: PermissionServiceClient<InterceptedService<Channel, Bearer>>,
    questions: QuestionServiceClient<InterceptedService<Channel, Bearer>>,
}

impl Client {
    async fn new(serve: &Serve) -> Self {
        Self::with_token(serve, &serve.token).await
    }

    async fn with_token(serve: &Serve, token: &str) -> Self {
        let endpoint = Endpoint::new(format!("http://{}", serve.address)).unwrap();
        let channel = endpoint.timeout(DEADLINE).connect().await.unwrap();
        let bearer = Bearer(format!("Bearer {token}").parse().unwrap());
        Self {
            tools: ToolServiceClient::with_interceptor(channel.clone(), bearer.clone()),
            permissions: PermissionServiceClient::with_interceptor(channel.clone(), bearer.clone()),
            questions: QuestionServiceClient::with_interceptor(channel, bearer),
        }
    }

    async fn session(&mut self, trusted: bool) -> String {
        let wanted = OpenSessionRequest {
            trusted,
            idle_secs: None,
        };
        let opened = self.tools.open_session(wanted).await.unwrap();
        opened.into_inner().session_id
    }

    async fn run<const N: usize>(
        &mut self,
        session: &str,
        commands: [&str; N],
    ) -> Streaming<RunCallsResponse> {
        let calls = commands.map(|command| shell(&[("command", text(command))]));
        self.try_run(session, calls.into()).await.unwrap()
    }

    async fn try_run(
        &mut self,
        session: &str,
        calls: Vec<ToolCall>,
    ) -> Result<Streaming<RunCallsResponse>, Status> {
        let request = RunCallsRequest {
            session_id: session.to_owned(),
            calls,
        };
        Ok(self.tools.run_calls(request).await?.into_inner())
    }

    async fn reply(&mut self, session: &str, permission: &str, reply: PermissionReply) {
        let response = PermissionResponse {
            session_id: session.to_owned(),
            permission_id: permission.to_owned(),
            reply: reply.into(),
            message: Some("not today".to_owned()),
            arguments: None,
        };
        let replied = self.permissions.respond_to_permission(response).await;
        replied.unwrap();
    }

    async fn questions(&mut self, session: &str) -> Result<Vec<Question>, Status> {
        let request = ListQuestionsRequest {
            session_id: session.to_owned(),
        };
        let listed = self.questions.list_questions(request).await?;
        Ok(listed.into_inner().questions)
    }

    async fn answer(&mut self, session: &str, id: &str, answer: AnyValue) -> Result<(), Status> {
        let request = AnswerQuestionRequest {
            session_id: session.to_owned(),
            question_id: id.to_owned(),
            answer: Some(answer),
        };
        self.questions.answer_question(request).await.map(drop)
    }

    async fn watch(
        &mut self,
        session: &str,
        after: Option<u64>,
    ) -> Streaming<WatchSessionResponse> {
        let request = WatchSessionRequest {
            session_id: session.to_owned(),
            after,
        };
        let mut stream = self
            .tools
            .watch_session(request)
            .await
            .unwrap()
            .into_inner();
        let first = stream.message().await.unwrap().unwrap();
        assert!(matches!(first.event, Some(Event::Watching(_))), "{first:?}");
        stream
    }
}

fn text(text: &str) -> AnyValue {
    AnyValue {
        kind: Some(Kind::StringValue(text.to_owned())),
    }
}

fn shell(arguments: &[(&str, AnyValue)]) -> ToolCall {
    let fields = arguments.iter().cloned();
    ToolCall {
        call_id: String::new(),
        tool: "shell".to_owned(),
        arguments: Some(Struct {
            fields: fields
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }),
    }
}

async fn next(stream: &mut Streaming<RunCallsResponse>) -> Update {
    let response = stream.message().await.unwrap();
    response.expect("more follows").update.unwrap()
}

/// How far a part has come, and what it says.
fn told(part: &ToolPart) -> (&str, &str) {
    match part.state.as_ref().unwrap() {
        State::Pending(pending) => (&pending.status, &pending.raw),
        State::Running(running) => (&running.status, running.title()),
        State::Completed(completed) => (&completed.status, &completed.output),
        State::Error(error) => (&error.status, &error.error),
    }
}

#[tokio::test]
async fn calls_run_and_their_parts_are_streamed() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut client = Client::new(&serve).await;
    let session = client.session(true).await;
    let mut stream = client.run(&session, ["echo hello", "exit 3"]).await;
    let mut told_of: [Vec<(String, String)>; 2] = [Vec::new(), Vec::new()];
    let reply = loop {
        match next(&mut stream).await {
            Update::Part(part) => {
                assert_eq!((&*part.r#type, &*part.tool), ("tool", "shell"));
                assert_eq!(part.session_id, session);
                let place = part.call_id.parse::<usize>().unwrap() - 1;
                let (status, said) = told(&part);
                told_of[place].push((status.to_owned(), said.to_owned()));
            }
            Update::Reply(reply) => break reply,
            other => panic!("{other:?}"),
        }
    };
    let expected = [
        [
            ("pending", r#"{"command":"echo hello"}"#),
            ("running", "echo hello"),
            ("completed", "hello\n"),
        ],
        [
            ("pending", r#"{"command":"exit 3"}"#),
            ("running", "exit 3"),
            ("error", "exited with code 3"),
        ],
    ];
    for (told, expected) in told_of.iter().zip(expected) {
        let told = told.iter();
        let told: Vec<_> = told.map(|(how, said)| (&**how, &**said)).collect();
        assert_eq!(told, expected);
    }
    assert!(reply.message_id.starts_with("msg_"), "{reply:?}");
    assert_eq!(reply.replies[0].content, Some(text("hello\n")));
    assert!(!reply.replies[0].is_error && reply.replies[1].is_error);
    assert!(stream.message().await.unwrap().is_none());

    let close = CloseSessionRequest {
        session_id: session.clone(),
    };
    client.tools.close_session(close).await.unwrap();
    let gone = client.try_run(&session, vec![shell(&[])]).await;
    assert_eq!(gone.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn whole_numbers_stay_whole_and_handles_are_objects() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut client = Client::new(&serve).await;
    let session = client.session(true).await;
    let rows = AnyValue {
        kind: Some(Kind::NumberValue(11.0)),
    };
    let terminal = AnyValue {
        kind: Some(Kind::BoolValue(true)),
    };
    let spawn = shell(&[
        ("action", text("spawn")),
        ("id", text("size")),
        ("command", text("stty size; exec sleep 1000")),
        ("terminal", terminal),
        ("rows", rows),
    ]);
    let mut stream = client.try_run(&session, vec![spawn]).await.unwrap();
    let reply = loop {
        if let Update::Reply(reply) = next(&mut stream).await {
            break reply;
        }
    };
    let Some(Kind::StructValue(view)) = reply.replies[0].content.clone().unwrap().kind else {
        panic!("{reply:?}");
    };
    assert_eq!(view.fields["id"], text("size"));
    assert_eq!(view.fields["state"], text("running"));
    eventually("it has eleven rows", || {
        let log = serve.get(&format!("/sessions/{session}/handles/size/log"));
        log.body.starts_with("11 ")
    });
}

#[tokio::test]
async fn permission_is_asked_for_and_answered() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut client = Client::new(&serve).await;
    let session = client.session(false).await;
    let both = [
        (PermissionReply::Once, "completed"),
        (PermissionReply::Reject, "error"),
    ];
    for (reply, ending) in both {
        let mut watching = client.watch(&session, None).await;
        let mut stream = client.run(&session, ["echo asked"]).await;
        let asked = loop {
            if let Update::Permission(asked) = next(&mut stream).await {
                break asked;
            }
        };
        assert_eq!(asked.permission, "shell");
        assert_eq!(asked.patterns, ["echo asked"]);
        assert_eq!(asked.session_id, session);
        client.reply(&session, &asked.id, reply).await;
        let mut last = None;
        while let Some(response) = stream.message().await.unwrap() {
            if let Some(Update::Part(part)) = response.update {
                last = Some(part);
            }
        }
        let last = last.unwrap();
        let (status, said) = told(&last);
        assert_eq!(status, ending);
        assert_eq!(said.contains("not today"), ending == "error", "{said}");
        let replied = loop {
            let event = watching.message().await.unwrap().unwrap().event;
            if let Some(Event::PermissionReplied(replied)) = event {
                break replied;
            }
        };
        assert_eq!(
            (replied.permission_id, replied.reply),
            (asked.id, reply.into())
        );
    }
}

/// A tool that asks for a colour.
const PAINT: &str = r#"
[conversation.tools.paint]
command = "sh paint.sh {{tool.answers.colour}}"
parameters = {}
run = "unattended"
"#;
const PAINT_SCRIPT: &str = r#"
if [ -z "$1" ]; then
    echo '{"type": "needs_input", "question": {"id": "colour", "text": "Which?", "answer_type": {"Select": {"options": ["red", "blue"]}}}}'
else
    echo "painted $1"
fi
"#;

#[tokio::test]
async fn questions_are_listed_streamed_and_answered() {
    let project = Project::with_config(PAINT);
    project.write("paint.sh", PAINT_SCRIPT);
    let serve = Serve::start(&project);
    let mut client = Client::new(&serve).await;
    let session = client.session(false).await;
    let mut watching = client.watch(&session, None).await;
    let paint = ToolCall {
        call_id: "c".to_owned(),
        tool: "paint".to_owned(),
        arguments: None,
    };
    let mut stream = client.try_run(&session, vec![paint]).await.unwrap();
    let asked = loop {
        if let Update::Question(asked) = next(&mut stream).await {
            break asked;
        }
    };
    assert_eq!((&*asked.tool, &*asked.name), ("paint", "colour"));
    assert_eq!((&*asked.text, asked.call_id()), ("Which?", "c"));
    assert_eq!(asked.answer_type(), AnswerType::Select);
    assert_eq!(asked.options, ["red", "blue"]);
    assert_eq!(asked.session_id, session);
    for listed in [&*session, ""] {
        let listed = client.questions(listed).await.unwrap();
        assert_eq!(listed, std::slice::from_ref(&asked));
    }
    let unfit = client.answer(&session, &asked.id, text("green")).await;
    assert_eq!(unfit.unwrap_err().code(), Code::InvalidArgument);
    client.answer("", &asked.id, text("blue")).await.unwrap();
    let reply = loop {
        if let Update::Reply(reply) = next(&mut stream).await {
            break reply;
        }
    };
    assert_eq!(reply.replies[0].content, Some(text("painted blue\n")));
    assert!(client.questions(&session).await.unwrap().is_empty());
    let late = client.answer(&session, &asked.id, text("red")).await;
    assert_eq!(late.unwrap_err().code(), Code::FailedPrecondition);
    let mut told = Vec::new();
    while told.len() < 2 {
        match watching.message().await.unwrap().unwrap().event {
            Some(Event::QuestionAsked(question)) => told.push(question.id),
            Some(Event::QuestionClosed(id)) => told.push(id),
            _ => {}
        }
    }
    assert_eq!(told, [asked.id.clone(), asked.id]);
    let nobody = client.questions("ses_nobody").await;
    assert_eq!(nobody.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn questions_of_other_runtimes_are_listed_and_answered() {
    let project = Project::with_config(PAINT);
    project.write("paint.sh", PAINT_SCRIPT);
    let serve = Serve::start(&project);
    let mut drive = project.drive_asking();
    drive.send(&json!([{"tool": "paint", "arguments": {}}]));
    assert_eq!(drive.next()["event"], json!("question"));
    let mut client = Client::new(&serve).await;
    let all = client.questions("").await.unwrap();
    let [asked] = &*all else { panic!("{all:?}") };
    let its = client.questions(&asked.session_id).await.unwrap();
    assert_eq!(its, all);
    let answered = client.answer(&asked.session_id, &asked.id, text("red"));
    answered.await.unwrap();
    let reply = loop {
        let line = drive.next();
        if line["replies"].is_array() {
            break line;
        }
    };
    assert_eq!(reply["replies"][0]["content"], json!("painted red\n"));
}

#[tokio::test]
async fn a_session_is_watched_and_read_on_from_a_number() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut client = Client::new(&serve).await;
    let session = client.session(true).await;
    let mut watching = client.watch(&session, None).await;
    let path = format!("/sessions/{session}");
    serve.call(&path, "shell", json!({"command": "echo one"}));
    let first = watching.message().await.unwrap().unwrap();
    let mut seen = vec![first];
    while !is_completed(seen.last().unwrap()) {
        seen.push(watching.message().await.unwrap().unwrap());
    }
    let mut again = client.watch(&session, Some(seen[0].number)).await;
    for event in &seen[1..] {
        assert_eq!(&again.message().await.unwrap().unwrap(), event);
    }
    assert_eq!(serve.delete(&path).status, 204);
    assert!(watching.message().await.unwrap().is_none());
}

fn is_completed(response: &WatchSessionResponse) -> bool {
    matches!(&response.event, Some(Event::Part(part)) if told(part).0 == "completed")
}

#[tokio::test]
async fn sessions_of_other_runtimes_are_watched_and_answered() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut drive = project.drive_asking();
    let call = json!([{"tool": "shell", "arguments": {"command": "echo far"}}]);
    drive.send(&call);
    let asked = drive.next();
    let id = asked["request"]["id"].as_str().unwrap();
    let session = asked["request"]["sessionID"].as_str().unwrap();
    let mut client = Client::new(&serve).await;
    let mut watching = client.watch(session, Some(0)).await;
    let asking = loop {
        let event = watching.message().await.unwrap().unwrap().event;
        if let Some(Event::PermissionAsked(asking)) = event {
            break asking;
        }
    };
    assert_eq!(asking.id, id);
    client.reply(session, id, PermissionReply::Once).await;
    assert_eq!(drive.next()["replies"][0]["content"], json!("far\n"));
    while !is_completed(&watching.message().await.unwrap().unwrap()) {}
}

#[tokio::test]
async fn a_client_that_goes_away_has_given_up_its_calls() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut client = Client::new(&serve).await;
    let session = client.session(true).await;
    let mut watching = client.watch(&session, None).await;
    let mut stream = client.run(&session, ["touch begun; sleep 1000"]).await;
    while !matches!(&next(&mut stream).await, Update::Part(part) if told(part).0 == "running") {}
    eventually("it runs", || project.root().join("begun").exists());
    drop(stream);
    let ended = loop {
        let response = watching.message().await.unwrap().unwrap();
        if let Some(Event::Part(part)) = response.event
            && told(&part).0 == "error"
        {
            break part;
        }
    };
    assert!(told(&ended).1.contains("cancelled"), "{ended:?}");
}

#[tokio::test]
async fn a_refused_client_gets_grpcs_own_status() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut stranger = Client::with_token(&serve, "x").await;
    let refused = stranger.tools.open_session(OpenSessionRequest::default());
    let refused = refused.await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    assert_eq!(refused.message(), "the token is not this server's");

    let mut client = Client::new(&serve).await;
    let session = client.session(true).await;
    let empty = client.try_run(&session, Vec::new()).await.unwrap_err();
    assert_eq!(empty.code(), Code::InvalidArgument);
    for (session_id, permission_id) in [(&*session, "per_1"), ("", "per_1"), ("", "per/../x")] {
        let response = PermissionResponse {
            session_id: session_id.to_owned(),
            permission_id: permission_id.to_owned(),
            reply: PermissionReply::Once.into(),
            ..PermissionResponse::default()
        };
        let nobody = client.permissions.respond_to_permission(response).await;
        assert_eq!(nobody.unwrap_err().code(), Code::NotFound);
    }
    let unsaid = PermissionResponse {
        permission_id: "per_1".to_owned(),
        ..PermissionResponse::default()
    };
    let unsaid = client.permissions.respond_to_permission(unsaid).await;
    assert_eq!(unsaid.unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn a_client_finds_the_services_by_reflection_alone() {
    needs!("mcp-python");
    let project = Project::new();
    let serve = Serve::start(&project);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/reflect.py");
    let mut client = project.program("mcp-python");
    let output = client
        .arg(script)
        .args([&serve.address, &serve.token])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        said,
        json!({
            "services": [
                "grpc.health.v1.Health",
                "grpc.reflection.v1.ServerReflection",
                "opencode.tool.PermissionService",
                "opencode.tool.QuestionService",
                "opencode.tool.ToolService",
            ],
            "alpha": [
                "grpc.health.v1.Health",
                "grpc.reflection.v1alpha.ServerReflection",
                "opencode.tool.PermissionService",
                "opencode.tool.QuestionService",
                "opencode.tool.ToolService",
            ],
            "stranger": "UNAUTHENTICATED",
            "statuses": ["pending", "running", "completed"],
            "content": "from python\n",
            "no_such_method": "UNIMPLEMENTED",
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_service_says_that_everything_is_there() {
    use tonic_health::ServingStatus;
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;

    let project = Project::new();
    let serve = Serve::start(&project);
    let endpoint = Endpoint::new(format!("http://{}", serve.address)).unwrap();
    let channel = endpoint.timeout(DEADLINE).connect().await.unwrap();
    let bearer = Bearer(format!("Bearer {}", serve.token).parse().unwrap());
    let mut health = HealthClient::with_interceptor(channel, bearer);
    for service in ["", "opencode.tool.ToolService"] {
        let service = service.to_owned();
        let checked = health.check(HealthCheckRequest { service }).await.unwrap();
        assert_eq!(checked.into_inner().status, ServingStatus::Serving as i32);
    }
    let service = "opencode.tool.Nothing".to_owned();
    let unknown = health.check(HealthCheckRequest { service }).await;
    assert_eq!(unknown.unwrap_err().code(), Code::NotFound);
}
