use super::*;

#[test]
fn a_token_is_made_once_and_is_its_owners() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/token");
    let token = Token::load(&path).unwrap();
    assert!(token.as_str().len() >= 43);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    assert!(Token::load(&path).unwrap() == token);
    let other = Token::load(&folder.path().join("other")).unwrap();
    assert!(other != token);
}

#[test]
fn a_request_must_have_exactly_the_token() {
    let text = "0123456789abcdef0123456789abcdef";
    let token = Token::new(text).unwrap();
    let check = |given: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, given.parse().unwrap());
        token.check(&headers)
    };
    for given in ["Bearer", "bearer", "BEARER"] {
        assert_eq!(check(&format!("{given} {text}")), BearerCheck::Accepted);
    }
    for given in ["", "x", &text[1..], &format!("{text}x")] {
        assert_eq!(check(&format!("Bearer {given}")), BearerCheck::Wrong);
    }
    for given in ["", "Bearer", text, &format!("Basic {text}")] {
        assert_eq!(check(given), BearerCheck::Missing, "{given}");
    }
    assert_eq!(token.check(&HeaderMap::new()), BearerCheck::Missing);
}

#[test]
fn a_short_token_is_refused() {
    assert!(Token::new("0123456789abcdef0123456789abcde").is_err());
}

#[test]
fn a_file_without_a_token_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "").unwrap();
    assert!(Token::load(&path).is_err());
}
