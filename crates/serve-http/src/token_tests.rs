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
    assert!(token.is(token.as_str()));
    assert!(!token.is(""));
    assert!(!token.is(&token.as_str()[1..]));
    let other = Token::load(&folder.path().join("other")).unwrap();
    assert!(!token.is(other.as_str()));
}

#[test]
fn a_file_without_a_token_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "").unwrap();
    assert!(Token::load(&path).is_err());
}
