use super::*;

/// `@` is a value.
#[track_caller]
fn check(line: &str, expected: Result<(), ShellPlace>) {
    let mut scan = ShellScan::new();
    let mut texts = line.split('@');
    scan.text(texts.next().unwrap());
    let result = texts.try_for_each(|text| {
        scan.value()?;
        scan.text(text);
        Ok(())
    });
    assert_eq!(result, expected, "{line}");
}

#[test]
fn a_value_may_stand_as_a_word_or_in_one() {
    for line in [
        "echo @",
        "echo a@b @",
        "echo \"a\"@'b'",
        "x=@; echo $x",
        "echo $(cat @ | wc)",
        "echo \"$(cat @)\" @",
        "echo \"$(echo \"$(cat @)\")\"",
        "(cd @ && ls) > @",
        "echo it\\'s @",
        "echo a#b @",
        "echo # don't\necho @",
        "echo $# @",
        "echo $((1 + 2)) ${x} \"${y}\" @",
        "cat <<< @",
        "cat < @",
        "echo `date` @",
        "case x in a) echo @;; esac",
        "echo $$ @",
        "echo '\\' @",
        "echo \"\\\"\" @",
    ] {
        check(line, Ok(()));
    }
}

#[test]
fn a_value_may_not_stand_where_quoting_does_not_hold() {
    for (line, place) in [
        ("echo '@'", ShellPlace::SingleQuotes),
        ("echo 'a @", ShellPlace::SingleQuotes),
        ("echo \"@\"", ShellPlace::DoubleQuotes),
        ("echo \"$(date) @\"", ShellPlace::DoubleQuotes),
        ("echo \"$(echo '@')\"", ShellPlace::SingleQuotes),
        ("echo \"$(echo \"@\")\"", ShellPlace::DoubleQuotes),
        ("echo `cat @`", ShellPlace::Backticks),
        ("echo \"`cat @`\"", ShellPlace::Backticks),
        ("echo ${x:-@}", ShellPlace::Parameter),
        ("echo \"${x:-@}\"", ShellPlace::Parameter),
        ("echo $((1 + @))", ShellPlace::Arithmetic),
        ("echo a # @", ShellPlace::Comment),
        ("# @", ShellPlace::Comment),
        ("a;#@", ShellPlace::Comment),
        ("cat <<END\n@\nEND", ShellPlace::HereDocument),
        ("cat <<'END'\n@\nEND", ShellPlace::HereDocument),
        ("cat <<-@", ShellPlace::HereDocument),
        ("cat <<@", ShellPlace::HereDocument),
        ("echo \\@", ShellPlace::Backslash),
        ("echo $@", ShellPlace::Dollar),
        ("echo $'a\\' @", ShellPlace::DollarQuote),
        ("echo ${x:-'}'} @", ShellPlace::Unclear),
        (
            "echo \"$(case x in a) echo \"@\";; esac)\"",
            ShellPlace::Unclear,
        ),
    ] {
        check(line, Err(place));
    }
}

#[test]
fn words_can_follow_a_line_that_is_complete() {
    for (line, end) in [
        ("cd x && ./y", None),
        ("cd 'x' && ./y \"$z\"", None),
        ("./y # z", Some(ShellPlace::Comment)),
        ("cat <<END\nx\nEND", Some(ShellPlace::HereDocument)),
        ("echo 'x", Some(ShellPlace::SingleQuotes)),
        ("echo $(x", Some(ShellPlace::Bracket)),
        ("echo x \\", Some(ShellPlace::Backslash)),
    ] {
        let mut scan = ShellScan::new();
        scan.text(line);
        assert_eq!(scan.end(), end, "{line}");
    }
}
