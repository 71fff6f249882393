//! Requests that are passed on to a server as they are: its prompts, its
//! resources and completions.

use rmcp::model::{
    CompleteRequestParams, ErrorData, GetPromptRequestParams, ReadResourceRequestParams,
};
use rmcp::service::ServiceError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ServerError, chain};
use crate::server::Server;

/// A request for something of a server that is no tool, with its parameters as
/// the protocol has them.
#[derive(Debug, Clone)]
pub enum PassedRequest {
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

/// Why a request was not answered.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PassError {
    /// The server answered with an error.
    #[error("{message}")]
    Refused {
        /// The error's code.
        code: i32,
        /// What it says.
        message: String,
        /// What it says besides.
        data: Option<Value>,
    },
    /// The server cannot be reached.
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl Server {
    /// Passes a request on and gives the answer as the protocol has it. The
    /// server is started for it, and stays.
    pub async fn pass(&self, request: PassedRequest) -> Result<Value, PassError> {
        let connection = self.connection().await?;
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
                    written(peer.get_prompt(params).await?)
                }
                PassedRequest::Resource(params) => {
                    let params: ReadResourceRequestParams = read(params)?;
                    written(peer.read_resource(params).await?)
                }
                PassedRequest::Complete(params) => {
                    let params: CompleteRequestParams = read(params)?;
                    written(peer.complete(params).await?)
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

fn read<T: DeserializeOwned>(params: Value) -> Result<T, ServiceError> {
    serde_json::from_value(params)
        .map_err(|error| ServiceError::McpError(ErrorData::invalid_params(error.to_string(), None)))
}

fn written(answer: impl Serialize) -> Result<Value, ServiceError> {
    serde_json::to_value(answer)
        .map_err(|error| ServiceError::McpError(ErrorData::internal_error(error.to_string(), None)))
}
