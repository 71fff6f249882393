//! Tools on hosts: over a plain pipe, and over a real `sshd`.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::describing;
use crate::filtered::filtered;
use crate::programs::windlass;
use crate::support::{Drive, Project};
use crate::term_python;
use crate::term_sitting::{outside, text};

/// The user's configuration in which `shell` and `git` run on a host that is reached by these words.
pub(crate) fn hosted(via: &[&str], lease_secs: u32) -> String {
    format!(
        "[hosts.there]\nvia = {}\nlease_secs = {lease_secs}\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\n\
         [conversation.tools.git]\nhost = \"there\"\n",
        json!(via)
    )
}

/// The same over a plain pipe.
pub(crate) fn piped(lease_secs: u32) -> String {
    hosted(&[windlass(), "host"], lease_secs)
}

#[test]
fn a_one_shot_runs_on_a_host() {
    let project = Project::with_own_config(&piped(600));
    let mut drive = project.drive();
    let said = drive.content("shell", json!({"command": "echo one; echo two >&2; pwd"}));
    let root = project.root().display().to_string();
    assert_eq!(said, json!(format!("one\ntwo\n{root}\n")));
    let failed = drive.error("shell", json!({"command": "echo no; exit 3"}));
    assert!(failed.contains("exit") && failed.contains('3'), "{failed}");
    // It ran below the far end, not below the runtime: only there is it held, soon after its start.
    let held = "until grep -q windlass-holder /proc/$PPID/comm; do sleep 0.01; done; echo held";
    let held = drive.content("shell", json!({"command": held}));
    assert_eq!(held, json!("held\n"));
}

#[test]
fn the_assistant_chooses_a_host() {
    let config = format!(
        "[hosts.there]\nvia = {}\nroot = \"/tmp\"\nlabels = [\"linux\", \"gpu\"]\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhosts = [\"there\"]\n",
        json!([windlass(), "host"])
    );
    let project = Project::with_own_config(&config);
    let mut drive = project.drive();
    let here = drive.content("shell", json!({"command": "pwd"}));
    assert_eq!(here, json!(format!("{}\n", project.root().display())));
    let there = drive.content("shell", json!({"command": "pwd", "host": "there"}));
    assert_eq!(there, json!("/tmp\n"));
    let nowhere = drive.error("shell", json!({"command": "pwd", "host": "nowhere"}));
    assert_snapshot!(nowhere, @r#"`host`: "nowhere" is not one of "there""#);
    let shown = project.run(&["tools", "shell", "--json"], "").stdout();
    assert!(shown.contains("there (linux, gpu)"), "{shown}");
}

#[test]
fn rules_speak_of_hosts() {
    let config = format!(
        "[hosts.there]\nvia = {}\n[conversation.tools.shell]\nrun = \"unattended\"\nhosts = [\"there\"]\n\
         permissions = {{ \"host:there\" = \"deny\" }}\n",
        json!([windlass(), "host"])
    );
    let project = Project::with_own_config(&config);
    let mut drive = project.drive_asking();
    drive.content("shell", json!({"command": "true"}));
    let denied = drive.error("shell", json!({"command": "true", "host": "there"}));
    assert_snapshot!(denied, @"the configuration denies `host:there` of `shell`; nothing has run");
}

#[test]
fn a_handle_on_a_host_is_typed_into_and_stopped() {
    let project = Project::with_own_config(&piped(600));
    let mut drive = project.drive();
    let spawned = drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": "while read line; do echo got $line; done; echo over"}),
    );
    assert_eq!(spawned["state"], json!("running"), "{spawned}");
    let applied = drive.content(
        "shell",
        json!({"action": "apply", "id": "it", "input": "one\n"}),
    );
    assert_eq!(text(&applied), "got one\n", "{applied}");
    let aborted = drive.content("shell", json!({"action": "abort", "id": "it"}));
    assert_eq!(aborted["state"], json!("stopped"), "{aborted}");
    assert!(aborted.to_string().contains("ended"), "{aborted}");
}

#[test]
fn eof_ends_a_handle_on_a_host() {
    let project = Project::with_own_config(&piped(600));
    let mut drive = project.drive();
    let spawn = json!({"action": "spawn", "id": "it", "command": "cat; echo over"});
    drive.content("shell", spawn);
    let apply = json!({"action": "apply", "id": "it", "input": "last", "keys": ["eof"]});
    let stopped = json!({"id": "it", "state": "stopped", "result": "last\nover\n"});
    assert_eq!(drive.content("shell", apply), stopped);
}

/// Words that reach this machine over `ssh` and a real `sshd`, with a key of its own. The server talks through the pipes
/// of the client: no port is open.
pub(crate) fn over_ssh(folder: &Path, project: &Project) -> Vec<String> {
    let options = [
        "StrictHostKeyChecking=no",
        "UserKnownHostsFile=/dev/null",
        "BatchMode=yes",
    ];
    over_ssh_with(folder, project, "", &options)
}

/// The same with a passphrase of the user's key and with options of `ssh`.
pub(crate) fn over_ssh_with(
    folder: &Path,
    project: &Project,
    passphrase: &str,
    options: &[&str],
) -> Vec<String> {
    let mut words = ssh_to(folder, project, passphrase, options);
    let state = format!("XDG_STATE_HOME={}", folder.join("far").display());
    let there = ["env", &state, "SHELL=/bin/sh", windlass(), "host"];
    words.extend(there.map(str::to_owned));
    words
}

/// The words of `ssh` alone, without a command to run there.
pub(crate) fn ssh_to(
    folder: &Path,
    project: &Project,
    passphrase: &str,
    options: &[&str],
) -> Vec<String> {
    let key = |name: &str, passphrase: &str| {
        let path = folder.join(name).display().to_string();
        outside(
            project,
            "ssh-keygen",
            &["-q", "-t", "ed25519", "-N", passphrase, "-f", &path],
        );
        path
    };
    let (host, user) = (key("host", ""), key("user", passphrase));
    let keys = folder.join("keys");
    fs::copy(format!("{user}.pub"), &keys).unwrap();
    let server = folder.join("server");
    let config = format!(
        "HostKey {host}\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nAuthorizedKeysFile {}\n",
        keys.display()
    );
    fs::write(&server, config).unwrap();
    fs::create_dir_all("/run/sshd").unwrap();
    let sshd = outside(
        project,
        "sh",
        &["-c", "command -v sshd || echo /usr/sbin/sshd"],
    );
    let proxy = format!("ProxyCommand={} -i -f {}", sshd.trim(), server.display());
    let name = outside(project, "id", &["-un"]);
    let words = ["ssh", "-T", "-F", "/dev/null", "-i", &user];
    let mut words = words.map(str::to_owned).to_vec();
    for option in options.iter().copied().chain(["LogLevel=ERROR", &proxy]) {
        words.extend(["-o", option].map(str::to_owned));
    }
    words.push(format!("{}@here", name.trim()));
    words
}

#[test]
fn a_host_is_reached_over_ssh() {
    needs!("ssh", "sshd", "ssh-keygen", "python3");
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new();
    let words = over_ssh(folder.path(), &project);
    let via: Vec<&str> = words.iter().map(String::as_str).collect();
    project.write_own(&hosted(&via, 600));
    let checked = project.run(&["hosts", "check", "there"], "");
    assert_eq!(
        checked.code(),
        Some(0),
        "{}{}",
        checked.stdout(),
        checked.stderr()
    );
    assert!(
        checked.stdout().contains("host `there` replied"),
        "{}",
        checked.stdout()
    );
    let mut drive = project.drive();
    let said = drive.content(
        "shell",
        json!({"command": "seq 1 100000 | tail -n 1; echo $SSH_CONNECTION | wc -w"}),
    );
    assert_eq!(said, json!("100000\n4\n"));
    Project::each_with(hosted(&via, 600), term_python::session);
}

fn refusal(via: &[&str]) -> String {
    let project = Project::with_own_config(&hosted(via, 2));
    let error = project.drive().error("shell", json!({"command": "true"}));
    assert!(error.contains("host `there`"), "{error}");
    let checked = project.run(&["hosts", "check", "there"], "");
    assert_eq!(checked.code(), Some(1), "{}", checked.stdout());
    error
}

#[test]
fn a_check_says_whether_tools_can_run() {
    let project = Project::with_own_config(&piped(2));
    let works = project.run(&["hosts", "check", "there"], "");
    assert_eq!(works.code(), Some(0), "{}", works.stdout());
    assert!(
        works.stdout().contains("tools     can run there"),
        "{}",
        works.stdout()
    );
    let root = "hosts.there.root=\"/no/such/folder\"";
    let fails = project.run(&["hosts", "check", "there", "--set", root], "");
    let said = fails.stdout();
    assert_eq!(fails.code(), Some(1), "{said}");
    assert!(
        said.contains("tools     cannot run there: ") && said.contains("/no/such/folder"),
        "{said}"
    );
    let unknown = project.run(&["hosts", "check", "three"], "");
    assert_snapshot!(unknown.stderr(), @"windlass: there is no host `three`; add [hosts.three] with `via`, or choose one of `there`");
}

#[test]
fn a_host_that_cannot_be_used_is_a_clear_error() {
    let banner = refusal(&[
        "sh",
        "-c",
        "echo Welcome to this machine.; exec \"$0\" host",
        windlass(),
    ]);
    assert!(banner.contains("Welcome to this machine."), "{banner}");
    assert!(banner.contains("login scripts"), "{banner}");
    let exited = refusal(&["sh", "-c", "echo Permission denied >&2; exit 255"]);
    assert!(
        exited.contains("code 255") && exited.contains("Permission denied"),
        "{exited}"
    );
    let missing = refusal(&["no-such-carrier", "windlass", "host"]);
    assert_snapshot!(missing, @r#"host `there`: `no-such-carrier` could not be started: program "no-such-carrier" was not found; give an absolute path or a name that is in `PATH`; check `via` of the host"#);
    let garbage = refusal(&["sh", "-c", "head -c 4000 /dev/zero; sleep 5"]);
    assert!(garbage.contains("printed text"), "{garbage}");
}

#[test]
fn another_version_is_named() {
    // A hello of version 99: its length, its kind, the magic, the version, five texts, numbers and an empty list.
    let script = "printf '\\100\\000\\000\\000\\140windlass\\143\\003\\000\\000\\0009.9'; head -c 48 /dev/zero; sleep 5";
    let error = refusal(&["sh", "-c", script]);
    assert_snapshot!(error, @"host `there`: its `windlass` (9.9) speaks version 99 of the link, and this one speaks version 2; install the same version on both sides");
}

#[test]
fn the_far_end_explains_itself_to_people() {
    let project = Project::new();
    let run = project.run(&["host"], "hello\n");
    assert_eq!(run.code(), Some(2));
    assert_snapshot!(run.stderr(), @"windlass: stdin is not a link; `windlass host` is started by a runtime, through the `via` of a host");
}

#[test]
fn a_project_that_is_not_trusted_brings_no_hosts() {
    let project = Project::untrusted();
    let touched = project.root().join("touched");
    let script = format!("touch {}; exit 1", touched.display());
    project.write(".windlass/config.toml", &hosted(&["sh", "-c", &script], 2));
    let mut drive: Drive = project.drive();
    let said: Value = drive.one("shell", json!({"command": "echo here"}));
    assert!(!touched.exists(), "{said}");
    let listed = project.run(&["hosts"], "").stdout();
    assert!(listed.contains("no hosts"), "{listed}");
    let shown = project.run(&["trust"], "").stdout();
    assert!(
        shown.contains(&format!("`sh -c {script}` as the host `there`\n")),
        "{shown}"
    );
    assert!(
        shown.contains("  run `shell` on the host `there`\n"),
        "{shown}"
    );
    assert!(!touched.exists(), "{shown}");
}

#[test]
fn a_project_that_is_not_trusted_reaches_no_pool() {
    let project = Project::untrusted();
    let broker = TcpListener::bind("127.0.0.1:0").unwrap();
    broker.set_nonblocking(true).unwrap();
    let way = format!("nats://{}", broker.local_addr().unwrap());
    let config = format!(
        "[hosts.fleet]\nnats = \"{way}\"\npool = \"ci\"\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"fleet\"\n"
    );
    project.write(".windlass/config.toml", &config);
    let said = project
        .drive()
        .content("shell", json!({"command": "echo here"}));
    assert_eq!(said, json!("here\n"));
    let listed = project.run(&["workers"], "");
    assert_snapshot!(filtered(&listed.stderr()), @"
    windlass: [folder]/project is not trusted, so its own configuration and tools have no effect; `windlass trust` shows what they would do, and asks
    windlass: there are no pools; add [hosts.NAME] with `nats` and `pool` to the configuration
    ");
    let shown = project.run(&["trust"], "").stdout();
    assert!(
        shown.contains(&format!("`pool ci at {way}` as the host `fleet`\n")),
        "{shown}"
    );
    let connected = broker.accept();
    assert!(connected.is_err(), "{connected:?}");
}

#[test]
fn a_program_that_describes_a_parameter_host_is_not_offered_with_a_choice_of_hosts() {
    let answer = json!({"tools": [{"name": "deploy", "parameters": {"host": {"type": "string"}}}]});
    let config = format!(
        "[hosts.there]\nvia = {}\n[conversation.tools.deploy]\nsource = \"local\"\n\
         command = \"sh tools.sh\"\nhosts = [\"there\"]\n",
        json!([windlass(), "host"])
    );
    let project = Project::with_own_config(&config);
    project.write("tools.sh", &describing::program(&answer.to_string()));
    let tools = project.run(&["tools"], "");
    assert!(!tools.stdout().contains("deploy"), "{}", tools.stdout());
    let why = "`deploy` is not offered: it has its own parameter `host`, so `hosts` cannot add one";
    assert!(tools.stderr().contains(why), "{}", tools.stderr());
}
