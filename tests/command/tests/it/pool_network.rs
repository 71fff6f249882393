//! Failures of the network between a broker and a worker of a pool.
//!
//! The runtime and the broker are at the near end, the worker is at the far end. Each test has 20 handles with 3 processes
//! each, one that prints numbers and one that notes what is typed.

use windlass_outside::needs;

use crate::network::{NEAR, Network, Weather, network};
use crate::network_scene::Scene;
use crate::pool_support::{Broker, WorkerProcess, pooled};
use crate::support::{Project, prefixed};

/// A heartbeat in milliseconds. Three are longer than a failure that costs nothing and the next attempt of TCP after it.
const LONG: u32 = 10_000;

/// The broker and the worker, which live as long as the test.
type Machines = (Broker, WorkerProcess);

/// Kills the worker and the runtime. Nothing of the crowd is left after the lease. The worker alone would wait for three
/// heartbeats of the runtime.
fn expect_nothing_left(scene: Scene, machines: Machines) {
    let (_broker, mut worker) = machines;
    worker.kill();
    scene.expect_nothing_left();
}

/// A runtime with tools on a worker at the other end of a network.
fn begin(network: &Network, heartbeat_ms: u32) -> (Scene, Machines) {
    let broker = Broker::across(NEAR, network.words_near());
    let project = Project::with_own_config(&pooled(&broker, 600));
    let heartbeat = heartbeat_ms.to_string();
    let more = ["--heartbeat-ms", &heartbeat, "--slots", "64"];
    let far = network.words_far();
    let worker = WorkerProcess::after(&far, &project, &broker.url(), "w1", &more);
    let near = network.words_near();
    let drive = project.lines_of(prefixed(&near, project.windlass(&["drive"])));
    (Scene::begin(project, drive), (broker, worker))
}

#[test]
fn a_cable_that_is_out_while_packets_are_sent_again_costs_a_pool_nothing() {
    needs!("ip", "nsenter", "nats-server");
    let network = network!(Network::cable());
    let (mut scene, machines) = begin(&network, LONG);
    scene.type_lines(5);
    network.pull_out();
    scene.type_lines(3);
    network.expect_resending();
    network.put_in();
    scene.type_lines(5);
    scene.expect_everything();
    expect_nothing_left(scene, machines);
}

#[test]
fn a_cable_that_is_out_for_longer_than_three_heartbeats_loses_the_handles() {
    needs!("ip", "nsenter", "nats-server");
    let network = network!(Network::cable());
    let (mut scene, _machines) = begin(&network, 1000);
    scene.type_lines(5);
    network.pull_out();
    scene.expect_loss("worker `w1` of pool `ci` was silent");
    scene.expect_first_numbers();
    network.put_in();
    // Long before their leases expire.
    scene.expect_no_crowd();
    scene.expect_use();
}

#[test]
fn lost_and_delayed_packets_lose_nothing_of_a_pool() {
    needs!("ip", "nsenter", "nats-server", "python3");
    let mut network = network!(Network::radio());
    let (mut scene, machines) = begin(&network, LONG);
    network.set_weather(Weather {
        lost_out: 5,
        lost_back: 5,
        delay: (10, 60),
    });
    scene.type_lines(10);
    scene.expect_everything();
    expect_nothing_left(scene, machines);
}

#[test]
fn connections_of_a_worker_that_are_open_on_one_side_only_cost_nothing() {
    needs!("ip", "nsenter", "nats-server", "python3");
    let mut network = network!(Network::radio());
    let (mut scene, machines) = begin(&network, LONG);
    for (lost_out, lost_back) in [(100, 0), (0, 100), (100, 100)] {
        network.set_weather(Weather {
            lost_out,
            lost_back,
            ..Weather::default()
        });
        scene.type_lines(2);
        network.expect_resending();
        network.set_weather(Weather::default());
        scene.expect_heard();
    }
    scene.expect_everything();
    expect_nothing_left(scene, machines);
}
