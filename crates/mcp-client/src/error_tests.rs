use super::*;

#[test]
fn an_error_names_none_of_our_types() {
    let told = "Send message error Transport [a::B<c::D>] error: Client error: refused, when send initialize request";
    assert_eq!(without_types(told), "Client error: refused");
    assert_eq!(without_types("plain"), "plain");
}

#[test]
fn a_server_that_wants_authorization_says_what_is_missing() {
    let refused = std::io::Error::other("Transport [x] error: Auth required");
    let told = not_reached("docs", &refused).to_string();
    for wanted in [
        "`docs`",
        "HTTP 401",
        "Authorization",
        "[providers.mcp.docs]",
    ] {
        assert!(told.contains(wanted), "{told}");
    }
    let scoped = InsufficientScopeError::new("Bearer …".to_owned(), Some("files:read".to_owned()));
    let told = not_reached("docs", &scoped).to_string();
    assert!(told.contains("lack the scope `files:read`"), "{told}");
    let other = std::io::Error::other("HTTP 500");
    assert!(matches!(
        not_reached("docs", &other),
        ServerError::Handshake { .. }
    ));
}
