//! The tools that projects are built and tested with, in a sandbox: without a network, and with a registry as the only
//! allowed host.

use std::fs;

use windlass_sandbox::{HostPattern, NetworkRule};
use windlass_skip::needs;

use crate::sandbox::{Machine, run, start, with_network, workspace};
use crate::support::{eventually, launcher, text};

/// The line by which a script that compiles begins: the compiler itself, not a chooser that wants a home.
#[expect(
    clippy::disallowed_methods,
    reason = "the test looks for programs itself"
)]
fn with_compiler() -> String {
    let output = std::process::Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .unwrap();
    let folder = String::from_utf8(output.stdout).unwrap();
    format!(
        "unset CARGO_TARGET_DIR CARGO_HOME; export PATH={}/bin:$PATH",
        folder.trim()
    )
}

/// Runs a script in a workspace; it must succeed and print `expected`.
async fn check(files: &[(&str, &str)], script: &str, expected: &str) {
    let machine = Machine::new();
    for (path, content) in files {
        let path = machine.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let launcher = machine.launcher(&workspace());
    let (text, exit) = run(&launcher, script, &machine.root, &machine.home).await;
    assert!(
        exit.success() && text.contains(expected),
        "{exit:?}: {text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cargo_builds_and_tests() {
    needs!("cargo", "rustc");
    let manifest =
        "[package]\nname = \"inside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let program = "fn main() { println!(\"built {}\", 6 * 7) }\n#[test]\nfn works() { std::fs::write(std::env::temp_dir().join(\"x\"), \"\").unwrap() }\n";
    let script = format!(
        "{}; cargo build --offline && cargo test --offline && target/debug/inside",
        with_compiler()
    );
    check(
        &[("Cargo.toml", manifest), ("src/main.rs", program)],
        &script,
        "built 42",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn npm_installs() {
    needs!("npm", "node");
    check(
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
    needs!("pytest");
    check(
        &[(
            "test_inside.py",
            "def test_inside(tmp_path):\n    (tmp_path / 'x').write_text('y')\n    assert 6 * 7 == 42\n",
        )],
        "pytest -q",
        "1 passed",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn git_commits() {
    needs!("git");
    check(
        &[("new.txt", "new\n")],
        "rm -rf sub && mkdir sub && cd sub && git init -q && export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && cp ../new.txt . && git add new.txt && git commit -q -m first && git log --oneline | cat",
        "first",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gdb_debugs() {
    needs!("gdb", "python3");
    check(
        &[],
        "gdb -batch -nx -ex 'catch syscall write' -ex run -ex 'info registers' -ex kill --args /bin/echo hello",
        "Catchpoint 1 (call to syscall",
    )
    .await;
}

/// Runs a script in a project whose sandbox may connect to one host: an HTTP server with files that another script makes
/// outside. `REGISTRY` is its address in both.
async fn check_with_registry(make: &str, script: &str, expected: &str) {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let machine = Machine::new();
    let outside = launcher();
    let serve = "exec python3 -u -c '
import http.server as h
s = h.ThreadingHTTPServer((\"127.0.0.1\", 0), h.SimpleHTTPRequestHandler)
print(\"port\", s.server_port, flush=True)
s.serve_forever()' 2>/dev/null";
    let server = start(&outside, serve, folder.path(), &machine.home).await;
    eventually("the server is up", || text(&server).ends_with('\n'));
    let port = text(&server).trim().rsplit(' ').next().unwrap().to_owned();
    let with_names = |script: &str| format!("set -e; REGISTRY=http://127.0.0.1:{port}; {script}");
    let (output, exit) = run(&outside, &with_names(make), folder.path(), &machine.home).await;
    assert!(exit.success(), "{exit:?}: {output}");
    let host = HostPattern::parse(&format!("127.0.0.1:{port}")).unwrap();
    let allowed = machine.launcher(&with_network(NetworkRule::Allow(vec![host])));
    let script = with_names(script);
    let (output, exit) = run(&allowed, &script, &machine.root, &machine.home).await;
    assert!(
        exit.success() && output.contains(expected),
        "{exit:?}: {output}"
    );
    // The same without the host.
    let other = Machine::new();
    let none = other.launcher(&with_network(NetworkRule::Allow(Vec::new())));
    let (output, exit) = run(&none, &script, &other.root, &other.home).await;
    assert!(!exit.success(), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn npm_installs_from_an_allowed_registry() {
    needs!("npm", "node", "python3", "tar");
    check_with_registry(
        r#"mkdir package; echo 'module.exports = 42' > package/index.js
echo '{"name": "beside", "version": "1.0.0"}' > package/package.json
tar czf beside.tgz package
echo '{"name": "beside", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "beside", "version": "1.0.0",
 "dist": {"tarball": "'$REGISTRY/beside.tgz'"}}}}' > beside"#,
        r#"echo '{"name": "inside"}' > package.json
npm install --registry $REGISTRY --no-audit --no-fund --fetch-retries=0 beside
node -e 'console.log("got " + require("beside"))'"#,
        "got 42",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cargo_builds_with_a_crate_of_an_allowed_registry() {
    needs!("cargo", "rustc", "python3", "tar", "sha256sum");
    let build = r#"mkdir -p src .cargo; echo 'fn main() { println!("got {}", beside::number()) }' > src/main.rs
printf '[registries.here]\nindex = "sparse+%s/"\n' $REGISTRY > .cargo/config.toml
printf '[package]\nname = "inside"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\nbeside = { version = "1", registry = "here" }\n' > Cargo.toml
cargo run -q"#;
    let script = format!("{}; export CARGO_NET_RETRY=0; {build}", with_compiler());
    check_with_registry(
        r#"mkdir -p beside-1.0.0/src be/si dl
printf '[package]\nname = "beside"\nversion = "1.0.0"\nedition = "2021"\n' > beside-1.0.0/Cargo.toml
echo 'pub fn number() -> u32 { 42 }' > beside-1.0.0/src/lib.rs
tar czf dl/beside beside-1.0.0
echo '{"dl": "'$REGISTRY'/dl/{crate}"}' > config.json
echo '{"name":"beside","vers":"1.0.0","deps":[],"cksum":"'$(sha256sum < dl/beside | cut -d' ' -f1)'","features":{},"yanked":false}' > be/si/beside"#,
        &script,
        "got 42",
    )
    .await;
}
