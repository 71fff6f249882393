use insta::assert_snapshot;

use super::*;

#[test]
fn every_name_is_read_back() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.to_string().parse(), Ok(dialect));
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let error = "openapi".parse::<Dialect>().unwrap_err();
    assert_snapshot!(
        error.to_string(),
        @"`openapi` is not a schema dialect; use one of json-schema, anthropic, openai, openai-strict, gemini, gemini-legacy, mcp, ollama, llama-cpp"
    );
}
