use super::*;

#[tokio::test]
async fn text_of_login_scripts_is_passed_over() {
    let text = b"Welcome!\nmotd windlass-install:no\nwindlass-install:found Linux x86_64\r\nrest";
    let mut stdout = &text[..];
    let mut lines = MarkedLines {
        stdout: &mut stdout,
        passed: 0,
    };
    let Ok(line) = lines.next().await else {
        panic!("there is a line");
    };
    assert_eq!(line, "found Linux x86_64");
    assert_eq!(stdout, b"rest");
}

#[test]
fn a_checksum_is_that_of_the_file() {
    let folder = std::env::temp_dir().join(format!("windlass-checksum-{}", std::process::id()));
    std::fs::write(&folder, "abc").unwrap();
    let binary = OwnBinary::read(&folder);
    std::fs::remove_file(&folder).unwrap();
    let binary = binary.unwrap();
    assert_eq!(binary.size, 3);
    assert_eq!(
        binary.checksum,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}
