//! What goes over a link: nothing but heartbeats while nothing happens, and tools that go on without it.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::json;
use windlass_outside::needs;

use crate::processes::{descendants, far_end_in, has_exited, kill, name, signal};
use crate::programs::windlass;
use crate::support::{Project, call, eventually, files_below, spawn};
use crate::term_sitting::numbers;

/// The lengths of the frames that were recorded.
fn frames(file: &Path) -> Vec<usize> {
    let bytes = fs::read(file).unwrap();
    let mut rest = &bytes[..];
    let mut lengths = Vec::new();
    while let Some((head, after)) = rest.split_first_chunk() {
        let length = u32::from_le_bytes(*head) as usize;
        let Some(after) = after.get(length..) else {
            break;
        };
        lengths.push(length);
        rest = after;
    }
    lengths
}

#[test]
fn idle_handles_cost_nothing_beyond_heartbeats() {
    let folder = tempfile::tempdir().unwrap();
    let (out, back) = (folder.path().join("out"), folder.path().join("back"));
    let line = "tee \"$1\" | \"$0\" host | tee \"$2\"";
    let via = json!(["sh", "-c", line, windlass(), out, back]);
    let project = Project::with_own_config(&format!(
        "[hosts.there]\nvia = {via}\nheartbeat_secs = 0.2\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\n"
    ));
    let mut drive = project.drive();
    let quiet = (0..5).map(|number| spawn(&format!("p{number}"), "exec cat"));
    let terminals = (0..5).map(|number| {
        let arguments = json!({"action": "spawn", "id": format!("t{number}"), "command": "exec cat", "terminal": true});
        call("shell", arguments)
    });
    drive.send(&quiet.chain(terminals).collect());
    let started = drive.next();
    assert!(
        !started.to_string().contains("\"is_error\":true"),
        "{started}"
    );
    // Of a heartbeat there is nothing but its kind.
    let is_beat = |length: &usize| *length == 1;
    let mut from = [frames(&out).len(), frames(&back).len()];
    eventually("ten heartbeats each way, and nothing between them", || {
        let all = [frames(&out), frames(&back)];
        for (from, frames) in from.iter_mut().zip(&all) {
            let last = frames.iter().rposition(|length| !is_beat(length));
            *from = (*from).max(last.map_or(0, |last| last + 1));
        }
        from.iter()
            .zip(&all)
            .all(|(from, frames)| frames.len() >= from + 10)
    });
}

const TALK: &str = "import json, os, sys, time\n\
    def say(**state): print(json.dumps(state), flush=True)\n\
    say(type='running', content='one')\n\
    while not os.path.exists('go'): time.sleep(0.02)\n\
    say(type='running', content='two')\n\
    heard = json.loads(sys.stdin.readline())['input']\n\
    open('heard', 'a').write(heard + '\\n')\n\
    say(type='stopped', result={'Ok': 'heard ' + heard})\n";

#[test]
fn one_shots_and_tools_with_states_run_through_a_lost_link() {
    needs!("python3");
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("open");
    fs::write(&gate, "").unwrap();
    let line = "test -e \"$1\" || exit 1; exec \"$0\" host";
    let via = json!(["sh", "-c", line, windlass(), gate]);
    let project = Project::with_own_config(&format!(
        "[hosts.there]\nvia = {via}\nlease_secs = 600\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\ndigest = false\n\
         [conversation.tools.talk]\nsource = \"local\"\ncommand = \"python3 talk.py\"\nhost = \"there\"\n\
         run = \"unattended\"\nparameters = {{}}\nspawn = {{ stateful = true, io = \"state\" }}\n"
    ));
    project.write("talk.py", TALK);
    let mut drive = project.drive();
    let act = |action: &str| json!({"action": action, "id": "it"});
    drive.content("talk", act("spawn"));
    let script = "echo x > begun; until [ -e go ]; do sleep 0.02; done; seq 1 1000; echo x > over";
    let one_shot = call("shell", json!({"command": script}));
    drive.send(&json!({"batch": "one", "calls": [one_shot], "concurrent": true}));
    // One whose far end dies before this is noted was not started.
    eventually("both run and are held", || {
        let files = files_below(&project.state_dir().join("hosts"));
        let keys = files
            .iter()
            .filter(|it| it.extension().is_some_and(|end| end == "key"));
        project.root().join("begun").exists() && keys.count() == 2
    });

    fs::remove_file(&gate).unwrap();
    kill(far_end_in(&project.state_dir().join("hosts")).unwrap());
    eventually("the host is not reached", || {
        let shown = drive.content("talk", act("fetch"));
        shown["note"].to_string().contains("has been unreachable")
    });
    let apply = json!({"action": "apply", "id": "it", "input": "word"});
    drive.content("talk", apply);
    project.write("go", "");
    eventually("the one-shot is over, with nobody to hear of it", || {
        project.root().join("over").exists()
    });
    assert!(
        !project.root().join("heard").exists(),
        "it cannot know of the word"
    );

    fs::write(&gate, "").unwrap();
    let reply = drive.next();
    let numbers = numbers(1000);
    let content = reply["replies"][0]["content"].as_str().unwrap_or_default();
    assert_eq!(
        (reply["batch"].as_str(), content),
        (Some("one"), &numbers[..])
    );
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(
        ended["completed"][0]["result"],
        json!("heard word"),
        "{ended}"
    );
    assert_eq!(project.read("heard"), "word\n");
}

#[test]
fn a_tool_that_ends_while_a_link_is_silent_is_not_lost() {
    let line = "\"$0\" host | cat";
    let via = json!(["sh", "-c", line, windlass()]);
    let project = Project::with_own_config(&format!(
        "[hosts.there]\nvia = {via}\nlease_secs = 600\nheartbeat_secs = 1\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\ndigest = false\n"
    ));
    let mut drive = project.drive();
    let script = "echo x > begun; until [ -e go ]; do sleep 0.02; done; seq 1 1000; echo x > over";
    drive.send(&json!([call("shell", json!({"command": script}))]));
    eventually("the one-shot runs", || {
        project.root().join("begun").exists()
    });
    let far = far_end_in(&project.state_dir().join("hosts")).unwrap();
    let below = descendants(drive.pid()).into_iter().map(|(pid, _)| pid);
    let relay = below.into_iter().find(|pid| name(*pid) == "cat").unwrap();
    // From now on no packet returns, and neither side notices the end.
    signal(relay, Signal::STOP);
    project.write("go", "");
    eventually("it is over", || project.root().join("over").exists());
    let reply = drive.next();
    let numbers = numbers(1000);
    assert_eq!(reply["replies"][0]["content"], json!(numbers), "{reply}");
    eventually("the far end of the silent link is gone", || has_exited(far));
}
