//! Programs that run typed input.

use std::path::Path;

use windlass_process::InputReader;

use crate::commands::ShellLanguage;

/// How the program that reads the input uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReaderKind {
    /// As data, as far as is known.
    Nobody,
    /// As lines of a shell.
    Shell {
        name: String,
        language: ShellLanguage,
    },
    /// As code of another language.
    Interpreter { name: String },
    /// As keys of a pager, some of which run commands.
    Pager { name: String },
    /// As keys of `vim`.
    Vim { name: String, is_inserting: bool },
    /// As text of an editor, with some keys that run commands.
    Editor { name: String },
}

/// The state of the terminal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Situation {
    /// The foreground program is blocked reading, and the input is a single
    /// line.
    pub(crate) takes_one_line: bool,
    /// The screen shows insert mode.
    pub(crate) shows_inserting: bool,
}

impl Situation {
    /// The foreground program is blocked reading.
    pub(crate) fn at_prompt() -> Self {
        Self {
            takes_one_line: true,
            shows_inserting: false,
        }
    }
}

/// Shells and their languages.
const SHELLS: [(&str, ShellLanguage); 18] = [
    ("bash", ShellLanguage::Bash),
    ("sh", ShellLanguage::Posix),
    ("dash", ShellLanguage::Posix),
    ("ash", ShellLanguage::Posix),
    ("busybox", ShellLanguage::Posix),
    ("rbash", ShellLanguage::Bash),
    ("ksh", ShellLanguage::Other),
    ("ksh93", ShellLanguage::Other),
    ("mksh", ShellLanguage::Other),
    ("zsh", ShellLanguage::Other),
    ("zsh5", ShellLanguage::Other),
    ("fish", ShellLanguage::Other),
    ("csh", ShellLanguage::Other),
    ("tcsh", ShellLanguage::Other),
    ("nu", ShellLanguage::Other),
    ("xonsh", ShellLanguage::Other),
    ("pwsh", ShellLanguage::Other),
    ("elvish", ShellLanguage::Other),
];

/// Programs that forward input to a shell that is not visible from here.
const REMOTE: [&str; 16] = [
    "ssh",
    "mosh",
    "mosh-client",
    "telnet",
    "nc",
    "ncat",
    "socat",
    "tmux",
    "screen",
    "docker",
    "podman",
    "kubectl",
    "lxc",
    "machinectl",
    "dtach",
    "abduco",
];

/// Interpreters that read code from their input unless they get a script.
const INTERPRETERS: [&str; 23] = [
    "python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "luajit",
    "tclsh", "wish", "expect", "R", "julia", "octave", "guile", "sbcl", "ocaml", "erl", "iex",
    "scala",
];

/// Programs with a language that can run commands, with any arguments.
const CONSOLES: [&str; 44] = [
    "ipython",
    "bpython",
    "ptpython",
    "irb",
    "pry",
    "utop",
    "ghci",
    "jshell",
    "gdb",
    "lldb",
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "mongosh",
    "mongo",
    "ftp",
    "sftp",
    "lftp",
    "gnuplot",
    "dc",
    "ed",
    "ex",
    "mutt",
    "neomutt",
    "mail",
    "mailx",
    "mc",
    "ranger",
    "lf",
    "nnn",
    "vifm",
    "tig",
    "lazygit",
    "w3m",
    "lynx",
    "info",
    "emacs",
    "emacs-nox",
    "emacsclient",
    "joe",
    "micro",
    "mcedit",
    "hx",
];

const PAGERS: [&str; 5] = ["less", "more", "most", "pager", "man"];

const VIMS: [&str; 10] = [
    "vi",
    "vim",
    "vim.basic",
    "vim.tiny",
    "vim.nox",
    "nvim",
    "view",
    "vimdiff",
    "gvim",
    "nvi",
];

const EDITORS: [&str; 2] = ["nano", "pico"];

impl ReaderKind {
    /// The strictest use among these programs. Programs that are not visible
    /// may be shells.
    pub(crate) fn to(listeners: Option<&[InputReader]>, situation: Situation) -> Self {
        let Some(listeners) = listeners else {
            // It may be a shell.
            return Self::Shell {
                name: "sh".to_owned(),
                language: ShellLanguage::Other,
            };
        };
        let strictest = |is_foreground: bool| {
            let listeners = listeners
                .iter()
                .filter(|listener| listener.is_foreground == is_foreground);
            let kinds = listeners.map(|listener| Self::of(listener, situation));
            kinds.max_by_key(Self::rank).unwrap_or(Self::Nobody)
        };
        let foreground = strictest(true);
        if foreground != Self::Nobody || situation.takes_one_line {
            return foreground;
        }
        // It may be read once the foreground has given the terminal back.
        strictest(false)
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Nobody => 0,
            Self::Editor { .. } => 1,
            Self::Pager { .. } => 2,
            Self::Vim { .. } => 3,
            Self::Interpreter { .. } => 4,
            Self::Shell { .. } => 5,
        }
    }

    /// Whether such a program may hide typed text: it runs none of it, or
    /// forwards it.
    pub(crate) fn may_hide_typing(&self) -> bool {
        *self == Self::Nobody || REMOTE.contains(&self.name())
    }

    /// The program's name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Nobody => "",
            Self::Shell { name, .. }
            | Self::Interpreter { name }
            | Self::Pager { name }
            | Self::Vim { name, .. }
            | Self::Editor { name } => name,
        }
    }

    fn of(listener: &InputReader, situation: Situation) -> Self {
        let kinds = listener
            .names
            .iter()
            .map(|name| Self::of_name(name, &listener.args, situation));
        kinds.max_by_key(Self::rank).unwrap_or(Self::Nobody)
    }

    fn of_name(full: &str, args: &[String], situation: Situation) -> Self {
        // `python3.11` is `python`.
        let name = full.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let owned = || full.to_owned();
        let has = |names: &[&str]| names.contains(&full) || names.contains(&name);
        if let Some((_, language)) = SHELLS.iter().find(|(shell, _)| *shell == full) {
            return if reads_commands(full, args) {
                Self::Shell {
                    name: owned(),
                    language: *language,
                }
            } else {
                Self::Nobody
            };
        }
        if has(&REMOTE) {
            return Self::Shell {
                name: owned(),
                language: ShellLanguage::Bash,
            };
        }
        if has(&CONSOLES) || has(&INTERPRETERS) && reads_code(args) {
            return Self::Interpreter { name: owned() };
        }
        if has(&PAGERS) {
            return Self::Pager { name: owned() };
        }
        if has(&VIMS) {
            // Restricted: it runs no commands.
            let is_restricted = |word: &String| word == "-Z";
            return if args.iter().any(is_restricted) {
                Self::Nobody
            } else {
                Self::Vim {
                    name: owned(),
                    is_inserting: situation.shows_inserting,
                }
            };
        }
        if has(&EDITORS) {
            let is_restricted = |word: &String| word == "-R" || word == "--restricted";
            let is_nano = name == "nano";
            return if is_nano && args.iter().any(is_restricted) {
                Self::Nobody
            } else {
                Self::Editor { name: owned() }
            };
        }
        Self::Nobody
    }
}

/// Whether a shell with these arguments reads commands from its input, not from
/// `-c` or a script.
fn reads_commands(name: &str, args: &[String]) -> bool {
    let args = match args.split_first() {
        // `busybox sh`
        Some((applet, rest)) if name == "busybox" => {
            let is_shell = matches!(applet.as_str(), "sh" | "ash" | "hush");
            return is_shell && reads_commands("sh", rest);
        }
        None if name == "busybox" => return false,
        _ => args,
    };
    let mut words = args.iter();
    let mut interactive = false;
    while let Some(word) = words.next() {
        if word == "--" || word == "-" {
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            if matches!(long, "rcfile" | "init-file" | "init-command") {
                words.next();
            }
            if long.starts_with("command") {
                return interactive;
            }
            continue;
        }
        let Some(letters) = word.strip_prefix(['-', '+']) else {
            return interactive || is_stream(word);
        };
        interactive |= word.starts_with('-') && letters.contains('i');
        if letters.contains('s') {
            return true;
        }
        if word.starts_with('-') && letters.contains('c') {
            return false;
        }
        if letters.ends_with(['o', 'O']) {
            words.next();
        }
    }
    words
        .next()
        .is_none_or(|word| interactive || is_stream(word))
}

/// Whether an interpreter with these arguments reads code from its input.
fn reads_code(args: &[String]) -> bool {
    /// Modules of python that read code.
    const MODULES: [&str; 6] = ["pdb", "code", "IPython", "bpython", "ptpython", "asyncio"];
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-i" | "--interactive" | "-" | "-a" | "repl" => return true,
            "-m" => {
                return words
                    .next()
                    .is_some_and(|module| MODULES.contains(&module.as_str()));
            }
            "-X" | "-W" | "-r" | "--require" | "-I" | "-l" => {
                words.next();
            }
            "-c" | "-e" | "-p" | "--eval" | "--print" | "-E" => {
                return args.iter().any(|word| word == "-i");
            }
            word if word.starts_with('-') => {
                // `-ic` and `-qi`
                let is_short = !word.starts_with("--");
                if is_short && word.contains('i') {
                    return true;
                }
            }
            file => return is_stream(file),
        }
    }
    true
}

/// Whether the file may be the typed input.
fn is_stream(file: &str) -> bool {
    let path = Path::new(file);
    path.starts_with("/dev") || path.starts_with("/proc")
}
