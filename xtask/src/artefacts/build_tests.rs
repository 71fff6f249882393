use super::*;

fn check(folder: &str, bytes: &[u8]) -> bool {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join(folder);
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("windlass");
    std::fs::write(&program, bytes).unwrap();
    there(program, PackingEffort::Least).is_ok()
}

#[test]
fn a_program_that_obeys_tests_is_packed_only_for_tests() {
    for word in TEST_WORDS {
        let program = [b"\x7fELF\0", word, b"\0"].concat();
        assert!(!check("release", &program));
        assert!(!check("dist", &program));
        assert!(check("debug", &program));
    }
    assert!(check("release", b"\x7fELF\0WINDLASS_RUNTIME\0"));
}
