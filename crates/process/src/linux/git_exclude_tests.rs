use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{add, remove};

const OF_USER: &str = "# mine\n/opencode.json\n*.o";

fn repository(root: &Path) {
    fs::create_dir_all(root.join(".git/info")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(root.join(".git/info/exclude"), OF_USER).unwrap();
}

fn exclude(root: &Path) -> String {
    fs::read_to_string(root.join(".git/info/exclude")).unwrap()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

#[test]
fn a_line_comes_and_goes_with_its_placeholder() {
    let folder = folder();
    let root = folder.path();
    repository(root);
    let (first, second) = (root.join("opencode.json"), root.join("a b/[x]/crushrc"));
    add(&first);
    add(&first);
    assert_eq!(exclude(root), format!("{OF_USER}\n/[o]pencode.json\n"));
    add(&second);
    remove(&first);
    assert_eq!(
        exclude(root),
        format!("{OF_USER}\n/a\\ b/\\[x]/[c]rushrc\n")
    );
    remove(&second);
    remove(&second);
    assert_eq!(exclude(root), format!("{OF_USER}\n"));
}

#[test]
fn a_linked_work_tree_uses_the_file_of_its_repository() {
    let folder = folder();
    let (root, tree) = (folder.path().join("main"), folder.path().join("tree"));
    repository(&root);
    let own = root.join(".git/worktrees/tree");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    add(&tree.join("opencode.json"));
    assert_eq!(exclude(&root), format!("{OF_USER}\n/[o]pencode.json\n"));
}

#[test]
fn no_other_file_is_written() {
    let folder = folder();
    let root = folder.path().join("project");
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("exclude"), "profile").unwrap();
    for attack in ["exclude", "info", "hard link", "folder", "pipe"] {
        let _ = fs::remove_dir_all(&root);
        repository(&root);
        let info = root.join(".git/info");
        fs::remove_dir_all(&info).unwrap();
        if attack != "info" {
            fs::create_dir(&info).unwrap();
        }
        let file = info.join("exclude");
        match attack {
            "exclude" => symlink(outside.join("exclude"), file).unwrap(),
            "info" => symlink(&outside, info).unwrap(),
            "hard link" => fs::hard_link(outside.join("exclude"), file).unwrap(),
            "folder" => fs::create_dir(file).unwrap(),
            _ => {
                let mode = rustix::fs::Mode::RWXU;
                rustix::fs::mknodat(rustix::fs::CWD, file, rustix::fs::FileType::Fifo, mode, 0)
                    .unwrap();
            }
        }
        add(&root.join("opencode.json"));
        remove(&root.join("opencode.json"));
        let text = fs::read_to_string(outside.join("exclude")).unwrap();
        assert_eq!(text, "profile", "{attack}");
    }
    // Without a repository there is nothing to write.
    fs::remove_dir_all(root.join(".git")).unwrap();
    add(&root.join("opencode.json"));
    assert!(!root.join(".git").exists());
}
