//! The description: fresh, sound, and of every route there is.

use std::collections::BTreeSet;
#[cfg(feature = "opencode")]
use std::path::{Path, PathBuf};

use axum::Router;
use axum::http::{Request, StatusCode};
use regex::Regex;
use tower::ServiceExt;

use super::*;
use crate::stage::Stage;

/// What is routed and there to be looked at.
const LOOKED_AT: [&str; 1] = ["/"];

/// It is described elsewhere, or nothing that could be described: services of
/// gRPC tell about themselves, and files are what they are.
fn is_beside(path: &str) -> bool {
    path.contains("{*") || LOOKED_AT.contains(&path)
}

const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

#[cfg(feature = "opencode")]
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi.json")
}

/// With `WINDLASS_GENERATE=1` it is written instead. It describes a build with
/// all features.
#[cfg(feature = "opencode")]
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

#[test]
fn no_alternative_is_more_than_a_reference_or_a_schema() {
    let openapi = openapi();
    let schemas = openapi["components"]["schemas"].as_object().unwrap();
    let of = |name: &str| schemas[name]["properties"]["status"]["const"].clone();
    assert_eq!(of("StateRunning"), "running");
    for (name, schema) in schemas {
        for alternative in schema["oneOf"].as_array().into_iter().flatten() {
            let keys = alternative.as_object().unwrap().keys();
            let is_mixed = alternative["$ref"].is_string() && keys.len() > 1;
            assert!(!is_mixed, "{name}: {alternative}");
        }
    }
}

/// A schema that several alternatives share has no tag of its own.
#[test]
fn alternatives_that_share_a_schema_are_told_apart() {
    let openapi = openapi();
    let schemas = openapi["components"]["schemas"].as_object().unwrap();
    assert!(schemas["ToolPlace"]["properties"]["type"].is_null());
    for (name, schema) in schemas {
        let alternatives = schema["oneOf"].as_array().into_iter().flatten();
        let mut seen = BTreeSet::new();
        for path in alternatives.filter_map(|alternative| alternative["$ref"].as_str()) {
            assert!(seen.insert(path), "{name} has {path} twice");
        }
    }
    let events = schemas["StreamedEvent"]["oneOf"].as_array().unwrap();
    for tag in ["started", "answered"] {
        let is_it = |event: &&Value| event["properties"]["type"]["const"] == tag;
        assert_eq!(events.iter().filter(is_it).count(), 1, "{tag}");
    }
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
    let mut found = BTreeSet::new();
    for path in &paths {
        if is_beside(path) {
            continue;
        }
        for method in methods(&router, path).await {
            found.insert(format!("{method} {path}"));
        }
    }
    assert_eq!(found, described());
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

/// Every schema below a key that holds one, with its path.
fn visit(path: &str, value: &Value, look: &mut dyn FnMut(&str, &Value)) {
    look(path, value);
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                visit(&format!("{path}/{key}"), value, look);
            }
        }
        Value::Array(items) => {
            for (place, value) in items.iter().enumerate() {
                visit(&format!("{path}/{place}"), value, look);
            }
        }
        _ => {}
    }
}

#[test]
fn generators_of_clients_understand_every_schema() {
    visit("", &openapi(), &mut |path, value| {
        for key in ["schema", "items"] {
            assert_ne!(value.get(key), Some(&json!(true)), "{path}/{key}");
        }
        if value.get("prefixItems").is_some() {
            assert!(value.get("items").is_some(), "{path} has no items");
        }
    });
}
