use windlass_protocol::SessionInfo;
use windlass_runtime::{Catalogue, Runtime, SessionOptions};

use super::*;
use crate::client::peers;

#[tokio::test]
async fn a_socket_is_this_users_alone_and_gone_with_its_runtime() {
    let state = tempfile::tempdir().unwrap();
    let folder = run_dir(state.path());
    let runtime = Runtime::new(Catalogue::new());
    let session = runtime.session(SessionOptions::default());
    let socket = ControlSocket::listen(&folder, &Api::new(&runtime, "drive"), |_| false).unwrap();

    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(socket.path()), 0o600);
    assert_eq!(mode(&folder), 0o700);
    let found = peers(&folder).await;
    assert_eq!(found.len(), 1);
    let sessions: Vec<SessionInfo> = found[0].get("/api/v1/sessions").await.unwrap();
    assert_eq!(sessions[0].id, *session.id());
    assert_eq!(sessions[0].front_end, "drive");

    drop(socket);
    assert!(peers(&folder).await.is_empty());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[tokio::test]
async fn a_tool_is_answered_that_it_may_not_ask() {
    let state = tempfile::tempdir().unwrap();
    let folder = run_dir(state.path());
    let runtime = Runtime::new(Catalogue::new());
    let _session = runtime.session(SessionOptions::default());
    let _socket = ControlSocket::listen(&folder, &Api::new(&runtime, "drive"), |_| true).unwrap();
    let found = peers(&folder).await;
    let refused = found[0].get::<Vec<SessionInfo>>("/api/v1/sessions").await;
    let refused = refused.unwrap_err().to_string();
    assert_eq!(refused, "this is for the person, and a tool asks");
}

#[tokio::test]
async fn a_path_may_be_longer_than_a_socket_address() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("x".repeat(120)).join("run");
    let runtime = Runtime::new(Catalogue::new());
    let _socket = ControlSocket::listen(&folder, &Api::new(&runtime, "drive"), |_| false).unwrap();
    let found = peers(&folder).await;
    let sessions: Vec<SessionInfo> = found[0].get("/api/v1/sessions").await.unwrap();
    assert!(sessions.is_empty());
}
