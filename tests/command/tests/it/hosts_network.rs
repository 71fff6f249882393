//! Failures of the network between a runtime and a host, and deaths on both sides of it.
//!
//! Each test has 20 handles with 3 processes each, one that prints numbers and one that notes what is typed. The numbers
//! arrive exactly once and in order or their handle is lost, no line is typed twice, and nothing is left after the lease.

use serde_json::json;
use windlass_outside::needs;

use crate::lease_orders::LEASE_ORDERS;
use crate::network::{FAR, Network, Weather, network};
use crate::network_scene::Scene;
use crate::processes::{descendants, far_end_in, has_exited, kill, name};
use crate::programs::windlass;
use crate::ssh_server::SshServer;
use crate::support::{Project, eventually};

/// A runtime with tools on a host at the other end of a network. A lease lasts until the test ends it.
fn begin(network: &Network) -> (Scene, SshServer) {
    let server = SshServer::across(FAR, network.words_near(), &network.words_far());
    let project = Project::new();
    let orders = format!("{LEASE_ORDERS}={}", project.orders_dir().display());
    let mut via = server.via();
    let program = via.iter().position(|word| word == windlass()).unwrap();
    via.insert(program, orders);
    project.write_own(&format!(
        "[hosts.there]\nvia = {}\nlease_secs = 600\nheartbeat_secs = 1\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\n",
        json!(via)
    ));
    let drive = project.drive();
    (Scene::begin(project, drive), server)
}

/// The processes of ssh at the near end.
fn clients(scene: &Scene) -> Vec<u32> {
    let below = descendants(scene.drive.pid()).into_iter();
    let pids = below.map(|(pid, _)| pid);
    pids.filter(|pid| name(*pid) == "ssh" && !has_exited(*pid))
        .collect()
}

fn far_ends(server: &SshServer) -> Vec<u32> {
    far_end_in(&server.sessions_folder()).into_iter().collect()
}

/// Kills processes of one kind, and waits until others have taken their place.
fn replace(kind: &str, pids: impl Fn() -> Vec<u32>) {
    let mut first = Vec::new();
    eventually(kind, || {
        first = pids();
        !first.is_empty()
    });
    for pid in &first {
        kill(*pid);
    }
    eventually(kind, || {
        let now = pids();
        !now.is_empty() && now.iter().all(|pid| !first.contains(pid))
    });
}

#[test]
fn a_cable_that_is_out_until_the_link_is_lost_costs_nothing() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen");
    let network = network!(Network::cable());
    let (mut scene, _server) = begin(&network);
    scene.type_lines(5);
    network.pull_out();
    scene.type_lines(3);
    scene.expect_unreachable();
    network.put_in();
    scene.type_lines(5);
    scene.expect_everything();
    scene.expect_nothing_left();
}

#[test]
fn a_cable_that_is_out_for_longer_than_the_lease_loses_the_handles() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen");
    let network = network!(Network::cable());
    let (mut scene, _server) = begin(&network);
    scene.type_lines(5);
    network.pull_out();
    scene.expect_unreachable();
    scene.project.end_leases();
    scene.expect_loss("ends the program");
    // The cable is still out: the far side does this alone.
    scene.expect_no_crowd();
    scene.expect_first_numbers();
    scene.project.let_leases_run();
    network.put_in();
    scene.expect_use();
}

#[test]
fn lost_and_delayed_packets_lose_nothing() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen", "python3");
    let mut network = network!(Network::radio());
    let (mut scene, _server) = begin(&network);
    network.set_weather(Weather {
        lost_out: 5,
        lost_back: 5,
        delay: (10, 60),
    });
    scene.type_lines(5);
    replace("there is a client", || clients(&scene));
    scene.type_lines(5);
    scene.expect_everything();
    scene.expect_nothing_left();
}

#[test]
fn connections_that_are_open_on_one_side_only_are_found_by_heartbeats() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen", "python3");
    let mut network = network!(Network::radio());
    let (mut scene, server) = begin(&network);
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
        first = far_ends(&server);
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
    eventually("there is a far end", || !far_ends(&server).is_empty());
    network.set_weather(Weather {
        lost_out: 100,
        lost_back: 100,
        ..Weather::default()
    });
    for session in server.sessions() {
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
    let (mut scene, server) = begin(&network);
    for _ in 0..2 {
        replace("there is a client", || clients(&scene));
        scene.type_lines(2);
        replace("there is a far end", || far_ends(&server));
        scene.type_lines(2);
        replace("there is a session", || server.sessions());
        scene.type_lines(2);
    }
    scene.expect_everything();
    scene.expect_nothing_left();
}

#[test]
fn a_runtime_that_dies_while_the_cable_is_out_leaves_nothing() {
    needs!("ip", "nsenter", "ssh", "sshd", "ssh-keygen");
    let network = network!(Network::cable());
    let (scene, _server) = begin(&network);
    network.pull_out();
    scene.expect_nothing_left();
}
