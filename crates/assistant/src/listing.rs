//! The models that a provider offers.
//!
//! Start at [`Providers::models`]. It makes a single request without retries,
//! because a person sees the error and can repeat the command.

use std::time::Duration;

use serde_json::Value;
use windlass_providers::ProviderApi;

use crate::error::ModelError;
use crate::model::ModelId;
use crate::provider::{OpenError, Providers};
use crate::remote::RemoteModel;

/// The longest wait for a list.
const WAIT: Duration = Duration::from_secs(10);
/// The longest list that is read, in bytes.
const LONGEST: usize = 8 << 20;

/// A provider did not list its models.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListModelsError {
    /// The provider cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The provider returned no list.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Providers {
    /// The names of the models that a provider offers now, in its own order.
    pub async fn models(&self, provider: &str) -> Result<Vec<String>, ListModelsError> {
        let endpoint = self.endpoint(provider).await?;
        let api = endpoint.api;
        let id = ModelId {
            provider: provider.to_owned(),
            name: String::new(),
        };
        let model = RemoteModel::new(id, endpoint).map_err(OpenError::from)?;
        let listed = model.get(list_path(api), WAIT, LONGEST).await?;
        Ok(names(api, &listed))
    }
}

fn list_path(api: ProviderApi) -> &'static str {
    match api {
        ProviderApi::Anthropic => "/v1/models?limit=1000",
        ProviderApi::Responses | ProviderApi::Chat => "/models",
        ProviderApi::Gemini => "/v1beta/models?pageSize=1000",
        ProviderApi::Ollama => "/api/tags",
    }
}

/// The names in a provider's list.
fn names(api: ProviderApi, listed: &Value) -> Vec<String> {
    let (list, key) = match api {
        ProviderApi::Anthropic | ProviderApi::Responses | ProviderApi::Chat => ("data", "id"),
        ProviderApi::Gemini | ProviderApi::Ollama => ("models", "name"),
    };
    let models = listed[list].as_array().into_iter().flatten();
    let names = models.filter_map(|model| model[key].as_str());
    names
        .map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned())
        .collect()
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
