use super::*;

fn read(line: &str) -> Vec<SubjectPattern> {
    CommandLine::read(line, ShellLanguage::Bash).commands
}

/// The simple commands of the line, with `…` for what is not known.
#[track_caller]
fn check(line: &str, commands: &[&str]) {
    let found = read(line);
    let found: Vec<String> = found
        .iter()
        .map(|command| command.known.replace(UNKNOWN, "…"))
        .collect();
    assert_eq!(found, commands, "{line}");
}

/// A rule for `touch *` that denies finds the command in the line.
fn touches(line: &str, dialect: ShellLanguage) -> bool {
    let found = CommandLine::read(line, dialect).commands;
    let mut forms = found.iter().flat_map(|command| {
        let forms = command.forms.iter();
        forms.chain([&command.known, &command.text])
    });
    forms.any(|form| form.starts_with("touch") || form.starts_with(UNKNOWN))
}

#[test]
fn a_line_is_split_into_simple_commands() {
    check("ls", &["ls"]);
    check("  ls -l  ", &["ls -l"]);
    check("a && b || c; d | e & f", &["a", "b", "c", "d", "e", "f"]);
    check("a\nb\n\n", &["a", "b"]);
    check("! a", &["a"]);
    check("ls # comment; rm", &["ls"]);
}

#[test]
fn quotes_are_taken_off_and_words_stay_apart() {
    check("git 'push'", &["git push"]);
    check("g\"it\" pu\\sh", &["git push"]);
    check("\\touch  x\ty", &["touch x y"]);
    check("echo 'a; b' e\\;f", &["echo 'a; b' e;f"]);
    check("echo 'it'\\''s'; ls", &["echo 'it'\\''s'", "ls"]);
    check("'git status' x", &["'git status' x"]);
    check("echo ''", &["echo ''"]);
}

#[test]
fn commands_are_found_in_groups_loops_and_conditions() {
    check("(cd x; ls)", &["cd x", "ls"]);
    check("{ ls; pwd; }", &["ls", "pwd"]);
    check(
        "if a; then b; elif c; then d; else e; fi",
        &["a", "b", "c", "d", "e"],
    );
    check("for f in x y; do rm $f; done", &["rm …"]);
    check(
        "while read x; do a; done < f",
        &["read x", "a", "while read x; do\n    a\ndone< f"],
    );
    check("case $x in a) b;; *) c;; esac", &["b", "c"]);
}

#[test]
fn what_is_known_only_later_is_unknown() {
    check("echo $HOME", &["echo …"]);
    check("echo \"a $HOME b\"", &["echo 'a … b'"]);
    check("ls *.rs", &["ls …"]);
    check("ls {a,b}", &["ls …"]);
    check("$EDITOR x", &["… x"]);
    check("echo $'a\\x62'", &["echo …"]);
    check("cat ~/x", &["cat …/x"]);
}

#[test]
fn substitutions_are_commands_of_their_own() {
    check("echo $(touch x)", &["touch x", "echo …"]);
    check("echo `touch x`", &["touch x", "echo …"]);
    check("echo \"$(touch x)\"", &["touch x", "echo …"]);
    check("diff <(a) <(b)", &["a", "b", "diff … …"]);
}

#[test]
fn a_redirection_to_a_file_is_allowed_only_by_its_own_text() {
    for (line, exact) in [
        ("make 2>&1", false),
        ("make >/dev/null 2>&1", false),
        ("make &>/dev/null", false),
        ("make </dev/null", false),
        ("make >&2", false),
        ("make >&1out", true),
        ("make > log", true),
        ("make >> log", true),
        ("make &> log", true),
        ("make >& log", true),
        ("make <> log", true),
        ("make >| log", true),
        ("make 2> log", true),
        ("sort < names", true),
    ] {
        let found = read(line);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert_eq!(found[0].exact, exact, "{line}");
    }
}

#[test]
fn variables_are_part_of_a_command_unless_they_are_harmless() {
    check("A=b make", &["A=b make"]);
    check("RUST_LOG=debug make", &["make"]);
    check("PATH=/tmp:$PATH git status", &["PATH=/tmp:… git status"]);
    check("A=1; b", &["A=1", "b"]);
}

/// Lines that run `touch`, or may.
const SPELLINGS: &[&str] = &[
    "touch x",
    "touch\tx",
    "'touch' x",
    "\"touch\" x",
    "\\touch x",
    "to''uch x",
    "A=b touch x",
    "if true; then touch x; fi",
    "for i in 1; do touch x; done",
    "! touch x",
    "2>&1 touch x",
    ">/dev/null touch x",
    "/usr/bin/touch x",
    "../../usr/bin/touch x",
    "command touch x",
    "command -p touch x",
    "builtin command touch x",
    "env touch x",
    "env -i A=b touch x",
    "env -S 'touch x'",
    "env -S'touch x'",
    "exec touch x",
    "exec -a z touch x",
    "nice touch x",
    "nice -n 5 touch x",
    "nice -5 touch x",
    "timeout 5 touch x",
    "timeout -k 1 5 touch x",
    "timeout --signal=KILL 5 touch x",
    "nohup touch x",
    "setsid touch x",
    "time touch x",
    "stdbuf -o0 touch x",
    "xargs touch < f",
    "echo x | xargs -n 1 touch",
    "echo x | xargs -I{} touch {}",
    "sudo touch x",
    "sudo -u root touch x",
    "sudo -- touch x",
    "bash -c 'touch x'",
    "sh -ec 'touch x'",
    "bash -o errexit -c 'touch x'",
    "bash -c \"bash -c 'touch x'\"",
    "eval touch x",
    "eval 'touch x'",
    "echo $(touch x)",
    "echo `touch x`",
    "echo \"${a:-$(touch x)}\"",
    "echo $((a[$(touch x)]))",
    "x=touch; $x y",
    "t${y}ouch x",
    "/usr/bin/tou?h x",
    "{touch,x}",
    "find . -exec touch {} \\;",
    "find . -name x -execdir touch {} +",
    "touch() { :; }; touch x",
    "f() { touch x; }; f",
    "trap 'touch x' EXIT",
    "(touch x)",
    "{ touch x; }",
    "true && touch x",
    "true | touch x",
    "touch x &",
    "cat <<EOF\n$(touch x)\nEOF",
    "echo 'touch x' | sh",
    "sh <<< 'touch x'",
    "sudo env A=b nice timeout 3 touch x",
    "busybox touch x",
    "coproc touch x",
    "[[ -n $(touch x) ]]",
    "su -c 'touch x'",
    "case $(touch x) in a) ;; esac",
    "for f in $(touch x); do :; done",
    "A=$(touch x)",
    "echo <(touch x)",
    "$'touch' x",
    "$'\\x74ouch' x",
    "touch\\\n x",
    "echo \"`echo \\\"\\$(touch x)\\\"`\"",
    "!(touch x)",
    "printf -v 'a[$(touch x)]' y",
    "test -v 'a[$(touch x)]'",
    "bash <(echo touch x)",
    "source /dev/stdin <<< 'touch x'",
    "bash /dev/stdin <<< 'touch x'",
    "echo 'touch x' | bash -s y",
    "echo 'touch x' | sudo -s",
    "watch -n 1 touch x",
    "hash -p /usr/bin/touch ls; ls x",
    "if", // not a line at all
];

#[test]
fn a_denied_command_is_found_however_it_is_spelled() {
    for line in SPELLINGS {
        assert!(
            touches(line, ShellLanguage::Bash),
            "{line}: {:?}",
            read(line)
        );
    }
    for line in ["touch x", "eval 'touch x'", "if true; then touch x; fi"] {
        assert!(touches(line, ShellLanguage::Posix), "{line}");
        assert!(touches(line, ShellLanguage::Other), "{line}");
    }
}

#[test]
fn a_command_that_is_not_denied_is_not_taken_for_one() {
    for line in [
        "echo touch x",
        "ls",
        "git status",
        "cargo test -- touch",
        "echo $HOME",
        "make 2>&1 | tail -n 5",
        "for f in a b; do wc $f; done",
        "timeout 5 echo touch",
        "bash -c 'echo touch'",
        "sh script.sh",
        "echo $((1 + 2 * (3)))",
    ] {
        assert!(
            !touches(line, ShellLanguage::Bash),
            "{line}: {:?}",
            read(line)
        );
    }
}

#[test]
fn options_before_a_subcommand_do_not_hide_it() {
    for line in [
        "git -c a.b=c push",
        "git -C x push",
        "git --no-pager push",
        "git --git-dir x push origin",
        "git  push",
        "git 'push'",
    ] {
        let found = read(line);
        let forms: Vec<_> = found.iter().flat_map(|command| &command.forms).collect();
        assert!(
            forms.iter().any(|form| form.starts_with("git push")),
            "{line}: {forms:?}"
        );
    }
}

#[test]
fn a_line_that_is_not_understood_is_unknown() {
    let deep = format!("{}ls{}", "$(".repeat(200), ")".repeat(200));
    let long = "a ".repeat(LONGEST);
    for line in ["echo 'open", "if", "a )", "", &deep, &long] {
        assert_eq!(read(line), [unknown(line.trim())], "{line:.20}");
    }
    let fish = CommandLine::read("echo hi", ShellLanguage::Other);
    assert_eq!(fish.commands, [unknown("echo hi")]);
}

#[test]
fn only_commands_that_merely_read_are_remembered_with_any_arguments() {
    for (line, always) in [
        ("ls", Some("ls *")),
        ("ls -l", Some("ls *")),
        ("cat README.md", Some("cat *")),
        ("git status -s x", Some("git status *")),
        ("rm build.log", Some("rm build.log")),
        ("python3 x.py", Some("python3 x.py")),
        ("timeout 5 ls", Some("timeout 5 ls")),
        ("git diff", Some("git diff")),
        ("git log -p", Some("git log -p")),
        ("sort -o x y", Some("sort -o x y")),
        ("A=b ls", Some("A=b ls")),
        ("ls > x", Some("ls > x")),
        ("rm *.o", None),
        ("rm $x", Some("rm $x")),
        ("/tmp/ls", Some("/tmp/ls")),
    ] {
        let found = read(line);
        let suggested = suggestion(&found[0]);
        assert_eq!(suggested.as_deref(), always, "{line}");
    }
}

#[test]
fn commands_that_differ_have_texts_that_differ() {
    for (one, other) in [
        ("sh <<E\nls\nE", "sh <<E\nrm x\nE"),
        ("cat <<< a", "cat <<< b"),
        ("a > x", "a >> x"),
        ("a 2> x", "a > x"),
        ("a 'b c'", "a b c"),
        ("A=1 b", "A=2 b"),
    ] {
        assert_ne!(read(one)[0].text, read(other)[0].text, "{one}");
    }
}

/// Numbers that look like chance and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

/// A line that runs `touch`, behind this many layers.
fn nested(chance: &mut Chance, layers: usize) -> String {
    let name = chance.one_of(&[
        "touch",
        "'touch'",
        "\"touch\"",
        "t''ouch",
        "\\touch",
        "to\\uch",
        "/usr/bin/touch",
        "./touch",
        "$'touch'",
    ]);
    let mut line = format!("{name} x");
    let mut is_simple = true;
    for _ in 0..layers {
        let quoted = line.replace('\'', "'\\''");
        let before = chance.one_of(&[
            "env",
            "env -i",
            "sudo",
            "sudo -u root",
            "timeout 5",
            "nice -n 3",
            "nohup",
            "command",
            "exec",
            "setsid",
            "stdbuf -o0",
            "time",
            "A=b",
            "ionice -c 3",
            "xargs",
            "busybox",
            "doas",
            "builtin command",
            "strace -f",
            "2>/dev/null",
            "!",
            "coproc",
        ]);
        (line, is_simple) = match chance.below(16) {
            0..=6 if is_simple => (
                format!("{before} {line}"),
                before != "!" && before != "coproc",
            ),
            0 => (format!("bash -c '{quoted}'"), true),
            1 => (format!("sh -ec '{quoted}' a b"), true),
            2 => (format!("eval '{quoted}'"), true),
            3 => (format!("( {line} )"), false),
            4 => (format!("{{ {line}; }}"), false),
            5 => (format!("if true; then {line}; fi"), false),
            6 => (format!("for i in 1 2; do {line}; done"), false),
            7 => (format!("echo $({line})"), true),
            8 => (format!("echo \"a $({line}) b\""), true),
            9 => (format!("true && {line}"), false),
            10 => (format!("ls | {line}"), false),
            11 => (format!("while {line}; do break; done"), false),
            12 => (format!("case a in a) {line};; esac"), false),
            13 => (format!("f() {{ {line}; }}; f"), false),
            14 => (format!("trap '{quoted}' EXIT"), true),
            _ => (format!("bash -c 'exec bash -c \"$0\"' '{quoted}'"), true),
        };
    }
    line
}

#[test]
fn a_denied_command_is_found_behind_any_layers() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for number in 0..4000 {
        let layers = number % 6;
        let line = nested(&mut chance, layers);
        assert!(
            touches(&line, ShellLanguage::Bash),
            "{line}: {:?}",
            read(&line)
        );
    }
}

/// More lines that run `touch`, or may.
const MORE_SPELLINGS: &[&str] = &[
    "touch<x",
    "( (touch x) )",
    "((touch x) )",
    "((touch x); (true))",
    "((touch x);(true))",
    "((touch x)&(true))",
    "( ( touch ) )",
    "while ( ( touch x ) ); do break; done",
    "touch x;",
    ";touch x",
    "&& touch x",
    "true ||touch x",
    "true&touch x",
    "'to'\"uc\"h x",
    "t\\\nouch x",
    "${x:-touch} y",
    "${!x} y",
    "\"$(echo touch)\" x",
    "$(echo touch) x",
    "`echo touch` x",
    "X=touch Y=1 $X y",
    "a=(touch x); \"${a[@]}\"",
    "set -- touch x; \"$@\"",
    "ls && { touch x; }",
    "until touch x; do :; done",
    "select a in b; do touch x; done",
    "while :; do touch x; break; done",
    "function f { touch x; }; f",
    "exec 3>&1; touch x",
    "time -p touch x",
    "env -u A touch x",
    "env --chdir=/ touch x",
    "env A=1 B=2 touch x",
    "env -C / touch x",
    "nice --adjustment=5 touch x",
    "timeout --foreground 5s touch x",
    "timeout 5 env A=1 touch x",
    "sudo -E -H touch x",
    "sudo A=1 touch x",
    "sudo -i touch x",
    "xargs -0 touch",
    "xargs -r -n1 touch",
    "find . -type f -ok touch {} \\;",
    "find . -exec sh -c 'touch x' \\;",
    "fd -x touch",
    "sh -c 'touch \"$1\"' a x",
    "sh -c \"touch x\"",
    "bash -lc 'touch x'",
    "bash -xc 'touch x'",
    "bash -c 'eval \"touch x\"'",
    "zsh -c 'touch x'",
    "su root -c 'touch x'",
    "script -c 'touch x' /dev/null",
    "script -qc 'touch x'",
    "watch touch x",
    "flock /tmp/l touch x",
    "flock /tmp/l -c 'touch x'",
    "taskset 1 touch x",
    "chroot / touch x",
    "unshare -r touch x",
    "ssh localhost touch x",
    "parallel touch ::: x",
    "alias ls=touch; ls x",
    "enable -n touch; touch x",
    "cat <(touch x)",
    "cat > >(touch x)",
    "cat <<< $(touch x)",
    ": ${x:=$(touch y)}",
    "(( a = $(touch x) ))",
    "[[ $(touch x) ]]",
    "let 'a[$(touch x)]'",
    "export A=$(touch x)",
    "fc -s touch",
    "bind -x '\"a\": touch x'",
    "complete -C touch a",
    "mapfile -C touch -c 1 a",
    "readarray -C 'touch x' a",
    "PROMPT_COMMAND='touch x'",
    "git -c alias.x='!touch x' x",
    "eval \"$(echo dG91Y2ggeA== | base64 -d)\"",
    "base64 -d <<< dG91Y2ggeA== | sh",
    "echo touch x | bash",
    "echo touch x | sudo bash",
    ". <(echo touch x)",
    "bash <<'E'\ntouch x\nE",
];

#[test]
fn a_denied_command_is_found_in_more_spellings() {
    let passed: Vec<&&str> = MORE_SPELLINGS
        .iter()
        .filter(|line| !touches(line, ShellLanguage::Bash))
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

/// Options that have some program write a file or run another one.
const HOSTILE: &[&[&str]] = &[
    &["-o", "made"],
    &["-O", "made"],
    &["-w", "made"],
    &["--output=made"],
    &["--output", "made"],
    &["-i", "touch made"],
    &["-e", "touch made"],
    &["-c", "touch made"],
    &["--exec=touch made"],
    &["--exec", "touch", "made"],
    &["-x", "touch", "made"],
    &["--pager=touch made"],
    &["--to-command=touch made"],
    &["--compress-program=touch made"],
    &["touch", "made"],
];

#[test]
fn commands_that_are_remembered_with_any_arguments_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for program in suggest::READERS {
        for options in HOSTILE {
            #[expect(clippy::disallowed_methods, reason = "the real programs are tried")]
            let run = std::process::Command::new(program)
                .args(*options)
                .current_dir(folder.path())
                .stdin(std::process::Stdio::null())
                .output();
            // One that is not there cannot be tried.
            drop(run);
            let left = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(left, 0, "{program} {options:?}");
        }
    }
}
