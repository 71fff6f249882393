//! The tools that projects are built and tested with, in a sandbox without network. One that is not installed is passed over,
//! and the test says so.

use std::fs;

use crate::sandbox::{Machine, run, workspace};

/// The first line of a program's output, if it is there.
fn output_of(command: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test looks for programs itself"
    )]
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output
        .status
        .success()
        .then(|| text.lines().next().unwrap_or_default().to_owned())
}

/// Runs a script in a workspace, if another one succeeds outside; it must succeed and print `expected`.
async fn check(needs: &str, files: &[(&str, &str)], script: &str, expected: &str) {
    let Some(found) = output_of(needs) else {
        eprintln!("passed over: `{needs}` fails here");
        return;
    };
    let machine = Machine::new();
    for (path, content) in files {
        let path = machine.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let script = format!("FOUND='{found}'; {script}");
    let launcher = machine.launcher(&workspace());
    let (text, exit) = run(&launcher, &script, &machine.root, &machine.home).await;
    assert!(
        exit.success() && text.contains(expected),
        "{exit:?}: {text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cargo_builds_and_tests() {
    let manifest =
        "[package]\nname = \"inside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let program = "fn main() { println!(\"built {}\", 6 * 7) }\n#[test]\nfn works() { std::fs::write(std::env::temp_dir().join(\"x\"), \"\").unwrap() }\n";
    check(
        "rustc --print sysroot",
        &[("Cargo.toml", manifest), ("src/main.rs", program)],
        "unset CARGO_TARGET_DIR CARGO_HOME; export PATH=$FOUND/bin:$PATH; cargo build --offline && cargo test --offline && target/debug/inside",
        "built 42",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn npm_installs() {
    check(
        "npm --version && node --version",
        &[
            ("package.json", r#"{"name": "inside", "dependencies": {"beside": "file:beside"}}"#),
            ("beside/package.json", r#"{"name": "beside", "version": "1.0.0", "scripts": {"install": "node -e 'require(\"fs\").writeFileSync(\"made\", \"\")'"}}"#),
            ("beside/index.js", "module.exports = 42"),
        ],
        "npm install --offline --no-audit --no-fund --foreground-scripts && node -e 'console.log(\"got \" + require(\"beside\"))'",
        "got 42",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pytest_tests() {
    check(
        "python3 -c 'import pytest'",
        &[(
            "test_inside.py",
            "def test_inside(tmp_path):\n    (tmp_path / 'x').write_text('y')\n    assert 6 * 7 == 42\n",
        )],
        "python3 -m pytest -q",
        "1 passed",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn git_commits() {
    check(
        "git --version",
        &[("new.txt", "new\n")],
        "rm -rf sub && mkdir sub && cd sub && git init -q && export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && cp ../new.txt . && git add new.txt && git commit -q -m first && git log --oneline | cat",
        "first",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gdb_debugs() {
    check(
        "gdb --version && python3 --version",
        &[],
        "gdb -batch -nx -ex 'catch syscall write' -ex run -ex 'info registers' -ex kill --args /bin/echo hello",
        "Catchpoint 1 (call to syscall",
    )
    .await;
}
