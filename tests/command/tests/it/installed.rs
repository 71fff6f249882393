//! The parts of the program that packages are made with.

use std::fs;

use crate::programs::windlass;
use crate::support::Project;

fn printed(project: &Project, arguments: &[&str]) -> String {
    let output = project.windlass(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_version_names_the_commit_the_features_and_the_target() {
    let project = Project::new();
    let said = printed(&project, &["--version"]);
    let lines: Vec<&str> = said.lines().collect();
    let names: Vec<&str> = lines[1..]
        .iter()
        .map(|line| line.split_once(": ").unwrap().0)
        .collect();
    assert_eq!(lines[0], concat!("windlass ", env!("CARGO_PKG_VERSION")));
    assert_eq!(names, ["commit", "features", "target"]);
    let (_, commit) = lines[1].split_once(": ").unwrap();
    let hash = commit.trim_end_matches("-dirty");
    let is_hash = hash.len() == 12 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Sources without Git have no commit.
    assert!(is_hash || commit == "unknown", "{said}");
}

#[test]
fn the_short_version_is_one_line() {
    let said = printed(&Project::new(), &["-V"]);
    assert_eq!(said, concat!("windlass ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_program_in_the_cache_of_npx_or_uvx_is_put_into_no_config() {
    for (folder, install) in [
        (
            "npm/_npx/0a1b/node_modules/windlass-linux-x64/bin",
            "npm install --global windlass",
        ),
        ("uv/archive-v0/0a1b/bin", "uv tool install windlass"),
    ] {
        let project = Project::new();
        let folder = project.root().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("windlass");
        fs::copy(windlass(), &program).unwrap();
        let mut command = project.program(program.to_str().unwrap());
        let output = command
            .args(["mcp", "install", "claude", "--yes"])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{said}");
        assert!(said.contains(install), "{said}");
    }
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let project = Project::new();
    let folder = project.root().join("man");
    let listed = printed(&project, &["man", folder.to_str().unwrap()]);
    let mut files: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut told: Vec<&str> = listed.lines().collect();
    files.sort();
    told.sort_unstable();
    assert_eq!(files, told);
    for page in [
        "windlass.1",
        "windlass-mcp.1",
        "windlass-mcp-install.1",
        "windlass-ps.1",
    ] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}: {text}");
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    // The page is about the manual's reader, not about packagers.
    assert!(!files.iter().any(|file| file == "windlass-man.1"));
}
