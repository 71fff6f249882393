use super::*;

#[test]
fn a_linked_work_tree_is_known_only_by_its_repository() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("a path");
    let own = base.join("main/.git/worktrees/w");
    let root = base.join("w");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::create_dir_all(&root).expect("a folder");
    let write = |path: &Path, text: &str| std::fs::write(path, text).expect("a file");
    write(&root.join(".git"), &format!("gitdir: {}\n", own.display()));
    write(&own.join("commondir"), "../..\n");
    assert_eq!(linked_git_folders(&root), [] as [PathBuf; 0]);
    write(
        &own.join("gitdir"),
        &format!("{}\n", root.join(".git").display()),
    );
    assert_eq!(linked_git_folders(&root), [base.join("main/.git")]);
    // One that leads elsewhere.
    write(&root.join(".git"), &format!("gitdir: {}\n", base.display()));
    assert_eq!(linked_git_folders(&root), [] as [PathBuf; 0]);
}
