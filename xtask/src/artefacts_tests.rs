//! The arguments of the command.

use super::*;

fn read(arguments: &str) -> anyhow::Result<Task> {
    let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    task(&words)
}

#[test]
fn without_arguments_the_smallest_program_is_built_and_checked() {
    let source = ProgramSource::Profile(Profile::Dist);
    assert_eq!(
        read("").unwrap(),
        Task::Build {
            source,
            check: true,
            quick: false
        }
    );
}

#[test]
fn a_profile_and_other_options_go_together() {
    let source = ProgramSource::Profile(Profile::Dev);
    let task = Task::Build {
        source,
        check: false,
        quick: true,
    };
    assert_eq!(read("--no-check --profile dev --quick").unwrap(), task);
}

#[test]
fn a_check_builds_nothing() {
    assert_eq!(read("--check").unwrap(), Task::Check);
}

#[test]
fn a_wrong_argument_is_reported_with_the_right_ones() {
    for wrong in [
        "--profile fast",
        "--profile",
        "--program",
        "--check --profile dev",
        "all",
        "--join",
    ] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains("--join FOLDER"), "{wrong}: {error}");
    }
}
