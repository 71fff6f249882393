//! Commands that run other commands, and equivalent forms of a command.

use windlass_runtime::UNKNOWN;

use super::ShellLanguage;
use super::walk::walk_within;
use super::words::{may_run, quoted};

/// Further texts of the command that a deny rule is matched against: without
/// its folder, without options before its subcommand, and the commands that it
/// runs.
pub(super) fn forms(words: &[String], dialect: ShellLanguage, depth: usize) -> Vec<String> {
    let mut forms = Vec::new();
    add_forms(words, dialect, depth, &mut forms);
    forms
}

fn add_forms(words: &[String], dialect: ShellLanguage, depth: usize, forms: &mut Vec<String>) {
    let Some((program, arguments)) = words.split_first() else {
        return;
    };
    let Some(depth) = depth.checked_sub(1) else {
        forms.push(UNKNOWN.to_string());
        return;
    };
    if program.contains(UNKNOWN) {
        // It may be a wrapper too, of anything.
        forms.push(UNKNOWN.to_string());
        return;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    let command = |arguments: &[String]| {
        let arguments = arguments.iter().map(String::as_str);
        quoted(std::iter::once(name).chain(arguments))
    };
    forms.push(command(arguments));
    // Without its quotes, as a rule may be written.
    forms.push(
        format!("{name} {}", arguments.join(" "))
            .trim_end()
            .to_owned(),
    );
    for rest in after_options(name, arguments) {
        forms.push(command(rest));
    }
    match runs(name, arguments) {
        InnerCommand::Nothing => {}
        InnerCommand::Command(inner) => add_forms(&inner, dialect, depth, forms),
        InnerCommand::Line(line) if line.contains(UNKNOWN) => forms.push(UNKNOWN.to_string()),
        InnerCommand::Line(line) => match walk_within(&line, dialect, depth) {
            Some(found) => {
                for pattern in found {
                    forms.push(pattern.known);
                    forms.extend(pattern.forms);
                }
            }
            None => forms.push(UNKNOWN.to_string()),
        },
        InnerCommand::Anything => forms.push(UNKNOWN.to_string()),
    }
}

/// The command or line that a wrapper runs.
enum InnerCommand {
    Nothing,
    Command(Vec<String>),
    /// A line for a shell.
    Line(String),
    /// Unknown.
    Anything,
}

/// A wrapper: its options that take a value, and the number of words between
/// them and the command.
struct Wrapper {
    names: &'static [&'static str],
    valued: &'static [&'static str],
    before: usize,
    /// Without a command it starts a shell or another reader of commands.
    starts_shell: bool,
}

const WATCH: Wrapper = Wrapper {
    names: &["watch"],
    valued: &["-n", "-q", "--interval", "--equexit"],
    before: 0,
    starts_shell: false,
};

const WRAPPERS: [Wrapper; 14] = [
    Wrapper {
        names: &[
            "command", "builtin", "nohup", "setsid", "time", "then", "do",
        ],
        valued: &[],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["exec"],
        valued: &["-a"],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["nice"],
        valued: &["-n", "--adjustment"],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["ionice", "chrt"],
        valued: &["-c", "-n", "-p", "--class", "--classdata"],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["timeout"],
        valued: &["-k", "-s", "--kill-after", "--signal"],
        before: 1,
        starts_shell: false,
    },
    Wrapper {
        names: &["env"],
        valued: &["-u", "-C", "--unset", "--chdir"],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["stdbuf"],
        valued: &["-i", "-o", "-e"],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["sudo", "doas", "pkexec", "run0"],
        valued: &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-D", "-R", "-U", "--user", "--group",
            "--host", "--prompt", "--chdir", "--chroot",
        ],
        before: 0,
        starts_shell: true,
    },
    Wrapper {
        names: &["xargs"],
        valued: &[
            "-a",
            "-d",
            "-E",
            "-I",
            "-L",
            "-n",
            "-P",
            "-s",
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--replace",
        ],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["strace", "ltrace"],
        valued: &["-o", "-e", "-p", "-s", "-u", "-E"],
        before: 0,
        starts_shell: false,
    },
    Wrapper {
        names: &["chroot", "flock", "taskset"],
        valued: &["-w", "-E", "--userspec", "--groups"],
        before: 1,
        starts_shell: true,
    },
    Wrapper {
        names: &["busybox", "toybox"],
        valued: &[],
        before: 0,
        starts_shell: true,
    },
    Wrapper {
        names: &["unshare", "nsenter", "systemd-run", "firejail", "bwrap"],
        valued: &[],
        before: 0,
        starts_shell: true,
    },
    Wrapper {
        names: &["caffeinate", "unbuffer", "catchsegv", "setarch", "linux64"],
        valued: &[],
        before: 0,
        starts_shell: false,
    },
];

/// Shells that take a line after `-c`.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish"];

fn runs(name: &str, arguments: &[String]) -> InnerCommand {
    if SHELLS.contains(&name) {
        return of_shell(arguments);
    }
    match name {
        "eval" => return InnerCommand::Line(arguments.join(" ")),
        "trap" => {
            let line = arguments.iter().find(|word| !word.starts_with('-'));
            return line.map_or(InnerCommand::Nothing, |line| {
                InnerCommand::Line(line.clone())
            });
        }
        "su" | "runuser" | "script" => {
            return after(arguments, &["-c", "--command"])
                .map_or(InnerCommand::Anything, InnerCommand::Line);
        }
        "watch" => return InnerCommand::Line(behind(&WATCH, arguments).join(" ")),
        // They run commands from another source, or change the meaning of a name.
        "ssh" | "parallel" | "alias" | "enable" | "hash" | "bind" | "fc" | "complete"
        | "compgen" => {
            return InnerCommand::Anything;
        }
        "mapfile" | "readarray" if arguments.iter().any(|word| word.starts_with("-C")) => {
            return InnerCommand::Anything;
        }
        "git" if is_told_to_run(arguments) => return InnerCommand::Anything,
        "find" | "fd" => return of_find(arguments),
        "source" | "." if arguments.first().is_some_and(|file| is_stream(file)) => {
            return InnerCommand::Anything;
        }
        // They evaluate an index in an argument, and the commands in it.
        "test" | "[" | "printf" | "read" | "mapfile" | "readarray" | "let" | "unset" | "wait"
        | "declare" | "typeset" | "local" | "export" | "readonly"
            if arguments.iter().any(|word| may_run(word)) =>
        {
            return InnerCommand::Anything;
        }
        _ => {}
    }
    let Some(wrapper) = WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&name))
    else {
        return InnerCommand::Nothing;
    };
    if name == "command" && arguments.iter().any(|word| word == "-v" || word == "-V") {
        return InnerCommand::Nothing;
    }
    if name == "env"
        && let Some(line) = after(arguments, &["-S", "--split-string"])
    {
        return InnerCommand::Line(line);
    }
    let mut inner = behind(wrapper, arguments).to_vec();
    if inner.is_empty() && wrapper.starts_shell {
        return InnerCommand::Anything;
    }
    if name == "xargs" {
        // The rest of its words come with the input.
        if inner.is_empty() {
            return InnerCommand::Nothing;
        }
        let replaced = arguments
            .iter()
            .any(|word| word.starts_with("-I") || word.starts_with("-i") || word == "--replace");
        if replaced {
            return InnerCommand::Anything;
        }
        inner.push(UNKNOWN.to_string());
    }
    InnerCommand::Command(inner)
}

/// Whether options before git's subcommand run something: an alias, an editor,
/// or programs of another folder.
fn is_told_to_run(arguments: &[String]) -> bool {
    const KEYS: [&str; 12] = [
        "alias.",
        "core.editor",
        "core.fsmonitor",
        "core.hookspath",
        "core.pager",
        "core.sshcommand",
        "credential.",
        "diff.",
        "filter.",
        "gpg.",
        "pager.",
        "sequence.editor",
    ];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return false;
        }
        if word.starts_with("--exec-path=") || word.starts_with("--config-env") {
            return true;
        }
        if word == "-c" {
            let setting = words.next().map(|it| it.to_ascii_lowercase());
            let setting = setting.unwrap_or_default();
            let runs = KEYS.iter().any(|key| setting.starts_with(key));
            if runs || setting.contains(UNKNOWN) || setting.contains("=!") {
                return true;
            }
        } else if ["-C", "--git-dir", "--work-tree", "--namespace"].contains(&word.as_str()) {
            words.next();
        }
    }
    false
}

/// Whether a script is not a regular file, so that its lines come from
/// elsewhere.
fn is_stream(file: &str) -> bool {
    file.contains(UNKNOWN) || file.starts_with("/dev/") || file.starts_with("/proc/")
}

/// The command behind a wrapper.
fn behind<'a>(wrapper: &Wrapper, arguments: &'a [String]) -> &'a [String] {
    let mut place = 0;
    let mut before = wrapper.before;
    while let Some(word) = arguments.get(place) {
        if word == "--" {
            place += 1;
            break;
        } else if wrapper.valued.contains(&word.as_str()) {
            place += 2;
        } else if word.starts_with('-') && word.len() > 1 || is_assignment(word) {
            place += 1;
        } else if before > 0 {
            before -= 1;
            place += 1;
        } else {
            break;
        }
    }
    arguments
        .get(place + usize::from(before > 0)..)
        .unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The command of a shell: the line after `-c`, else a script, else its input.
fn of_shell(arguments: &[String]) -> InnerCommand {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if !word.starts_with(['-', '+']) {
            return of_script(word);
        }
        if word == "-o"
            || word == "+o"
            || word == "-O"
            || word == "--rcfile"
            || word == "--init-file"
        {
            words.next();
        } else if word.starts_with('-') && !word.starts_with("--") && word.contains('c') {
            let line = words.find(|word| !word.starts_with('-'));
            return line.map_or(InnerCommand::Anything, |line| {
                InnerCommand::Line(line.clone())
            });
        } else if word.starts_with("--command=") || !word.starts_with("--") && word.contains('s') {
            return InnerCommand::Anything;
        }
    }
    words
        .next()
        .map_or(InnerCommand::Anything, |word| of_script(word))
}

/// A script counts as a program, unless it does not exist yet.
fn of_script(file: &str) -> InnerCommand {
    if is_stream(file) {
        InnerCommand::Anything
    } else {
        InnerCommand::Nothing
    }
}

/// The command of `find`: the words between `-exec` and `;` or `+`.
fn of_find(arguments: &[String]) -> InnerCommand {
    let runs = |word: &String| {
        matches!(
            word.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    };
    let Some(place) = arguments.iter().position(runs) else {
        let unknown = arguments.iter().any(|word| word == &UNKNOWN.to_string());
        return if unknown {
            InnerCommand::Anything
        } else {
            InnerCommand::Nothing
        };
    };
    let inner = arguments[place + 1..].iter();
    let inner = inner.take_while(|word| *word != ";" && *word != "+");
    let inner = inner.map(|word| word.replace("{}", &UNKNOWN.to_string()));
    if arguments[place + 1..].iter().any(runs) {
        return InnerCommand::Anything;
    }
    InnerCommand::Command(inner.collect())
}

/// The value of one of these options, as the next word or joined to it.
fn after(arguments: &[String], options: &[&str]) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if options.contains(&word.as_str()) {
            return words.next().cloned();
        }
        for option in options {
            let joined = word.strip_prefix(option);
            let joined = if option.starts_with("--") {
                joined.and_then(|rest| rest.strip_prefix('='))
            } else {
                joined
            };
            if let Some(joined) = joined.filter(|joined| !joined.is_empty()) {
                return Some(joined.to_owned());
            }
        }
    }
    None
}

/// The arguments from the subcommand on, without the options before it. If it
/// is unknown whether an option takes a value, both readings are returned.
fn after_options<'a>(name: &str, arguments: &'a [String]) -> Vec<&'a [String]> {
    /// Options of git that take a value.
    const OF_GIT: [&str; 8] = [
        "-c",
        "-C",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--super-prefix",
        "--config-env",
    ];
    let mut rests = Vec::new();
    let mut place = 0;
    while let Some(word) = arguments.get(place) {
        let is_option = word.starts_with(['-', '+']) && word.len() > 1;
        if !is_option {
            break;
        }
        place += 1;
        if name == "git" {
            place += usize::from(OF_GIT.contains(&word.as_str()));
        } else if arguments
            .get(place)
            .is_some_and(|next| !next.starts_with('-'))
        {
            rests.push(&arguments[place..]);
            // As if the option took that word.
            rests.extend(arguments.get(place + 1..));
        }
    }
    if place > 0 {
        rests.extend(arguments.get(place..));
    }
    rests
}
