//! Whatever dies while twenty tools run, nothing is left behind.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::processes::{VICTIMS, Victim, has_exited, kill, parent};
use crate::support::{Drive, Project, call, eventually, spawn};

/// A session in which twenty tools run, each a tree that is hard to end.
struct Crowd {
    project: Project,
    drive: Drive,
    victims: Vec<Victim>,
}

impl Crowd {
    fn gather() -> Self {
        let project = Project::new();
        let mut drive = project.drive();
        let victims: Vec<Victim> = (0..20).map(|_| Victim::new()).collect();
        let calls: Vec<Value> = victims
            .iter()
            .enumerate()
            .map(|(number, victim)| spawn(&format!("v{number}"), &victim.script()))
            .collect();
        drive.send(&json!(calls));
        let reply = drive.next();
        for reply in reply["replies"].as_array().unwrap() {
            assert_eq!(reply["content"]["state"], json!("running"), "{reply}");
        }
        for victim in &victims {
            victim.wait_until_up();
        }
        Self {
            project,
            drive,
            victims,
        }
    }

    fn alive(&self) -> usize {
        self.victims.iter().map(|victim| victim.alive().len()).sum()
    }

    /// All but the first are as they were.
    #[track_caller]
    fn assert_others_untouched(&self) {
        for victim in &self.victims[1..] {
            assert_eq!(victim.alive().len(), VICTIMS);
        }
    }

    fn zygote(&self) -> u32 {
        parent(self.victims[0].shim()).expect("it runs")
    }

    #[track_caller]
    fn assert_none_left(&self) {
        eventually("nothing is left", || self.alive() == 0);
    }
}

#[test]
fn nothing_outlives_a_killed_drive() {
    needs!("setsid", "nohup");
    let mut crowd = Crowd::gather();
    let zygote = crowd.zygote();
    let shim = crowd.victims[0].shim();
    crowd.drive.kill();
    crowd.assert_none_left();
    eventually("the zygote is gone", || has_exited(zygote));
    eventually("the shim is gone", || has_exited(shim));
}

#[test]
fn nothing_outlives_the_end_of_input() {
    needs!("setsid", "nohup");
    let mut crowd = Crowd::gather();
    crowd.drive.close_input();
    crowd.assert_none_left();
    assert_eq!(crowd.drive.wait().code(), Some(0));
}

#[test]
fn nothing_of_a_tool_outlives_its_shim() {
    needs!("setsid", "nohup");
    let mut crowd = Crowd::gather();
    let shim = crowd.victims[0].shim();
    kill(shim);
    eventually("its tree is gone", || crowd.victims[0].alive().is_empty());
    let awaited = crowd.drive.content("await", json!({"all": ["v0"]}));
    let view = &awaited["completed"][0];
    assert_eq!(view["state"], json!("stopped"));
    let result = view["result"].as_str().unwrap();
    assert!(result.contains(&format!("pid {shim}")), "{result}");
    assert_eq!(view["error"]["transient"], json!(false), "{view}");
    crowd.assert_others_untouched();
    let next = crowd
        .drive
        .content("shell", json!({"command": "echo next"}));
    assert_eq!(next, json!("next\n"));
}

#[test]
fn tools_outlive_their_zygote_and_new_ones_start() {
    needs!("setsid", "nohup");
    let mut crowd = Crowd::gather();
    let zygote = crowd.zygote();
    kill(zygote);
    eventually("the zygote is gone", || has_exited(zygote));
    let next = crowd
        .drive
        .content("shell", json!({"command": "echo next"}));
    assert_eq!(next, json!("next\n"));
    let late = Victim::new();
    crowd.drive.run([spawn("late", &late.script())]);
    late.wait_until_up();
    assert_eq!(crowd.alive(), crowd.victims.len() * VICTIMS);

    abort(&mut crowd.drive, "v0");
    assert!(crowd.victims[0].alive().is_empty());
    crowd.assert_others_untouched();
    abort(&mut crowd.drive, "late");
    assert!(late.alive().is_empty());
    crowd.assert_others_untouched();

    crowd.drive.kill();
    crowd.assert_none_left();
}

#[test]
fn an_abort_ends_all_of_a_tool_and_nothing_else() {
    needs!("setsid", "nohup");
    let mut crowd = Crowd::gather();
    abort(&mut crowd.drive, "v0");
    assert!(
        crowd.victims[0].alive().is_empty(),
        "the reply came too early"
    );
    crowd.assert_others_untouched();
    let again = crowd
        .drive
        .content("shell", json!({"action": "abort", "id": "v0"}));
    assert_eq!(again["state"], json!("stopped"));

    let calls: Vec<Value> = (1..20)
        .map(|number| {
            call(
                "shell",
                json!({"action": "abort", "id": format!("v{number}")}),
            )
        })
        .collect();
    crowd.drive.send(&json!(calls));
    crowd.drive.next();
    assert_eq!(crowd.alive(), 0);
    drop(crowd.project);
}

#[track_caller]
fn abort(drive: &mut Drive, id: &str) {
    let view = drive.content("shell", json!({"action": "abort", "id": id}));
    assert_eq!(view["state"], json!("stopped"), "{view}");
    assert_eq!(view["ended"], json!(VICTIMS), "{view}");
    assert_eq!(view["result"], json!("aborted by the assistant"), "{view}");
}
