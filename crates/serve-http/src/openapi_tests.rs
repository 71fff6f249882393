//! The description: fresh, sound, and of every route there is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::http::{Request, StatusCode};
use regex::Regex;
use tower::ServiceExt;

use super::*;
use crate::stage::Stage;

/// What is routed and described elsewhere, or is there to be looked at: a path,
/// and what is below it where it ends in a slash.
const BESIDE: [&str; 4] = [
    "/grpc.reflection.v1.ServerReflection/",
    "/grpc.reflection.v1alpha.ServerReflection/",
    "/opencode.tool.PermissionService/",
    "/opencode.tool.ToolService/",
];

const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi.json")
}

/// With `WINDLASS_GENERATE=1` it is written instead.
#[test]
fn the_repositorys_openapi_json_is_fresh() {
    let right = format!("{:#}\n", openapi());
    if std::env::var_os("WINDLASS_GENERATE").is_some() {
        std::fs::write(file(), &right).unwrap();
    }
    let there = std::fs::read_to_string(file()).unwrap_or_default();
    assert!(
        there == right,
        "openapi.json is stale; write it with `cargo xtask schemas`"
    );
}

/// `get /path` of every operation that is described.
fn described() -> BTreeSet<String> {
    let openapi = openapi();
    let paths = openapi["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap();
        methods.keys().map(move |method| format!("{method} {path}"))
    });
    operations.collect()
}

/// The paths that a router has. It tells them to nobody but a debugger.
fn paths(router: &Router) -> BTreeSet<String> {
    let seen = format!("{router:?}");
    // What follows is where it leads when nothing fits.
    let seen = seen.split("fallback_router").next().unwrap();
    let path = Regex::new(r#"RouteId\(\d+\): "(/[^"]*)""#).unwrap();
    let paths = path.captures_iter(seen).map(|found| found[1].to_owned());
    paths.collect()
}

/// The methods that a path takes, of those that are not made from others.
async fn methods(router: &Router, path: &str) -> Vec<&'static str> {
    let sample = Regex::new(r"\{[^}]*\}").unwrap().replace_all(path, "x");
    let mut taken = Vec::new();
    for method in METHODS {
        let request = Request::builder()
            .method(method.to_uppercase().as_str())
            .uri(&*sample)
            .body(axum::body::Body::empty())
            .unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        if response.status() != StatusCode::METHOD_NOT_ALLOWED && method != "head" {
            taken.push(method);
        }
    }
    taken
}

#[tokio::test]
async fn every_route_is_described_and_everything_described_is_routed() {
    let stage = Stage::new();
    let router = stage.api.router();
    let paths = paths(&router);
    assert!(paths.len() > 20, "the router shows its paths: {paths:?}");
    let mut routed = BTreeSet::new();
    for path in &paths {
        let is_below = |beside: &&str| beside.len() > 1 && beside.ends_with('/');
        let is_it =
            |beside: &&str| path == *beside || is_below(beside) && path.starts_with(*beside);
        if BESIDE.iter().any(|beside| is_it(beside)) {
            continue;
        }
        for method in methods(&router, path).await {
            routed.insert(format!("{method} {path}"));
        }
    }
    assert_eq!(routed, described());
}

#[tokio::test]
async fn it_is_served() {
    let stage = Stage::new();
    let (status, served) = stage.get("/openapi.json").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(served, openapi());
}

#[test]
fn every_reference_leads_somewhere_and_every_operation_has_its_own_name() {
    let openapi = openapi();
    let text = openapi.to_string();
    let reference = Regex::new(r##""\$ref":"#(/[^"]*)""##).unwrap();
    let mut count = 0;
    for found in reference.captures_iter(&text) {
        assert!(openapi.pointer(&found[1]).is_some(), "{}", &found[1]);
        count += 1;
    }
    assert!(count > 50);
    let id = Regex::new(r#""operationId":"([^"]*)""#).unwrap();
    let ids: Vec<_> = id.captures_iter(&text).map(|id| id[1].to_owned()).collect();
    let unique: BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    assert_eq!(ids.len(), described().len());
}
