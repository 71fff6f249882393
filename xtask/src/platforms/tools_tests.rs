use super::*;

#[test]
fn the_libraries_of_the_compiler_are_found_among_its_dependencies() {
    let depends = "libstd-rust-web-dev\n  Depends: libstd-rust-web-1.96\n  Depends: libc6\n  Suggests: libllvm1\n";
    let found: Vec<_> = libraries(depends).collect();
    assert_eq!(found, ["libstd-rust-web-1.96"]);
}

#[test]
fn the_c_compiler_gets_its_own_name_of_the_platform_and_all_other_words() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools {
        folder: folder.path().to_owned(),
        zig: PathBuf::from("/bin/echo"),
    };
    let compiler = tools.c_compiler(&super::super::PLATFORMS[0]).unwrap();
    let words = ["-O2", "--target=arm64-apple-macosx", "-arch", "arm64"];
    let output = Command::new(compiler)
        .args(words)
        .args(["-DA=\"b c\"", "x.c"])
        .output()
        .unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert_eq!(words, "cc -target aarch64-macos -O2 -DA=\"b c\" x.c\n");
}
