//! Prompts, resources and completions, which others have: the MCP servers
//! whose tools are offered here.

use async_trait::async_trait;
use rmcp::ErrorData;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A request for something that is no tool. Parameters and answers are as the
/// protocol has them.
#[derive(Debug, Clone)]
pub enum UpstreamRequest {
    /// All prompts; a list.
    Prompts,
    /// One prompt.
    Prompt(Value),
    /// All resources; a list.
    Resources,
    /// All templates of resources; a list.
    ResourceTemplates,
    /// The contents of a resource.
    Resource(Value),
    /// Completions of an argument.
    Complete(Value),
}

/// Whoever has prompts and resources.
#[async_trait]
pub trait Upstream: Send + Sync + 'static {
    /// Answers a request.
    async fn ask(&self, request: UpstreamRequest) -> Result<Value, ErrorData>;
}

/// Asks for a list, as the field of a result that holds it.
pub(crate) async fn list<T: DeserializeOwned>(
    upstream: &dyn Upstream,
    request: UpstreamRequest,
    field: &str,
) -> Result<T, ErrorData> {
    let items = upstream.ask(request).await?;
    read(json!({ field: items }))
}

/// Reads an answer.
pub(crate) fn read<T: DeserializeOwned>(answer: Value) -> Result<T, ErrorData> {
    serde_json::from_value(answer)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Writes parameters, without what concerns this connection alone.
pub(crate) fn written(params: impl Serialize) -> Result<Value, ErrorData> {
    let mut value = serde_json::to_value(params)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    if let Value::Object(fields) = &mut value {
        fields.remove("_meta");
    }
    Ok(value)
}
