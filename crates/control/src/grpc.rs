//! The runtime over gRPC, at the same port and behind the same access as HTTP.
//!
//! Start at [`routes`]. `proto/tool.proto` is the interface; its code lies in
//! `generated/`, so that nobody needs a compiler for it, and a test says when
//! it is stale. Handlers are in `tools.rs`, `permissions.rs` and `questions.rs`, what they
//! stream in `running.rs` and `watching.rs`, and `words.rs` has the messages.

mod permissions;
mod questions;
mod refusal;
mod running;
mod tools;
mod watching;
mod words;

/// The messages, clients and servers of `proto/tool.proto`, as generated from it.
#[allow(
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    reason = "it is generated"
)]
pub mod proto {
    include!("../generated/opencode.tool.rs");
}

use std::convert::Infallible;

use axum::Router;
use axum::extract::Request;
use axum::response::IntoResponse;
use futures_util::FutureExt as _;
use tonic::server::NamedService;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::{HealthReporter, HealthService};
use tower::Service;

pub(crate) use self::refusal::refused;

use self::permissions::Permissions;
use self::proto::permission_service_server::PermissionServiceServer;
use self::proto::question_service_server::QuestionServiceServer;
use self::proto::tool_service_server::ToolServiceServer;
use self::questions::Questions;
use self::tools::ToolsService;
use crate::api::{Api, BODY};

/// The descriptors for reflection: `tool.proto` and its imports.
const DESCRIPTORS: &[u8] = include_bytes!("../generated/tool.binpb");

/// The services, each at its path.
pub(crate) fn routes(api: &Api) -> Router<Api> {
    let tools = ToolServiceServer::new(ToolsService(api.clone())).max_decoding_message_size(BODY);
    let permissions =
        PermissionServiceServer::new(Permissions(api.clone())).max_decoding_message_size(BODY);
    let questions =
        QuestionServiceServer::new(Questions(api.clone())).max_decoding_message_size(BODY);
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let sound = "the descriptors were written with the code";
    let router = Router::new();
    let router = add(router, tools);
    let router = add(router, permissions);
    let router = add(router, questions);
    let router = add(router, health());
    let router = add(router, reflection().build_v1().expect(sound));
    add(router, reflection().build_v1alpha().expect(sound))
}

/// The standard health service. Whoever can ask it is answered: everything is
/// there as long as the server is.
fn health() -> HealthServer<impl Health> {
    let reporter = HealthReporter::new();
    let ready = async {
        reporter
            .set_serving::<ToolServiceServer<ToolsService>>()
            .await;
        reporter
            .set_serving::<PermissionServiceServer<Permissions>>()
            .await;
        reporter
            .set_serving::<QuestionServiceServer<Questions>>()
            .await;
    };
    // Nobody else has the reporter yet, so there is nothing to wait for.
    let _ = ready.now_or_never();
    HealthServer::new(HealthService::from_health_reporter(reporter))
}

fn add<S>(router: Router<Api>, service: S) -> Router<Api>
where
    S: Service<Request, Error = Infallible> + NamedService + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    router.route_service(&format!("/{}/{{*method}}", S::NAME), service)
}

#[cfg(test)]
#[path = "grpc/generated_tests.rs"]
mod generated_tests;
