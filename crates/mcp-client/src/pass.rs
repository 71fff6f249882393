//! Requests that are passed through to a server: prompts, resources and
//! completions.

use rmcp::model::{
    CompleteRequestParams, ErrorData, GetPromptRequestParams, GetPromptResponse,
    ReadResourceRequestParams, ReadResourceResponse,
};
use rmcp::service::ServiceError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ServerError, chain};
use crate::server::UpstreamServer;
use crate::standing;

/// A request to a server that is not a tool call, with its parameters as in the
/// protocol.
#[derive(Debug, Clone)]
pub enum PassedRequest {
    /// All prompts; a list.
    Prompts,
    Prompt(Value),
    /// All resources; a list.
    Resources,
    /// All templates of resources; a list.
    ResourceTemplates,
    /// The contents of a resource.
    Resource(Value),
    /// Completions of an argument.
    Complete(Value),
    /// The minimum level of log lines.
    LogLevel(Value),
    /// Another client subscribes to a resource, by its URI.
    Subscribe(String),
    /// One client less does.
    Unsubscribe(String),
}

/// Why a request was not answered.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PassError {
    /// The server answered with an error.
    #[error("{message}")]
    Refused {
        code: i32,
        /// The error message.
        message: String,
        /// Additional data of the error.
        data: Option<Value>,
    },
    /// The server cannot be reached.
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl UpstreamServer {
    /// Passes a request through and returns the reply as in the protocol.
    /// Starts the server if needed.
    pub async fn pass(&self, request: PassedRequest) -> Result<Value, PassError> {
        let connection = match &request {
            // No server is started for these.
            PassedRequest::LogLevel(_) | PassedRequest::Unsubscribe(_) => {
                return Ok(self.pass_standing(request).await);
            }
            _ => self.connection().await?,
        };
        let peer = connection.peer();
        let answered = async {
            match request {
                PassedRequest::Prompts => written(peer.list_all_prompts().await?),
                PassedRequest::Resources => written(peer.list_all_resources().await?),
                PassedRequest::ResourceTemplates => {
                    written(peer.list_all_resource_templates().await?)
                }
                PassedRequest::Prompt(params) => {
                    let params: GetPromptRequestParams = read(params)?;
                    match peer.get_prompt_once(params).await? {
                        GetPromptResponse::Complete(result) => written(result),
                        GetPromptResponse::InputRequired(needed) => written(needed),
                        _ => Err(ServiceError::UnexpectedResponse),
                    }
                }
                PassedRequest::Resource(params) => {
                    let params: ReadResourceRequestParams = read(params)?;
                    match peer.read_resource_once(params).await? {
                        ReadResourceResponse::Complete(result) => written(result),
                        ReadResourceResponse::InputRequired(needed) => written(needed),
                        _ => Err(ServiceError::UnexpectedResponse),
                    }
                }
                PassedRequest::Complete(params) => {
                    let params: CompleteRequestParams = read(params)?;
                    written(peer.complete(params).await?)
                }
                PassedRequest::Subscribe(uri) => {
                    let subscribing = self.standing().subscribe(peer, self.news_sender(), uri);
                    written(subscribing.await?)
                }
                PassedRequest::LogLevel(_) | PassedRequest::Unsubscribe(_) => {
                    unreachable!("they have been passed on")
                }
            }
        };
        let answer = tokio::select! {
            biased;
            answer = answered => answer,
            why = connection.gone() => return Err(self.gone(&why).into()),
        };
        answer.map_err(|error| match error {
            ServiceError::McpError(error) => PassError::Refused {
                code: error.code.0,
                message: error.message.into_owned(),
                data: error.data,
            },
            other => PassError::Server(ServerError::List {
                server: self.name().to_owned(),
                why: chain(&other),
            }),
        })
    }
}

impl UpstreamServer {
    /// Stores a lasting request, and passes it on if the server runs.
    async fn pass_standing(&self, request: PassedRequest) -> Value {
        let present = self.present().await;
        match request {
            PassedRequest::LogLevel(level) => {
                if let Ok(level) = serde_json::from_value(level)
                    && self.standing().raise(level)
                    && let Some(connection) = present
                {
                    self.standing().tell_level(connection.peer()).await;
                }
            }
            PassedRequest::Unsubscribe(uri) => {
                if self.standing().release(&uri)
                    && let Some(connection) = present
                {
                    // A server that is gone has forgotten it.
                    let _ = standing::unsubscribe(connection.peer(), &uri).await;
                }
            }
            _ => unreachable!("everything else needs a connection"),
        }
        Value::Null
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, ServiceError> {
    serde_json::from_value(params)
        .map_err(|error| ServiceError::McpError(ErrorData::invalid_params(error.to_string(), None)))
}

fn written(answer: impl Serialize) -> Result<Value, ServiceError> {
    serde_json::to_value(answer)
        .map_err(|error| ServiceError::McpError(ErrorData::internal_error(error.to_string(), None)))
}
