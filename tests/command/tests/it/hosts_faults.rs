//! Deaths around a link: of the carrier, of the far end, of the runtime.

use std::fs;
use std::path::Path;

use serde_json::json;
use windlass_outside::needs;

use crate::hosts::{hosted, over_ssh, piped};
use crate::kept::spawn_kept;
use crate::processes::{Victim, descendants, far_end_in, has_exited, kill, name};
use crate::programs::windlass;
use crate::support::{Drive, Project, call, eventually, files_below, lines_of, spawn};

fn far_end(project: &Project) -> Option<u32> {
    far_end_in(&project.state_dir().join("hosts"))
}

/// Kills the far end, and waits until another has taken over.
fn replace_far_end(project: &Project) {
    let mut first = None;
    eventually("there is a far end", || {
        first = far_end(project);
        first.is_some()
    });
    kill(first.unwrap());
    eventually("another far end has taken over", || {
        far_end(project).is_some_and(|pid| Some(pid) != first)
    });
}

#[test]
fn numbered_output_survives_the_death_of_the_far_end() {
    let project = Project::with_own_config(&piped(600));
    let mut drive = project.drive();
    let script = "for i in $(seq 1 40); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.05; done";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": script}),
    );
    for _ in 0..3 {
        replace_far_end(&project);
    }
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert!(ended.to_string().contains("stopped"), "{ended}");
    assert_numbers(&project, 1000..=40_999);
}

/// The log of the only handle has exactly these numbers, one on each line.
#[track_caller]
pub(crate) fn assert_numbers(project: &Project, numbers: std::ops::RangeInclusive<u32>) {
    let texts = logged(project);
    let expected = lines_of(numbers);
    let same = texts.iter().any(|text| text.replace('\r', "") == expected);
    let lengths: Vec<usize> = texts.iter().map(String::len).collect();
    assert!(
        same,
        "none of {lengths:?} bytes is the expected {}",
        expected.len()
    );
}

/// The logs of all handles.
pub(crate) fn logged(project: &Project) -> Vec<String> {
    let files = files_below(&project.state_dir().join("logs")).into_iter();
    files
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect()
}

#[test]
fn numbered_output_survives_the_death_of_ssh_and_sshd() {
    needs!("ssh", "sshd", "ssh-keygen");
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new();
    let words = over_ssh(folder.path(), &project);
    let via: Vec<&str> = words.iter().map(String::as_str).collect();
    project.write_own(&hosted(&via, 600));
    let mut drive = project.drive();
    let script = "for i in $(seq 1 40); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.05; done";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": script}),
    );
    let carriers = |drive: &Drive| -> Vec<u32> {
        let below = descendants(drive.pid()).into_iter().map(|(pid, _)| pid);
        below.filter(|pid| name(*pid).starts_with("ssh")).collect()
    };
    for _ in 0..2 {
        let mut first = Vec::new();
        eventually("there is a carrier", || {
            first = carriers(&drive);
            !first.is_empty()
        });
        for pid in &first {
            kill(*pid);
        }
        eventually("there is another carrier", || {
            carriers(&drive).iter().any(|pid| !first.contains(pid))
        });
    }
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert!(ended.to_string().contains("stopped"), "{ended}");
    assert_numbers(&project, 1000..=40_999);
}

#[test]
fn input_is_typed_once_through_deaths_of_the_far_end() {
    let project = Project::with_own_config(&piped(600));
    let mut drive = project.drive();
    let script = "while read line; do echo $line >> heard; done";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": script}),
    );
    for number in 0..20 {
        if number % 5 == 2 {
            kill(far_end(&project).unwrap());
        }
        let line = format!("line {number}\n");
        drive.content(
            "shell",
            json!({"action": "apply", "id": "it", "input": line}),
        );
    }
    let lines: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();
    let expected = lines.join("\n") + "\n";
    eventually("everything was heard", || {
        project.root().join("heard").exists() && project.read("heard").len() >= expected.len()
    });
    assert_eq!(project.read("heard"), expected);
}

#[test]
fn nothing_is_left_after_the_lease_when_the_runtime_dies() {
    let project = Project::with_own_config(&piped(600));
    let victims: Vec<Victim> = (0..8).map(|_| Victim::new()).collect();
    let mut drive = project.drive();
    for (number, victim) in victims.iter().enumerate() {
        let id = format!("v{number}");
        drive.content(
            "shell",
            json!({"action": "spawn", "id": id, "command": victim.script()}),
        );
        victim.wait_until_up();
    }
    drive.kill();
    project.end_leases();
    eventually("the lease is over and nothing is left", || {
        victims.iter().all(|victim| victim.alive().is_empty())
    });
}

#[test]
fn a_host_that_does_not_come_back_is_reported_and_its_handles_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("open");
    fs::write(&gate, "").unwrap();
    let script = "test -e \"$1\" || { echo the network is down >&2; exit 1; }; exec \"$0\" host";
    let via = ["sh", "-c", script, windlass(), gate.to_str().unwrap()];
    let project = Project::with_own_config(&hosted(&via, 600));
    let mut drive = project.drive();
    let victim = Victim::new();
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": victim.script()}),
    );
    victim.wait_until_up();
    fs::remove_file(&gate).unwrap();
    kill(far_end(&project).unwrap());
    eventually("a fetch says that the host is not reached", || {
        let shown = drive.content("shell", json!({"action": "fetch", "id": "it"}));
        let note = shown["note"].as_str().unwrap_or_default();
        note.contains("host `there` has been unreachable")
    });
    project.end_leases();
    let ended = drive.content("await", json!({"all": ["it"]}));
    let ended = ended.to_string();
    assert!(ended.contains("ends the program"), "{ended}");
    eventually("nothing is left", || victim.alive().is_empty());
    let again = drive.error("shell", json!({"command": "true"}));
    assert!(again.contains("the network is down"), "{again}");
}

/// How long aborts and closing sessions wait for a host that is away, unless a test ends the wait.
pub(crate) const PATIENCE_SECS: u64 = 10;

/// A host that is reached while a file exists, with a victim that runs there as `it`.
struct Gated {
    gate: tempfile::TempPath,
    project: Project,
    drive: Drive,
    victim: Victim,
}

impl Gated {
    fn new() -> Self {
        let gate = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let script = "test -e \"$1\" || exit 1; exec \"$0\" host";
        let via = ["sh", "-c", script, windlass(), gate.to_str().unwrap()];
        let project = Project::with_own_config(&hosted(&via, 600));
        let mut drive: Drive = project.drive();
        let victim = Victim::new();
        drive.content(
            "shell",
            json!({"action": "spawn", "id": "it", "command": victim.script()}),
        );
        victim.wait_until_up();
        Self {
            gate,
            project,
            drive,
            victim,
        }
    }

    /// Breaks the link; it is not restored before [`Gated::open`].
    fn shut(&self) {
        fs::remove_file(&self.gate).unwrap();
        kill(far_end(&self.project).unwrap());
    }

    fn open(&self) {
        fs::write(&self.gate, "").unwrap();
    }
}

#[test]
fn an_abort_is_delivered_when_the_host_is_reached_again() {
    let mut scene = Gated::new();
    scene.shut();
    let abort = call("shell", json!({"action": "abort", "id": "it"}));
    scene
        .drive
        .send(&json!({"batch": "one", "calls": [abort], "concurrent": true}));
    // A later batch is answered first, so the abort has begun.
    let none = json!({"action": "fetch", "id": "none"});
    scene.drive.error("shell", none);
    assert!(!scene.victim.alive().is_empty(), "nobody could end it yet");
    scene.open();
    let reply = scene.drive.next();
    assert!(reply.to_string().contains("stopped"), "{reply}");
    assert_eq!(scene.victim.alive(), Vec::<u32>::new());
}

#[test]
fn an_abort_is_answered_while_the_host_is_away_and_delivered_later() {
    let mut scene = Gated::new();
    scene.shut();
    scene.project.end_leases_up_to(PATIENCE_SECS);
    let abort = json!({"action": "abort", "id": "it"});
    let reply = scene.drive.content("shell", abort);
    assert_eq!(reply["state"], json!("running"), "{reply}");
    let note = reply["note"].as_str().unwrap_or_default();
    assert!(note.contains("has been unreachable"), "{reply}");
    assert!(!scene.victim.alive().is_empty(), "nobody could end it yet");
    scene.open();
    let ended = scene.drive.content("await", json!({"all": ["it"]}));
    assert!(ended.to_string().contains("stopped"), "{ended}");
    eventually("nothing is left", || scene.victim.alive().is_empty());
}

#[test]
fn a_runtime_ends_with_its_input_though_its_host_is_away() {
    let mut scene = Gated::new();
    scene.shut();
    scene.project.end_leases_up_to(PATIENCE_SECS);
    let (_, code) = scene.drive.finish();
    assert_eq!(code, Some(0));
    scene.project.end_leases();
    eventually("nothing is left", || scene.victim.alive().is_empty());
}

/// A carrier that connects once; after that it is silent, and writes its pid into the file.
fn connecting_once(mark: &Path) -> [&str; 5] {
    let script =
        "test -e \"$1\" || { touch \"$1\"; exec \"$0\" host; }; echo $$ > \"$1\"; exec sleep 1000";
    ["sh", "-c", script, windlass(), mark.to_str().unwrap()]
}

#[test]
fn a_lease_expires_while_the_carrier_is_silent_and_another_lease_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let keeps = "[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 1200\n";
    let config = hosted(&connecting_once(&mark), 600) + keeps;
    let project = Project::with_own_config(&config);
    let mut drive: Drive = project.drive();
    let (brief, lasting) = (Victim::new(), Victim::new());
    drive.run([
        spawn("brief", &brief.script()),
        spawn_kept("lasting", &lasting.script()),
    ]);
    brief.wait_until_up();
    lasting.wait_until_up();
    kill(far_end(&project).unwrap());
    let mut carrier = 0;
    eventually("a carrier is silent", || {
        let text = fs::read_to_string(&mark).unwrap();
        carrier = text.trim().parse().unwrap_or(0);
        carrier != 0
    });
    project.end_leases_up_to(600);
    let lost = drive.content("await", json!({"all": ["brief"]}));
    let why = "for its lease of 600 s";
    assert!(lost.to_string().contains(why), "{lost}");
    assert!(!has_exited(carrier), "the attempt to connect still lasts");
    eventually("its program is ended", || brief.alive().is_empty());
    assert!(!lasting.alive().is_empty(), "its lease is longer");
    drive.kill();
    project.end_leases();
    eventually("nothing is left", || {
        brief.alive().is_empty() && lasting.alive().is_empty()
    });
}

#[test]
fn a_runtime_ends_though_the_rest_of_a_one_shot_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let project = Project::with_own_config(&hosted(&connecting_once(&mark), 600));
    let mut drive: Drive = project.drive();
    let reply = drive.one("shell", json!({"command": "sleep 1000 & echo begun"}));
    assert!(reply.to_string().contains("begun"), "{reply}");
    drive.run([spawn("it", "exec sleep 1000")]);
    kill(far_end(&project).unwrap());
    project.end_leases();
    let lost = drive.content("await", json!({"all": ["it"]}));
    let why = "for its lease of 600 s";
    assert!(lost.to_string().contains(why), "{lost}");
    let (_, code) = drive.finish();
    assert_eq!(code, Some(0));
}

/// Passes on the first frame at once, and all later ones late.
const LATE: &str = r"
import struct, sys, time
first = True
while head := sys.stdin.buffer.read(4):
    body = sys.stdin.buffer.read(struct.unpack('<I', head)[0])
    if not first:
        time.sleep(1)
    first = False
    sys.stdout.buffer.write(head + body)
    sys.stdout.buffer.flush()
";

#[test]
fn a_line_that_is_typed_while_a_program_is_resumed_overtakes_no_other() {
    needs!("python3");
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    fs::write(&gate, "open").unwrap();
    let script = "case $(cat \"$1\") in open) exec \"$0\" host ;; late) \"$0\" host | python3 -c \"$2\" ;; esac";
    let via = ["sh", "-c", script, windlass(), gate.to_str().unwrap(), LATE];
    let project = Project::with_own_config(&hosted(&via, 600));
    let mut drive = project.drive();
    let script = "while read line; do echo $line >> heard; done";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": script}),
    );
    let is_lost = |drive: &mut Drive| {
        let shown = drive.content("shell", json!({"action": "fetch", "id": "it"}));
        shown["note"].to_string().contains("has been unreachable")
    };
    fs::write(&gate, "closed").unwrap();
    kill(far_end(&project).unwrap());
    eventually("the link is lost", || is_lost(&mut drive));
    let line = |text: &str| json!({"action": "apply", "id": "it", "input": format!("{text}\n")});
    drive.content("shell", line("first"));
    fs::write(&gate, "late").unwrap();
    eventually("there is a link", || !is_lost(&mut drive));
    drive.content("shell", line("second"));
    let expected = "first\nsecond\n";
    eventually("everything was heard", || {
        project.root().join("heard").exists() && project.read("heard").len() >= expected.len()
    });
    assert_eq!(project.read("heard"), expected);
}
