use windlass_config::{ProjectProgram, ProjectText};

use super::*;

fn content(text: &str, program: Option<&str>) -> ProjectContent {
    ProjectContent {
        root: "/project".into(),
        texts: vec![ProjectText {
            path: ".windlass/config.toml".into(),
            text: text.to_owned(),
        }],
        programs: vec![ProjectProgram {
            path: "run.sh".into(),
            digest: program.map(str::to_owned),
        }],
    }
}

#[test]
fn exactly_the_content_that_was_trusted_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let store = TrustStore::in_folder(folder.path().join("trust"));
    let (one, other) = (content("a\n", Some("1")), content("b\n", Some("1")));
    assert!(!store.is_trusted(&one));
    store.trust(&one).unwrap();
    assert!(store.is_trusted(&one));
    assert!(!store.is_trusted(&other));
    assert!(!store.is_trusted(&content("a\n", Some("2"))));
    let elsewhere = ProjectContent {
        root: "/elsewhere".into(),
        ..one.clone()
    };
    assert!(!store.is_trusted(&elsewhere));
    assert_eq!(store.list().len(), 1);
    assert!(store.forget(&one.root).unwrap());
    assert!(!store.forget(&one.root).unwrap());
    assert!(!store.is_trusted(&one));
}

#[test]
fn a_no_is_remembered_for_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let store = TrustStore::in_folder(folder.path());
    let (one, other) = (content("a\n", None), content("b\n", None));
    store.decline(&one).unwrap();
    assert!(store.is_declined(&one) && !store.is_declined(&other));
    assert!(!store.is_trusted(&one));
    store.trust(&one).unwrap();
    assert!(store.is_trusted(&one) && !store.is_declined(&one));
}

#[test]
fn a_change_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let store = TrustStore::in_folder(folder.path());
    store.trust(&content("a\nb\n", Some("1"))).unwrap();
    let record = store.find(Path::new("/project")).unwrap();
    assert_eq!(
        record.difference(&content("a\nc\n", Some("2"))),
        "--- .windlass/config.toml\n+++ .windlass/config.toml\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\
         program run.sh has changed\n"
    );
    assert_eq!(record.difference(&content("a\nb\n", Some("1"))), "");
}

#[test]
fn a_file_that_was_tampered_with_trusts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = TrustStore::in_folder(folder.path());
    let content = content("a\n", None);
    store.trust(&content).unwrap();
    let file = store.file(&content.root);
    std::fs::write(&file, "{}").unwrap();
    assert!(!store.is_trusted(&content));
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(!store.is_trusted(&content) && store.list().is_empty());
}
