use windlass_process::LauncherOptions;

use super::*;

fn describer(root: &Path) -> Describer {
    Describer {
        launcher: Launcher::new(LauncherOptions::default()).unwrap(),
        root: root.to_owned(),
        workspace_id: Some("w".to_owned()),
    }
}

fn question(describer: &Describer, words: &[&str], shell: bool) -> SchemaQuestion {
    let command = LocalCommand {
        program: words[0].to_owned(),
        args: words[1..].iter().map(|&word| word.to_owned()).collect(),
        shell,
    };
    describer.question(&command).unwrap()
}

fn files(seal: &Value) -> Vec<String> {
    let files = seal["files"].as_array().unwrap().iter();
    let name = |file: &Value| {
        let path = PathBuf::from(file[0].as_str().unwrap());
        path.file_name().unwrap().to_string_lossy().into_owned()
    };
    files.map(name).collect()
}

#[test]
fn one_command_is_one_question_whatever_the_tool() {
    let root = tempfile::tempdir().unwrap();
    let describer = describer(root.path());
    let ask = |word| question(&describer, &["it", "{{context}}", word], false);
    assert_eq!(ask("{{tool}}"), ask("{{tool}}"));
    assert_ne!(ask("{{tool}}"), ask("-v"));
}

#[test]
fn an_answer_depends_on_every_file_that_the_command_names() {
    let root = tempfile::tempdir().unwrap();
    for name in ["tool", "script.py"] {
        std::fs::write(root.path().join(name), "x").unwrap();
    }
    let make_executable = |name: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(root.path().join(name), mode).unwrap();
    };
    make_executable("tool");
    let describer = describer(root.path());
    let sealed = |words: &[&str], shell| describer.seal(&question(&describer, words, shell));
    let direct = sealed(&["./tool", "script.py", "missing.py"], false).unwrap();
    assert_eq!(files(&direct), ["tool", "script.py"]);
    let line = sealed(&["./tool script.py | cat"], true).unwrap();
    assert_eq!(files(&line), ["tool", "script.py"]);
    assert_eq!(sealed(&["./missing"], false), None);
    assert_eq!(
        sealed(&["./tool", "script.py", "missing.py"], false),
        Some(direct.clone())
    );
    std::fs::write(root.path().join("script.py"), "longer").unwrap();
    assert_ne!(
        sealed(&["./tool", "script.py", "missing.py"], false),
        Some(direct)
    );
}
