//! The description of the interface, in `OpenAPI` 3.1.
//!
//! Start at [`openapi`]. What there is stands in `operations.rs`; what bodies
//! look like is made from the protocol's types. Tests hold the table and the
//! router together, and the repository's `openapi.json` to both.

mod operation;
mod operations;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use operations::operations;

/// The description, as it is served at `/openapi.json`.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for operation in operations() {
        let described = operation.describe(&mut generator);
        let path = paths.entry(operation.path).or_default();
        path.insert(operation.method.to_owned(), described);
    }
    let responses = operation::refusals(&mut generator);
    let token = "The token that the server makes at its first start. A control socket needs none.";
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Windlass",
            "description": "A stateful tool runtime for AI assistants.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "responses": responses,
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": token },
            },
        },
    })
}

/// Answers with the description.
pub(crate) async fn show() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| openapi().to_string());
    ([(CONTENT_TYPE, "application/json")], text.as_str()).into_response()
}

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;
