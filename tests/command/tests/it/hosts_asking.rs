//! Questions of carriers: `ssh` asks on its terminal, and the person is asked as by any tool.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::hosts::{hosted, over_ssh_with};
use crate::mcp_support::Mcp;
use crate::programs::windlass;
use crate::support::{Drive, Project, call, eventually, files_below};

/// The next line, which must be a question of a carrier.
#[track_caller]
fn question(drive: &mut Drive) -> Value {
    let asked = drive.next();
    assert_eq!(asked["event"], json!("question"), "{asked}");
    asked
}

fn answer(drive: &mut Drive, asked: &Value, answer: &str) {
    drive.send(&json!({"answer": asked["ask"], "value": answer}));
}

/// Words of a carrier that asks on its terminal before it gives the pipe.
fn asking_script(script: &str) -> Vec<String> {
    let script = format!("{script}; exec \"$0\" host");
    ["sh", "-c", &script, windlass()]
        .map(str::to_owned)
        .to_vec()
}

fn project_via(words: &[String]) -> Project {
    let via: Vec<&str> = words.iter().map(String::as_str).collect();
    Project::with_own_config(&hosted(&via, 600))
}

const PASSWORD: &str = "stty -echo < /dev/tty; printf 'Welcome.\\nPassword for there: ' > /dev/tty; \
     read -r line < /dev/tty; stty echo < /dev/tty; echo > /dev/tty; \
     test \"$line\" = 'open sesame' || { echo denied > /dev/tty; exit 7; }";

#[test]
fn a_password_of_a_carrier_is_a_hidden_question() {
    let project = project_via(&asking_script(PASSWORD));
    let mut drive = project.drive_asking();
    drive.send(&json!([call("shell", json!({"command": "tty; echo in"}))]));
    let asked = question(&mut drive);
    let question = &asked["question"];
    assert_eq!(question["text"], json!("Password for there:"), "{asked}");
    assert_eq!(question["secret"], json!(true), "{asked}");
    let before = question["pre_amble"].as_str().unwrap();
    assert!(
        before.contains("host `there`") && before.contains("Welcome."),
        "{before}"
    );
    answer(&mut drive, &asked, "open sesame");
    // The program there does not have the carrier's terminal.
    let reply = drive.next();
    assert_eq!(
        reply["replies"][0]["content"],
        json!("not a tty\nin\n"),
        "{reply}"
    );
    drive.close_input();
    drive.wait();
    for file in files_below(&project.state_dir()) {
        let bytes = fs::read(&file).unwrap_or_default();
        let has_secret = bytes.windows(11).any(|it| it == b"open sesame");
        assert!(!has_secret, "{}", file.display());
    }
}

#[test]
fn a_program_has_no_terminal_of_the_carrier() {
    let project = project_via(&asking_script("true"));
    let mut drive = project.drive();
    let said = drive.content(
        "shell",
        json!({"command": "(echo hello > /dev/tty) 2> /dev/null && echo has || echo none"}),
    );
    assert_eq!(said, json!("none\n"));
}

#[test]
fn a_wrong_password_ends_with_the_words_of_the_carrier() {
    let project = project_via(&asking_script(PASSWORD));
    let mut drive = project.drive_asking();
    drive.send(&json!([call("shell", json!({"command": "true"}))]));
    let asked = question(&mut drive);
    answer(&mut drive, &asked, "wrong one");
    let reply = drive.next();
    let said = reply["replies"][0]["content"].as_str().unwrap();
    assert!(said.contains("code 7") && said.contains("denied"), "{said}");
    assert!(!said.contains("wrong one"), "{said}");
}

#[test]
fn a_password_is_asked_for_once_though_another_process_of_the_carrier_is_busy_at_times() {
    let busy = "(while kill -0 $$; do sleep 0.03; i=0; while [ $i -lt 9000 ]; do i=$((i + 1)); done; done) 2> /dev/null &";
    for _ in 0..4 {
        let project = project_via(&asking_script(&format!("{busy} {PASSWORD}")));
        let mut drive = project.drive_asking();
        drive.send(&json!([call("shell", json!({"command": "echo in"}))]));
        let asked = question(&mut drive);
        answer(&mut drive, &asked, "open sesame");
        let reply = drive.next();
        assert_eq!(reply["replies"][0]["content"], json!("in\n"), "{reply}");
    }
}

#[test]
fn a_question_that_nobody_can_answer_is_an_error_at_once() {
    let project = project_via(&asking_script(PASSWORD));
    let mut drive = project.drive();
    let said = drive.error("shell", json!({"command": "true"}));
    assert_snapshot!(said, @r#"host `there`: `sh` asks "Password for there:", and no user can be asked here; connect once with `windlass hosts check` on a terminal, or set it up so that it asks nothing (for `ssh`: a host key that is known, and an agent that has the key)"#);
    let checked = project.run(&["hosts", "check", "there"], "");
    assert_eq!(checked.code(), Some(1), "{}", checked.stdout());
    assert_snapshot!(checked.stdout(), @r#"host `there`: `sh` asks "Password for there:", and no user can be asked here; connect once with `windlass hosts check` on a terminal, or set it up so that it asks nothing (for `ssh`: a host key that is known, and an agent that has the key)"#);
}

#[test]
fn a_question_that_is_declined_is_an_error_with_the_reason() {
    let project = project_via(&asking_script(PASSWORD));
    let mut drive = project.drive_asking();
    drive.send(&json!([call("shell", json!({"command": "true"}))]));
    let asked = question(&mut drive);
    drive.send(&json!({"answer": asked["ask"], "decline": "not from here"}));
    let reply = drive.next();
    let said = reply["replies"][0]["content"].as_str().unwrap();
    assert_snapshot!(said, @r#"host `there`: `sh` asked "Password for there:", which was not answered: not from here"#);
}

/// Answers the two questions of `ssh` for a host whose key is not known and a key with a passphrase.
fn answer_ssh(drive: &mut Drive) {
    let key = question(drive);
    let text = key["question"]["text"].as_str().unwrap();
    assert!(text.contains("(yes/no/[fingerprint])?"), "{key}");
    assert!(key["question"].get("secret").is_none(), "{key}");
    assert!(
        key["question"]["pre_amble"]
            .as_str()
            .unwrap()
            .contains("fingerprint"),
        "{key}"
    );
    answer(drive, &key, "yes");
    let passphrase = question(drive);
    let text = passphrase["question"]["text"].as_str().unwrap();
    assert!(text.contains("passphrase"), "{passphrase}");
    assert_eq!(
        passphrase["question"]["secret"],
        json!(true),
        "{passphrase}"
    );
    answer(drive, &passphrase, "a long passphrase");
}

#[test]
fn ssh_asks_the_person_for_a_host_key_and_a_passphrase() {
    needs!("ssh", "sshd", "ssh-keygen");
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new();
    let known = format!(
        "UserKnownHostsFile={}",
        folder.path().join("known").display()
    );
    let options = [
        "StrictHostKeyChecking=ask",
        &known,
        "BatchMode=no",
        "IdentityAgent=none",
    ];
    let words = over_ssh_with(folder.path(), &project, "a long passphrase", &options);
    let via: Vec<&str> = words.iter().map(String::as_str).collect();
    project.write_own(&hosted(&via, 600));
    let mut drive = project.drive_asking();
    drive.send(&json!([call("shell", json!({"command": "echo in"}))]));
    answer_ssh(&mut drive);
    let reply = drive.next();
    assert_eq!(reply["replies"][0]["content"], json!("in\n"), "{reply}");
    assert!(Path::new(&folder.path().join("known")).exists());
    // The link exists, so no question is asked again.
    assert_eq!(
        drive.content("shell", json!({"command": "echo in"})),
        json!("in\n")
    );
}

/// The request that the reply to a hurried call names, and its handle.
#[track_caller]
fn handed_over(reply: &Value) -> (String, String) {
    let view = &reply["structuredContent"];
    assert_eq!(view["state"], json!("pending"), "{reply}");
    let note = view["note"].as_str().unwrap();
    let (_, rest) = note.split_once("`windlass answer ").unwrap();
    let (ask, _) = rest.split_once('`').unwrap();
    (ask.to_owned(), view["id"].as_str().unwrap().to_owned())
}

/// Awaits a handle over calls with a short limit.
fn result_of(mcp: &mut Mcp, id: &str) -> Value {
    loop {
        let awaited = mcp.call("await", json!({"all": [id]}));
        let completed = awaited["structuredContent"]["completed"][0].clone();
        if completed.is_object() {
            return completed["result"].clone();
        }
    }
}

#[test]
fn a_call_that_waits_for_an_answer_to_the_carrier_goes_on_as_a_handle() {
    let calls = [
        json!({"command": "echo in"}),
        json!({"action": "spawn", "id": "it", "command": "echo in"}),
    ];
    for call in calls {
        let project = project_via(&asking_script(PASSWORD));
        let mut mcp = project.mcp(&["--max-block-secs", "0.5"]);
        let (ask, id) = handed_over(&mcp.call("shell", call));
        // The request is the same for everybody who looks again.
        let fetch = json!({"action": "fetch", "id": id});
        assert_eq!(
            handed_over(&mcp.call("shell", fetch)),
            (ask.clone(), id.clone())
        );
        let answered = project.run(&["answer", &ask], "open sesame\n");
        assert_eq!(answered.code(), Some(0), "{}", answered.stderr());
        assert_eq!(result_of(&mut mcp, &id), json!("in\n"));
    }
}

#[test]
fn a_question_of_a_carrier_ends_with_the_handle_that_waits_for_it() {
    let project = project_via(&asking_script(PASSWORD));
    let mut mcp = project.mcp(&["--max-block-secs", "0.5"]);
    let (ask, id) = handed_over(&mcp.call("shell", json!({"command": "echo in"})));
    let aborted = mcp.call("shell", json!({"action": "abort", "id": id}));
    assert_eq!(
        aborted["structuredContent"]["state"],
        json!("stopped"),
        "{aborted}"
    );
    eventually("the request is closed", || {
        let late = project.run(&["answer", &ask], "open sesame\n");
        late.code() != Some(0)
    });
    // The host is asked for again by the next call.
    let (again, id) = handed_over(&mcp.call("shell", json!({"command": "echo in"})));
    assert_ne!(again, ask);
    project.run(&["answer", &again], "open sesame\n");
    assert_eq!(result_of(&mut mcp, &id), json!("in\n"));
}

#[test]
fn a_call_that_waits_for_answers_to_ssh_goes_on_as_a_handle() {
    needs!("ssh", "sshd", "ssh-keygen");
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new();
    let known = folder.path().join("known");
    let known = format!("UserKnownHostsFile={}", known.display());
    let options = [
        "StrictHostKeyChecking=ask",
        &known,
        "BatchMode=no",
        "IdentityAgent=none",
    ];
    let words = over_ssh_with(folder.path(), &project, "a long passphrase", &options);
    let via: Vec<&str> = words.iter().map(String::as_str).collect();
    project.write_own(&hosted(&via, 600));
    let mut mcp = project.mcp(&["--max-block-secs", "0.5"]);
    // Before the first question, the handle is pending without a request.
    let started = mcp.call("shell", json!({"command": "echo in"}));
    let id = started["structuredContent"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut asked = |not: &str| {
        let mut ask = String::new();
        eventually("ssh asks", || {
            let view = mcp.call("shell", json!({"action": "fetch", "id": id}));
            let has_note = view["structuredContent"]["note"].is_string();
            ask = if has_note {
                handed_over(&view).0
            } else {
                String::new()
            };
            !ask.is_empty() && ask != not
        });
        ask
    };
    let key = asked("");
    let answered = project.run(&["answer", &key, "yes"], "");
    assert_eq!(answered.code(), Some(0), "{}", answered.stderr());
    let passphrase = asked(&key);
    let answered = project.run(&["answer", &passphrase], "a long passphrase\n");
    assert_eq!(answered.code(), Some(0), "{}", answered.stderr());
    assert_eq!(result_of(&mut mcp, &id), json!("in\n"));
}

#[test]
fn a_lost_link_asks_again_whoever_has_a_handle() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("echo $$ > {}; {PASSWORD}", pid.display());
    let project = project_via(&asking_script(&script));
    let mut drive = project.drive_asking();
    drive.send(&json!([call(
        "shell",
        json!({"action": "spawn", "id": "it", "command": "cat"})
    )]));
    let asked = question(&mut drive);
    answer(&mut drive, &asked, "open sesame");
    let spawned = drive.next();
    assert!(spawned.to_string().contains("running"), "{spawned}");
    let far: u32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    crate::processes::kill(far);
    let asked = question(&mut drive);
    answer(&mut drive, &asked, "open sesame");
    eventually("what is typed is read again", || {
        drive.send(&json!([call(
            "shell",
            json!({"action": "apply", "id": "it", "input": "hi\n"})
        )]));
        drive.next().to_string().contains("hi")
    });
}
