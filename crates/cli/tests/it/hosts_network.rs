//! Failures of the network between a runtime and a host, and deaths on both sides of it.
//!
//! Each test has 20 handles with 3 processes each, one that prints numbers and one that notes what is typed. The numbers
//! arrive exactly once and in order or their handle is lost, no line is typed twice, and nothing is left after the lease.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_testing::{needs, skip};

use crate::hosts_faults::{assert_numbers, far_end_in, lines_of, logged};
use crate::network::{FAR, Network, Weather};
use crate::processes::{Victim, descendants, has_exited, kill, name};
use crate::ssh_server::SshServer;
use crate::support::{Drive, Project, eventually, spawn};

/// Handles with three processes each.
const HANDLES: usize = 20;
/// What the handle with numbers prints.
const NUMBERS: RangeInclusive<u32> = 100_000..=139_999;

/// A runtime with tools on a host at the other end of a network.
struct Scene {
    drive: Drive,
    project: Project,
    server: SshServer,
    crowd: Victim,
    /// How many lines were typed.
    typed: u32,
}

impl Scene {
    fn begin(network: &Network, lease_secs: u32) -> Self {
        let server = SshServer::across(FAR, network.words_near(), &network.words_far());
        let config = format!(
            "[hosts.there]\nvia = {}\nlease_secs = {lease_secs}\nheartbeat_secs = 1\n\
             [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\n",
            json!(server.via())
        );
        let project = Project::with_own_config(&config);
        let crowd = Victim::new();
        let mut drive = project.drive();
        let handles = (0..HANDLES).map(|number| spawn(&format!("h{number}"), &crowd.trio()));
        let heard = "while read line; do echo $line >> heard; done";
        let others = [spawn("numbers", &numbers_script()), spawn("heard", heard)];
        drive.send(&handles.chain(others).collect());
        let started = drive.next();
        assert!(
            !started.to_string().contains("\"is_error\":true"),
            "{started}"
        );
        let scene = Self {
            drive,
            project,
            server,
            crowd,
            typed: 0,
        };
        scene.expect_crowd();
        scene
    }

    /// Types some lines, one after the other, whether or not there is a link.
    fn type_lines(&mut self, count: u32) {
        for _ in 0..count {
            self.typed += 1;
            let line = format!("line {}\n", self.typed);
            let apply = json!({"action": "apply", "id": "heard", "input": line});
            self.drive.content("shell", apply);
        }
    }

    /// Waits until a fetch says that the host is not reached.
    fn expect_unreachable(&mut self) {
        eventually("a fetch says that the host is not reached", || {
            let fetch = json!({"action": "fetch", "id": "h0"});
            let shown = self.drive.content("shell", fetch);
            let note = shown["note"].as_str().unwrap_or_default();
            note.contains("host `there` has been unreachable")
        });
    }

    fn expect_crowd(&self) {
        eventually("60 processes run there", || {
            self.crowd.alive().len() == 3 * HANDLES
        });
    }

    /// Nothing was lost, and nothing came twice.
    fn expect_everything(&mut self) {
        let ended = self.drive.content("await", json!({"all": ["numbers"]}));
        let numbers = &ended["completed"][0];
        assert_eq!(numbers["state"], json!("stopped"), "{ended}");
        assert_eq!(numbers.get("error"), None, "{ended}");
        assert_numbers(&self.project, NUMBERS);
        let lines = (1..=self.typed).map(|number| format!("line {number}\n"));
        let expected: String = lines.collect();
        eventually("everything was heard", || {
            self.heard().len() >= expected.len()
        });
        assert_eq!(self.heard(), expected);
        self.expect_crowd();
    }

    fn heard(&self) -> String {
        let file = self.project.root().join("heard");
        std::fs::read_to_string(file).unwrap_or_default()
    }

    /// The processes of ssh at the near end.
    fn clients(&self) -> Vec<u32> {
        let below = descendants(self.drive.pid()).into_iter();
        let pids = below.map(|(pid, _)| pid);
        pids.filter(|pid| name(*pid) == "ssh" && !has_exited(*pid))
            .collect()
    }

    fn far_ends(&self) -> Vec<u32> {
        far_end_in(&self.server.sessions_folder())
            .into_iter()
            .collect()
    }

    /// Kills processes of one kind, and waits until others have taken their place.
    fn replace(&self, kind: &str, pids: impl Fn(&Self) -> Vec<u32>) {
        let mut first = Vec::new();
        eventually(kind, || {
            first = pids(self);
            !first.is_empty()
        });
        for pid in &first {
            kill(*pid);
        }
        eventually(kind, || {
            let now = pids(self);
            !now.is_empty() && now.iter().all(|pid| !first.contains(pid))
        });
    }

    /// Kills the runtime. Nothing of the crowd is left after the lease.
    fn expect_nothing_left(mut self) {
        self.drive.kill();
        eventually("0 of 60 processes are left", || {
            self.crowd.alive().is_empty()
        });
    }
}

/// Prints the numbers, with pauses that make it take some seconds.
fn numbers_script() -> String {
    let (first, last) = (NUMBERS.start(), NUMBERS.end());
    format!(
        "i={first}; while [ $i -le {last} ]; do seq $i $((i + 499)); i=$((i + 500)); sleep 0.1; done"
    )
}

/// Leaves the test if this user cannot make the network.
macro_rules! network {
    ($network:expr) => {
        match $network {
            Some(network) => network,
            None => {
                fn here() {}
                let name = std::any::type_name_of_val(&here);
                return skip(name.trim_end_matches("::here"), "network namespaces");
            }
        }
    };
}

#[test]
fn a_cable_that_is_out_for_five_seconds_costs_nothing() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen");
    let network = network!(Network::cable());
    let mut scene = Scene::begin(&network, 12);
    scene.type_lines(5);
    network.pull_out();
    let out = Instant::now();
    scene.type_lines(3);
    scene.expect_unreachable();
    // The failure itself lasts so long; nothing is waited for.
    std::thread::sleep(Duration::from_secs(5).saturating_sub(out.elapsed()));
    network.put_in();
    scene.type_lines(5);
    scene.expect_everything();
    scene.expect_nothing_left();
}

#[test]
fn a_cable_that_is_out_for_longer_than_the_lease_loses_the_handles() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen");
    let network = network!(Network::cable());
    let mut scene = Scene::begin(&network, 3);
    scene.type_lines(5);
    network.pull_out();
    let ids: Vec<String> = (0..HANDLES).map(|number| format!("h{number}")).collect();
    let lost = scene.drive.content("await", json!({"all": ids}));
    let lost = lost["completed"].as_array().unwrap().clone();
    assert_eq!(lost.len(), HANDLES);
    for handle in lost {
        let handle = handle.to_string();
        assert!(handle.contains("ends the program"), "{handle}");
    }
    // The cable is still out: the far side does this alone.
    eventually("0 of 60 processes are left", || {
        scene.crowd.alive().is_empty()
    });
    let numbers = lines_of(NUMBERS);
    let logs = logged(&scene.project);
    let logs: Vec<&String> = logs
        .iter()
        .filter(|log| log.starts_with("100000"))
        .collect();
    assert!(
        logs.iter().all(|log| numbers.starts_with(log.as_str())),
        "what came is a beginning without a gap"
    );
    network.put_in();
    eventually("the host is reached again", || {
        let reply = scene.drive.one("shell", json!({"command": "echo back"}));
        reply["content"] == json!("back\n")
    });
}

#[test]
fn lost_and_delayed_packets_lose_nothing() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen", "python3");
    let mut network = network!(Network::radio());
    let mut scene = Scene::begin(&network, 10);
    network.set_weather(Weather {
        lost_out: 5,
        lost_back: 5,
        delay: (10, 60),
    });
    scene.type_lines(5);
    scene.replace("there is a client", Scene::clients);
    scene.type_lines(5);
    scene.expect_everything();
    scene.expect_nothing_left();
}

#[test]
fn connections_that_are_open_on_one_side_only_are_found_by_heartbeats() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen", "python3");
    let mut network = network!(Network::radio());
    let mut scene = Scene::begin(&network, 15);
    // Nothing reaches the near side, which hears of no end.
    network.set_weather(Weather {
        lost_back: 100,
        ..Weather::default()
    });
    scene.type_lines(2);
    scene.expect_unreachable();
    network.set_weather(Weather::default());
    scene.type_lines(2);
    // Nothing reaches the far side: it lets go, though its connection is open.
    let mut first = Vec::new();
    eventually("there is a far end", || {
        first = scene.far_ends();
        !first.is_empty()
    });
    network.set_weather(Weather {
        lost_out: 100,
        ..Weather::default()
    });
    eventually("the far end has let go", || has_exited(first[0]));
    network.set_weather(Weather::default());
    scene.type_lines(2);
    // The server dies, and its last packets do not arrive.
    eventually("there is a far end", || !scene.far_ends().is_empty());
    network.set_weather(Weather {
        lost_out: 100,
        lost_back: 100,
        ..Weather::default()
    });
    for session in scene.server.sessions() {
        kill(session);
    }
    scene.expect_unreachable();
    network.set_weather(Weather::default());
    scene.type_lines(2);
    scene.expect_everything();
    scene.expect_nothing_left();
}

#[test]
fn deaths_of_everything_between_runtime_and_program_cost_nothing() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen");
    let network = network!(Network::cable());
    let mut scene = Scene::begin(&network, 10);
    for _ in 0..2 {
        scene.replace("there is a client", Scene::clients);
        scene.type_lines(2);
        scene.replace("there is a far end", Scene::far_ends);
        scene.type_lines(2);
        scene.replace("there is a session", |scene| scene.server.sessions());
        scene.type_lines(2);
    }
    scene.expect_everything();
    scene.expect_nothing_left();
}

#[test]
fn a_runtime_that_dies_while_the_cable_is_out_leaves_nothing() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen");
    let network = network!(Network::cable());
    let scene = Scene::begin(&network, 3);
    network.pull_out();
    scene.expect_nothing_left();
}
