use super::*;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

fn named(root: &Path, config: &str) -> Vec<PathBuf> {
    named_by_config(config, &root.join(".git"), root)
}

#[test]
fn folders_of_hooks_and_included_files_count_within_the_project() {
    let root = Path::new("/p");
    for (config, expected) in [
        ("[core]\n\thooksPath = .githooks\n", vec!["/p/.githooks"]),
        ("[core] hooksPath = \".husky/_\"\n", vec!["/p/.husky"]),
        ("[core]\n\thooksPath = /etc/hooks\n", vec![]),
        ("[core]\n\thooksPath = ../x\n", vec![]),
        ("[include]\n\tpath = ../.gitconfig\n", vec!["/p/.gitconfig"]),
        (
            "[includeIf \"onbranch:x\"]\n\tpath = ../a/b\n",
            vec!["/p/a/b"],
        ),
        ("[remote \"x\"]\n\tpath = ../a\n", vec![]),
    ] {
        let expected: Vec<PathBuf> = expected.into_iter().map(PathBuf::from).collect();
        assert_eq!(named(root, config), expected, "{config}");
    }
}

#[test]
fn submodules_and_linked_work_trees_have_deciding_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let git = root.join(".git");
    assert_eq!(deciding_files(&git, root), [] as [PathBuf; 0]);
    write(&git.join("HEAD"), "");
    write(&git.join("worktrees/w/HEAD"), "");
    write(&git.join("modules/libs/inner/HEAD"), "");
    write(&git.join("modules/libs/inner/modules/deep/HEAD"), "");
    let found = deciding_files(&git, root);
    for name in [
        "commondir",
        "worktrees/w/commondir",
        "modules/libs/inner/config",
        "modules/libs/inner/hooks",
        "modules/libs/inner/modules/deep/commondir",
    ] {
        assert!(found.contains(&git.join(name)), "{name}: {found:?}");
    }
}
