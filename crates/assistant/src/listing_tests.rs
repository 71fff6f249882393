use serde_json::json;

use super::*;

#[test]
fn every_api_lists_its_models_in_its_own_way() {
    let of = |api, listed: Value| names(api, &listed).join(" ");
    let data = json!({"data": [{"id": "a"}, {"id": "b/c"}, {"object": "model"}]});
    assert_eq!(of(ProviderApi::Anthropic, data.clone()), "a b/c");
    assert_eq!(of(ProviderApi::Responses, data.clone()), "a b/c");
    assert_eq!(of(ProviderApi::Chat, data), "a b/c");
    let gemini = json!({"models": [{"name": "models/gemini-flash"}]});
    assert_eq!(of(ProviderApi::Gemini, gemini), "gemini-flash");
    let ollama = json!({"models": [{"name": "qwen3:8b", "size": 1}]});
    assert_eq!(of(ProviderApi::Ollama, ollama), "qwen3:8b");
    assert_eq!(of(ProviderApi::Ollama, json!(["no list"])), "");
}
