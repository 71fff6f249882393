use super::*;

#[test]
fn a_client_is_found_by_the_beginning_of_its_name() {
    let usual = McpOptions::default();
    for (name, structured) in [
        (Some("claude-code"), true),
        (Some("Cline"), false),
        (Some("qwen-code-mcp-client"), false),
        (None, true),
    ] {
        assert_eq!(
            ClientTraits::of(name).is_structured(&usual),
            structured,
            "{name:?}"
        );
    }
    let always = McpOptions {
        structured: Some(true),
        ..McpOptions::default()
    };
    assert!(ClientTraits::of(Some("cline")).is_structured(&always));
}

#[test]
fn a_client_that_declines_by_itself_is_given_more_time_for_it() {
    let codex = ClientTraits::of(Some("codex-mcp-client"));
    assert!(codex.reading > ClientTraits::of(Some("claude-code")).reading);
}

#[test]
fn a_call_becomes_a_task_when_it_would_have_become_a_handle() {
    let client = ClientTraits::of(Some("claude-code"));
    let mut options = McpOptions::default();
    assert_eq!(client.task_after(&options, true), Some(options.max_block));
    assert_eq!(client.task_after(&options, false), Some(options.max_block));
    options.tasks = TaskPolicy::Never;
    assert_eq!(client.task_after(&options, true), None);
    let long = Duration::from_mins(5);
    options.tasks = TaskPolicy::After(long);
    assert_eq!(client.task_after(&options, true), Some(long));
    // This one gives up before.
    assert_eq!(client.task_after(&options, false), Some(options.max_block));
}
