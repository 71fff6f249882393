use clap::FromArgMatches;

use super::*;

/// Every subcommand with its path, those below others included.
fn all(command: &Command, above: &str, found: &mut Vec<(String, bool)>) {
    let below = command.get_subcommands();
    let shown = below.filter(|below| below.get_name() != "help" && !below.is_hide_set());
    for subcommand in shown {
        let path = format!("{above} {}", subcommand.get_name());
        let path = path.trim().to_owned();
        found.push((path.clone(), subcommand.get_after_help().is_some()));
        all(subcommand, &path, found);
    }
}

#[test]
fn every_command_is_in_one_group_and_has_two_examples() {
    let command = command();
    let mut found = Vec::new();
    all(&command, "", &mut found);
    for (path, is_shown) in &found {
        let examples = EXAMPLES.iter().filter(|(of, _)| of == path);
        let count: usize = examples.map(|(_, examples)| examples.len()).sum();
        assert!(count >= 2 && *is_shown, "{path} has {count} examples");
        if !path.contains(' ') {
            let groups = GROUPS
                .iter()
                .filter(|(_, names)| names.contains(&path.as_str()));
            assert_eq!(groups.count(), 1, "{path}");
        }
    }
    let grouped: usize = GROUPS.iter().map(|(_, names)| names.len()).sum();
    assert_eq!(
        grouped,
        found.iter().filter(|(path, _)| !path.contains(' ')).count()
    );
    for (of, _) in EXAMPLES {
        assert!(
            found.iter().any(|(path, _)| path == of),
            "`{of}` is no command"
        );
    }
}

#[test]
fn every_example_is_a_command_line() {
    for (of, examples) in EXAMPLES {
        for (line, _) in *examples {
            let line = line.rsplit(" | ").next().unwrap();
            let line = line.split(['<', '>']).next().unwrap();
            let words = shlex::split(line).unwrap();
            let start: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            assert!(start.join(" ").starts_with(of), "{of}: {line}");
            let matches = command().try_get_matches_from(&words);
            let matches = matches.unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(Args::from_arg_matches(&matches).is_ok(), "{line}");
        }
    }
}

#[test]
fn the_help_lists_every_command_once_and_its_options_apart() {
    let help = command().render_help().to_string();
    for (title, names) in GROUPS {
        assert!(help.contains(&format!("{title}:\n")), "{help}");
        for name in names {
            let lines = help.lines().filter(|line| {
                line.strip_prefix("  ")
                    .and_then(|line| line.strip_prefix(name))
                    .is_some_and(|rest| rest.starts_with("  ") || rest.starts_with(' '))
            });
            assert_eq!(lines.count(), 1, "{name}:\n{help}");
        }
    }
    assert!(help.contains("Global options:\n"), "{help}");
    let query = command();
    let query = query.find_subcommand("query").unwrap().clone();
    let help = query.bin_name("windlass query").render_help().to_string();
    assert!(help.contains("Examples:\n"), "{help}");
}

#[test]
fn the_groups_fit_a_narrow_terminal() {
    let groups = groups(&Args::command(), 60).to_string();
    assert!(groups.lines().all(|line| line.len() <= 60), "{groups}");
}
