//! A model of every provider, behind the scripted server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use windlass_assistant::{
    Endpoint, Model, ModelError, ModelEvent, ModelId, ModelReply, ModelRequest, Patience,
    ProviderApi, RemoteModel, Secret,
};
use windlass_outside::model::{ModelServer, Script, Turn};
use windlass_protocol::TurnEvent;
use windlass_schema::Dialect;

/// Nothing takes longer, however busy the machine is.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

/// Every API, with the path under which its base URL lies.
pub(crate) const APIS: [(ProviderApi, &str, Dialect); 5] = [
    (ProviderApi::Anthropic, "", Dialect::Anthropic),
    (ProviderApi::Responses, "/v1", Dialect::OpenAi),
    (ProviderApi::Chat, "/v1", Dialect::OpenAi),
    (ProviderApi::Gemini, "", Dialect::Gemini),
    (ProviderApi::Ollama, "", Dialect::Ollama),
];

/// A script being said, and the model that says it.
pub(crate) struct Stage {
    pub(crate) server: ModelServer,
    pub(crate) model: Arc<dyn Model>,
}

pub(crate) async fn stage(which: usize, turns: impl IntoIterator<Item = Turn>) -> Stage {
    let script = Script::new(turns);
    let server = ModelServer::start(script).await.unwrap();
    let model = model(&server, which);
    Stage { server, model }
}

pub(crate) fn model(server: &ModelServer, which: usize) -> Arc<dyn Model> {
    model_at(&server.url(), which)
}

pub(crate) fn model_at(url: &str, which: usize) -> Arc<dyn Model> {
    let (api, path, dialect) = APIS[which];
    let id = ModelId {
        provider: match api {
            ProviderApi::Responses => "openai".to_owned(),
            other => other.as_str().to_owned(),
        },
        name: "scripted".to_owned(),
    };
    let endpoint = Endpoint {
        api,
        dialect,
        base_url: format!("{url}{path}"),
        key: Some(Secret::new("sk-secret-key")),
        key_source: "SOME_API_KEY".to_owned(),
        headers: Vec::new(),
        patience: Patience {
            attempts: 3,
            pause: Duration::from_millis(1),
            longest: Duration::from_secs(5),
            silence: DEADLINE,
        },
    };
    Arc::new(RemoteModel::new(id, endpoint).unwrap())
}

/// Asks with a conversation and no tools.
pub(crate) async fn ask(
    model: &dyn Model,
    events: &[Arc<TurnEvent>],
) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    let request = ModelRequest {
        system: "be brief",
        events,
        tools: &[],
        format: None,
        max_tokens: None,
        effort: None,
    };
    let mut stream = model.stream(request);
    let mut heard = Vec::new();
    let mut reply = ModelReply::default();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                heard.push(event.clone());
                reply.take(event);
            }
            Err(error) => return (heard, Err(error)),
        }
    }
    (heard, Ok(reply))
}

pub(crate) fn user(text: &str) -> Arc<TurnEvent> {
    Arc::new(TurnEvent::User {
        text: text.to_owned(),
        notices: Vec::new(),
    })
}
