//! Long output through the program itself: shown in part, and whole on request.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Drive, Project, spawn};

/// A build of 400 steps with colours, a redrawn line, two warnings and a result.
const BUILD: &str = r"
i=1
while [ $i -le 400 ]; do
  printf '\033[32m[%3d/400]\033[0m CC src/module_%02d/file_%03d.o\n' $i $((i % 40)) $i
  case $i in
    120) echo 'src/module_00/file_120.c:31:9: warning: unused variable `n` [-Wunused-variable]';;
    300) printf 'linking 10%%\rlinking 99%%\rsrc/a.c:7:1: warning: this statement may fall through\n';;
  esac
  i=$((i + 1))
done
printf 'BUILD OK: 400 objects, 2 warnings'
";

fn build(drive: &mut Drive) -> String {
    let reply = drive.content("shell", json!({"command": BUILD}));
    reply.as_str().unwrap().to_owned()
}

fn lines(drive: &mut Drive, id: &str, range: &str) -> String {
    let fetch = json!({"action": "fetch", "id": id, "lines": range});
    let view = drive.content("shell", fetch);
    view["content"].as_str().unwrap_or_default().to_owned()
}

/// Puts the lines that the markers of a digest name back into it.
fn restored(drive: &mut Drive, id: &str, digest: &str) -> String {
    let mut text = String::new();
    for line in digest.split_inclusive('\n') {
        let marker = line
            .strip_prefix("[… ")
            .and_then(|rest| rest.strip_suffix(" …]\n"));
        match marker.and_then(|marker| marker.rsplit_once(": ")) {
            Some((_, range)) => text.push_str(&lines(drive, id, range)),
            None => text.push_str(line),
        }
    }
    text
}

#[test]
fn a_build_costs_little_and_none_of_its_lines_is_lost() {
    let project = Project::new();
    let mut drive = project.drive();
    let reply = build(&mut drive);
    assert!(reply.len() < 1000, "{} bytes: {reply}", reply.len());
    for fact in [
        "unused variable `n`",
        "may fall through",
        "BUILD OK: 400 objects, 2 warnings",
    ] {
        assert!(reply.contains(fact), "{fact} is missing in {reply}");
    }
    let (digest, footer) = reply.rsplit_once('\n').unwrap();
    assert_eq!(footer, "[left-out lines: fetch shell-1]");
    let whole = drive.content(
        "shell",
        json!({"action": "fetch", "id": "shell-1", "view": "all"}),
    );
    let whole = whole["result"].as_str().unwrap();
    assert_eq!(whole.lines().count(), 403);
    assert_eq!(restored(&mut drive, "shell-1", digest), whole);
    assert_eq!(lines(&mut drive, "shell-1", "1-1000"), whole);
    drive.finish();
}

#[test]
fn a_person_sees_everything_under_the_same_numbers() {
    let project = Project::new();
    let mut drive = project.drive();
    build(&mut drive);
    let wanted = lines(&mut drive, "shell-1", "119-122");
    assert_eq!(
        project
            .run(&["logs", "shell-1", "--lines", "119-122"], "")
            .stdout(),
        wanted
    );
    let numbered = project
        .run(&["logs", "shell-1", "--plain", "--numbers"], "")
        .stdout();
    let line = wanted.lines().next().unwrap();
    assert!(
        numbered.contains(&format!("   119  {line}\n")),
        "{numbered}"
    );
    let numbered = project
        .run(&["logs", "shell-1", "--lines", "119-122", "--numbers"], "")
        .stdout();
    assert!(
        numbered.starts_with(&format!("   119  {line}\n")),
        "{numbered}"
    );
    let missing = project.run(&["logs", "shell-2"], "");
    assert_snapshot!(missing.stderr(), @"windlass: there is no handle `shell-2`, and no other handle; `windlass run` and assistants start handles");
    drive.finish();
}

#[test]
fn the_record_shows_what_was_read_beside_what_there_was_and_what_that_saved() {
    let project = Project::new();
    let mut drive = project.drive();
    let reply = build(&mut drive);
    let failing = format!("{BUILD}; exit 3");
    drive.one("shell", json!({"command": failing}));
    drive.finish();
    let shown = project
        .run(&["sessions", "show", "last", "--seen", "--whole"], "")
        .stdout();
    let indented = |text: &str| format!("             {text}\n");
    assert!(
        shown.contains(&indented(reply.lines().nth(3).unwrap())),
        "{shown}"
    );
    let line = "         201 [200/400] CC src/module_00/file_200.o\n";
    assert_eq!(shown.matches(line).count(), 2, "{shown}");
    let gain = project.run(&["gain", "last", "--json"], "").stdout();
    let gain: Value = serde_json::from_str(&gain).unwrap();
    let shell = &gain["sessions"][0]["tools"]["shell"];
    assert_eq!(shell["calls"], json!(2), "{gain}");
    assert_eq!(shell["digested"], json!(2), "{gain}");
    assert!(shell["saved_percent"].as_i64().unwrap() > 90, "{gain}");
    assert_eq!(gain["total"]["tokens"], shell["tokens"], "{gain}");
}

#[test]
fn the_config_turns_it_off_for_a_tool_and_for_all() {
    let tables = [
        "[conversation.tools.shell]\ndigest = false\n",
        "[conversation.tools.\"*\"]\ndigest = false\n",
        "[conversation.tools.shell]\ndigest_from = \"31KiB\"\n",
    ];
    for table in tables {
        let project = Project::with_config(table);
        let mut drive = project.drive();
        let reply = build(&mut drive);
        assert_eq!(reply.lines().count(), 403, "{table}");
        drive.finish();
    }
}

#[test]
fn a_configured_text_tool_has_a_digest_if_it_has_fetch() {
    let table = |more: &str| {
        format!(
            "[conversation.tools.count]\nsource = \"local\"\nrun = \"unattended\"\nparameters = {{}}\n\
             command = {{ program = \"sh\", args = [\"build.sh\"] }}\n{more}"
        )
    };
    let stateful = "[conversation.tools.count.spawn]\nstateful = true\n";
    let state = "[conversation.tools.count.spawn]\nstateful = true\nio = \"terminal\"\n";
    for (more, digested) in [(stateful, true), (state, false), ("", false)] {
        let project = Project::with_config(&table(more));
        project.write("build.sh", BUILD);
        let mut drive = project.drive();
        let reply = drive.content("count", json!({}));
        let reply = reply.as_str().unwrap();
        assert_eq!(
            reply.contains("lines like these"),
            digested,
            "{more}: {reply}"
        );
        drive.finish();
    }
}

#[test]
fn handles_and_what_is_awaited_are_shown_in_part() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("b", &format!("read x\n{BUILD}"))]);
    drive.content(
        "shell",
        json!({"action": "apply", "id": "b", "input": "go"}),
    );
    let reply = drive.content("await", json!({"all": ["b"]}));
    let again = drive.content("shell", json!({"action": "fetch", "id": "b"}));
    let digest = again["result"].as_str().unwrap();
    assert!(
        digest.contains("lines like these") && digest.len() < 1000,
        "{reply} {again}"
    );
    let whole = lines(&mut drive, "b", "1-1000");
    assert_eq!(restored(&mut drive, "b", digest), whole);
    drive.finish();
}
