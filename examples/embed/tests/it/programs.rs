//! Runs the programs, and checks that they notice when nothing was called.

use std::process::Command;

/// Runs a program in an empty project of an empty home. Gives the folder as
/// `FOLDER` in the output.
fn run(program: &str, arguments: &[&str]) -> (bool, String, String) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().canonicalize().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(&folder)
        .env_clear()
        .env("HOME", &folder)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).replace(folder.to_str().unwrap(), "FOLDER");
    (
        output.status.success(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[track_caller]
fn check(program: &str, printed: &str) {
    let (success, stdout, stderr) = run(program, &[]);
    assert!(success, "{stderr}");
    assert_eq!(stdout, printed);
    assert_eq!(stderr, "");
}

/// The program calls another tool than its own, and so must fail.
#[track_caller]
fn check_fails(program: &str, other_tool: &str, why: &str) {
    let (success, stdout, stderr) = run(program, &[other_tool]);
    assert!(!success && stderr.contains(why), "{stdout}{stderr}");
}

#[test]
fn a_function_is_a_tool() {
    check(env!("CARGO_BIN_EXE_function_tool"), "42\n");
}

#[test]
fn a_function_that_was_not_called_is_noticed() {
    let program = env!("CARGO_BIN_EXE_function_tool");
    check_fails(program, "subtract", "calls of the function");
}

#[test]
fn an_executor_runs_under_a_definition() {
    let program = env!("CARGO_BIN_EXE_custom_executor");
    check(program, "Hello Ada, from FOLDER\n");
}

#[test]
fn an_executor_that_was_not_called_is_noticed() {
    let program = env!("CARGO_BIN_EXE_custom_executor");
    check_fails(program, "wave", "calls of the executor");
}

#[test]
fn an_agent_is_a_loop_over_a_runtime() {
    check(env!("CARGO_BIN_EXE_agent_loop"), "In Oslo it is sunny.\n");
}

#[test]
fn a_tool_that_the_agent_did_not_call_is_noticed() {
    let program = env!("CARGO_BIN_EXE_agent_loop");
    check_fails(program, "forecast", "calls of the tool");
}
