//! Programs that do not describe their tools, and the messages to the user.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::describing::{CARGO_CHECK, program};
use crate::processes::{VICTIMS, Victim, signal};
use crate::support::{Project, eventually};

/// A project with one tool that is well, and `broken` as this script has it.
fn project(script: &str) -> Project {
    let project = Project::with_config(
        r#"[conversation.tools.cargo_check]
source = "local"
command = "sh well.sh"
[conversation.tools.broken]
source = "local"
command = "sh broken.sh"
"#,
    );
    project.write("well.sh", &program(CARGO_CHECK));
    project.write("broken.sh", script);
    project
}

/// The message about a tool whose program is this script. All other tools are
/// there, the start warns, and a call is refused with the same reason.
#[track_caller]
fn told(script: &str) -> String {
    let project = project(script);
    check_told(&project)
}

#[track_caller]
fn check_told(project: &Project) -> String {
    const WAY_OUT: &str = "; add `parameters` to its table, or update the program so that its answer to the action `schema` lists this tool";
    const PLACE: &str = " (.windlass/config.toml:4:21)\n";
    let run = project.run(&["tools", "--json"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    let listed: Value = serde_json::from_str(&run.stdout()).unwrap();
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["shell", "git", "await", "describe_tools", "cargo_check"]
    );
    let warning = run.stderr();
    let why = warning
        .strip_prefix("windlass: tool `broken` is not offered: ")
        .and_then(|warning| warning.strip_suffix(PLACE))
        .and_then(|warning| warning.strip_suffix(WAY_OUT));
    let why = why.unwrap_or_else(|| panic!("{warning}")).to_owned();

    let run = project.run(&["call", "broken"], "");
    assert_eq!(run.code(), Some(1));
    assert_eq!(
        run.stdout(),
        format!("`broken` cannot be used: {why}{WAY_OUT}\n")
    );
    let run = project.run(&["tools", "broken"], "");
    assert_eq!(run.code(), Some(2));
    assert!(run.stderr().contains(&why), "{}", run.stderr());

    let run = project.run(&["tools", "check"], "");
    assert_eq!(run.code(), Some(1), "{}", run.stderr());
    let expected = format!("problem  tool `broken` is not offered: {why}{WAY_OUT}{PLACE}");
    assert!(run.stdout().ends_with(&expected), "{}", run.stdout());
    assert!(
        run.stdout().contains("ok       cargo_check (sh ("),
        "{}",
        run.stdout()
    );
    why
}

#[test]
fn a_program_that_crashes_is_reported_with_its_last_word() {
    assert_snapshot!(
        told("echo 'unknown action' >&2; exit 3"),
        @"`sh`, asked for its tools, exited with code 3: unknown action"
    );
    assert_eq!(
        told("kill -SEGV $$"),
        "`sh`, asked for its tools, ended by SIGSEGV"
    );
}

#[test]
fn a_program_that_prints_something_else_is_reported_with_how_it_begins() {
    assert_eq!(told(""), "`sh`, asked for its tools, printed nothing");
    assert_snapshot!(
        told("echo 'usage: it [-v]'; echo more"),
        @"`sh`, asked for its tools, printed `usage: it [-v]`, which is not JSON: expected value at line 1 column 1"
    );
    assert_snapshot!(
        told("echo '[1]'"),
        @"`sh`, asked for its tools, printed `[1]`, which is not an object with a list `tools`"
    );
    assert_snapshot!(
        told(r#"echo '{"type":"error","message":"no such action","trace":[],"transient":false}'"#),
        @"`sh`, asked for its tools, replied as to a call: no such action"
    );
}

#[test]
fn a_program_that_lists_other_tools_is_reported_with_their_names() {
    assert_snapshot!(
        told(r#"echo '{"tools":[{"name":"brokken"},{"name":"other"}]}'"#),
        @r#"`sh` does not list `broken`; it lists `brokken`, `other`; if it is `brokken`, set source = "local.brokken""#
    );
    assert_eq!(
        told(r#"echo '{"tools":[]}'"#),
        "`sh` does not list `broken`; it lists no tools"
    );
}

#[test]
fn a_tool_that_is_listed_twice_is_neither() {
    assert_snapshot!(
        told(r#"echo '{"tools":[{"name":"broken"},{"name":"broken","summary":"x"}]}'"#),
        @"`sh` lists `broken` 2 times"
    );
}

#[test]
fn a_bad_entry_spoils_no_other() {
    let project = Project::with_config(
        "[conversation.tools.cargo_check]\ncommand = \"sh tools.sh\"\n[conversation.tools.broken]\ncommand = \"sh tools.sh\"\n",
    );
    let answer =
        r#"{"tools":[{"name":"cargo_check"},{"name":"broken","spawn":{"statefull":true}}]}"#;
    project.write("tools.sh", &program(answer));
    let run = project.run(&["tools"], "");
    assert!(run.stdout().contains("cargo_check"), "{}", run.stdout());
    assert!(
        run.stderr()
            .contains("`sh` gives an invalid description of `broken`: unknown field `statefull`"),
        "{}",
        run.stderr()
    );
}

#[test]
fn a_schema_that_no_provider_would_accept_is_refused() {
    let entry = |entry: &str| format!(r#"echo '{{"tools":[{{"name":"broken",{entry}}}]}}'"#);
    assert_snapshot!(
        told(&entry(r#""parameters":{"x":{"type":"strnig"}}"#)),
        @r#"`sh` describes parameters that no provider accepts: parameter `x` has an invalid JSON Schema: `type` is `"strnig"`, not a JSON type or a list of them"#
    );
    assert_snapshot!(
        told(&entry(r#""parameters":{"a b":{"type":"string"}}"#)),
        @"`sh` describes parameters that no provider accepts: `a b` cannot be a parameter's name; use 1 to 64 of A-Z a-z 0-9 _ . -"
    );
    assert_snapshot!(
        told(&entry(
            r#""parameters":{"id":{"type":"string"}},"spawn":{"stateful":true}"#
        )),
        @"`sh` describes parameters that no provider accepts: a tool with actions cannot have a parameter `id`; action, id, input, view, keys, enter are reserved"
    );
    assert_snapshot!(
        told(&entry(r#""spawn":{"stateful":true,"actions":["fetch"]}"#)),
        @r#"`sh` gives `broken` actions without "spawn", so no handle of it could be started"#
    );
}

#[test]
fn a_pattern_that_is_none_is_the_tools_own_problem() {
    let project = project(
        r#"echo '{"tools":[{"name":"broken","parameters":{"x":{"type":"string","pattern":"("}}}]}'"#,
    );
    let run = project.run(&["tools"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    assert!(run.stdout().contains("cargo_check"));
    assert!(
        run.stderr()
            .contains("the parameters of tool `broken` are not a JSON Schema"),
        "{}",
        run.stderr()
    );
}

#[test]
fn a_program_that_is_not_there_is_reported() {
    let project = project("");
    project.write(
        ".windlass/tools/x.toml",
        "[conversation.tools.broken]\ncommand = \"no-such-program\"\n",
    );
    let run = project.run(&["tools"], "");
    assert!(
        run.stderr().contains(
            "`no-such-program` could not be run for its description: program \"no-such-program\" \
             was not found"
        ),
        "{}",
        run.stderr()
    );
    assert!(run.stdout().contains("cargo_check"));
}

#[test]
fn a_program_that_could_not_know_that_it_is_asked_is_not_run() {
    let project = Project::with_config(
        "[conversation.tools.wipe]\ncommand = \"touch {{tool.arguments.path}} wiped\"\n",
    );
    let run = project.run(&["tools"], "");
    assert_snapshot!(run.stderr(), @"windlass: tool `wipe` is not offered: its command passes no `{{context}}`, so its program cannot describe the tool's parameters; add `parameters` to its table, or update the program so that its answer to the action `schema` lists this tool (.windlass/config.toml:1:21)");
    assert!(!project.root().join("wiped").exists());
}

#[test]
fn a_program_that_hangs_is_ended_with_everything_it_started() {
    let victim = Victim::new();
    let project = project(&victim.script());
    let limit = "conversation.tools.broken.describe_timeout_secs=0.5";
    let run = project.run(&["tools", "--set", limit], "");
    assert_eq!(run.code(), Some(0));
    assert!(run.stdout().contains("cargo_check"));
    assert!(
        run.stderr()
            .contains("`sh`, asked for its tools, did not answer within 0.5 s and was ended"),
        "{}",
        run.stderr()
    );
    eventually("nothing is left", || victim.alive().is_empty());
}

#[test]
fn ctrl_c_is_heard_while_a_program_is_asked() {
    for args in [&["drive"][..], &["call", "shell"], &["tools"]] {
        let victim = Victim::new();
        let project = project(&victim.script());
        let mut child = project
            .windlass(args)
            .args([
                "--set",
                "conversation.tools.broken.describe_timeout_secs=600",
            ])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // The shell that reads the script does not carry the number.
        eventually("the program is up", || victim.alive().len() == VICTIMS - 1);
        signal(child.id(), rustix::process::Signal::INT);
        let status = child.wait().unwrap();
        assert!(!status.success(), "{args:?}: {status}");
        eventually("nothing is left", || victim.alive().is_empty());
    }
}

#[test]
fn five_megabytes_of_description_are_an_answer() {
    let project = project(
        r#"printf '{"tools":[{"name":"broken","summary":"Large.","description":"'
head -c 5000000 /dev/zero | tr '\0' x
echo '"}]}'"#,
    );
    for _ in 0..2 {
        let run = project.run(&["tools", "broken", "--json"], "");
        assert_eq!((run.code(), run.stderr().as_str()), (Some(0), ""));
        let tool: Value = serde_json::from_str(&run.stdout()).unwrap();
        assert_eq!(tool["description"], json!("Large."));
    }
}

#[test]
fn five_megabytes_of_parameters_are_an_error_and_so_is_what_never_ends() {
    let why = told(
        r#"printf '{"tools":[{"name":"broken","parameters":{"x":{"type":"string","summary":"'
head -c 5000000 /dev/zero | tr '\0' x
echo '"}}}]}'"#,
    );
    assert_snapshot!(
        why,
        @"`sh` describes parameters that no provider accepts: their schema has 4882 KiB, and the limit is 1024"
    );
    assert_snapshot!(
        told("exec cat /dev/zero"),
        @"`sh`, asked for its tools, printed more than 8 MiB and was ended"
    );
}

#[test]
fn an_override_of_nothing_is_reported_and_the_tool_is_there() {
    let project =
        project(r#"echo '{"tools":[{"name":"broken","parameters":{"path":{"type":"string"}}}]}'"#);
    let set = "conversation.tools.broken.parameters.paht.summary=x";
    let run = project.run(&["tools", "--set", set, "check"], "");
    let run_json = project.run(&["--json", "tools", "check", "--set", set], "");
    assert_eq!(run.code(), Some(1), "{}", run.stderr());
    let expected = "`parameters.paht` has no effect: the tool has no such parameter; did you mean \
                    `path`?";
    assert!(run.stdout().contains(expected), "{}", run.stdout());
    let report: Value = serde_json::from_str(&run_json.stdout()).unwrap();
    assert_eq!(
        report["problems"],
        json!([{"tool": "broken", "place": ".windlass/config.toml:4:21", "problem": expected, "offered": true}])
    );
    let run = project.run(&["tools", "check"], "");
    assert_eq!((run.code(), run.stderr().as_str()), (Some(0), ""));
}

#[test]
fn a_json_schema_as_parameters_is_reported() {
    let script = r#"echo '{"tools":[{"name":"broken","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}]}'"#;
    let why = told(script);
    assert_snapshot!(why, @r#"`sh` gives `broken` a JSON Schema as `parameters`, where an entry for each parameter is expected: {"NAME": {"type": "string", "required": true}}"#);
}

#[test]
fn a_misspelt_key_is_reported_and_the_tool_is_there() {
    let script = r#"echo '{"tools":[{"name":"broken","sumary":"x"}]}'"#;
    let run = project(script).run(&["tools", "check"], "");
    assert_eq!(run.code(), Some(1));
    let told = run.stdout();
    assert_snapshot!(told, @"
    ok       shell (builtin)
    ok       git (builtin)
    ok       await (builtin)
    ok       describe_tools (builtin)
    ok       cargo_check (sh (.windlass/config.toml:1:21))
    ok       broken (sh (.windlass/config.toml:4:21))
    problem  tool `broken`: its description has the key `sumary`, which has no effect; did you mean `summary`? (.windlass/config.toml:4:21)
    ");
}

#[test]
fn a_command_that_names_another_parameter_is_reported() {
    let project = Project::with_config(
        "[conversation.tools.broken]\ncommand = 'sh broken.sh {{context.action}} {{tool.arguments.pth}}'\n",
    );
    project.write(
        "broken.sh",
        r#"echo '{"tools":[{"name":"broken","parameters":{"path":{"type":"string"}}}]}'"#,
    );
    let run = project.run(&["tools", "check"], "");
    assert_eq!(run.code(), Some(1));
    let told = run.stdout();
    assert_snapshot!(told, @"
    ok       shell (builtin)
    ok       git (builtin)
    ok       await (builtin)
    problem  tool `broken` is not offered: its `command` uses `tool.arguments.pth`, which is unknown; did you mean `tool.arguments.path`? (.windlass/config.toml:1:21)
    ");
}
