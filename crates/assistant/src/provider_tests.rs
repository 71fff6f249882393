use insta::assert_snapshot;

use super::*;

fn providers(variables: &[(&str, &str)]) -> Providers {
    let variables: Vec<(String, String)> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let read = move |name: &str| {
        let mut variables = variables.iter();
        variables
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    Providers::new(IndexMap::new(), Arc::new(read))
}

async fn error(variables: &[(&str, &str)], model: &str) -> String {
    let opened = providers(variables).open(model).await;
    opened
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[tokio::test]
async fn a_missing_key_names_its_variable_and_who_needs_none() {
    assert_snapshot!(
        error(&[], "anthropic/x").await,
        @"`anthropic` needs a key: set `ANTHROPIC_API_KEY`; these providers need none: ollama, llamacpp, lmstudio, vllm"
    );
    assert_snapshot!(
        error(&[("GEMINI_API_KEY", "  ")], "gemini/x").await,
        @"`gemini` needs a key: set `GEMINI_API_KEY` or `GOOGLE_API_KEY`; these providers need none: ollama, llamacpp, lmstudio, vllm"
    );
}

#[tokio::test]
async fn a_name_without_a_provider_is_refused() {
    assert_snapshot!(
        error(&[], "gpt").await,
        @"`gpt` is not a model; write provider/name, such as `anthropic/claude-sonnet-4-5`"
    );
    assert!(
        error(&[], "nobody/x")
            .await
            .starts_with("there is no provider `nobody`")
    );
}

#[tokio::test]
async fn base_urls_come_from_the_environment() {
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", "http://localhost:1/v1"),
        ("OLLAMA_HOST", "0.0.0.0"),
    ];
    let providers = providers(&variables);
    let endpoint = providers.endpoint("openai").await.unwrap();
    assert_eq!(endpoint.base_url, "http://localhost:1/v1");
    let endpoint = providers.endpoint("ollama").await.unwrap();
    assert_eq!(endpoint.base_url, "http://127.0.0.1:11434");
    assert_eq!(endpoint.key, None);
}

#[tokio::test]
async fn a_command_gives_the_key() {
    let mut settings = IndexMap::new();
    let told = ProviderSettings {
        has_key_command: true,
        ..ProviderSettings::default()
    };
    settings.insert("openai".to_owned(), told);
    let providers =
        Providers::new(settings, Arc::new(|_| None)).with_key_command(Arc::new(|provider| {
            Box::pin(async move { Ok(Secret::new(format!("{provider}-key\n"))) })
        }));
    let endpoint = providers.endpoint("openai").await.unwrap();
    assert_eq!(endpoint.key, Some(Secret::new("openai-key")));
}

#[test]
fn a_key_is_never_printed() {
    let key = Secret::new("sk-123456");
    assert_eq!(format!("{key:?}"), "Secret(…)");
    assert_eq!(key.conceal("bad key sk-123456 given"), "bad key … given");
}
