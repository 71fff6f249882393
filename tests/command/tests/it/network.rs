//! Two network namespaces and a link between them, whose failures a test chooses.
//!
//! Start at [`Network::cable`], which can be pulled out, and [`Network::radio`], which loses and delays packets: with
//! `tc netem` if the kernel has it, otherwise with a program that passes packets between two tunnels. A machine that does
//! not let this user make namespaces gives `None`, and the test is skipped.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::eventually;

/// The addresses of the two ends. Nobody outside of the namespaces sees them.
pub(crate) const NEAR: &str = "10.77.0.1";
pub(crate) const FAR: &str = "10.77.0.2";

/// Passes packets between two tunnels, and loses and delays them as its input says: the share of lost packets towards
/// the far and towards the near side, in per cent, and the shortest and longest delay, in milliseconds.
const RADIO: &str = r"
import fcntl, heapq, os, random, select, struct, sys, time

def tunnel(name):
    fd = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, 0x400454CA, struct.pack('16sH', name, 0x1001))
    return fd

near, far = tunnel(b'near'), tunnel(b'far')
lost, delays, waiting, count = {near: 0, far: 0}, (0, 0), [], 0
while True:
    limit = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    for ready in select.select([near, far, 0], [], [], limit)[0]:
        if ready == 0:
            words = os.read(0, 4096).split()
            if not words:
                sys.exit()
            lost = {near: float(words[-4]), far: float(words[-3])}
            delays = (float(words[-2]) / 1000, float(words[-1]) / 1000)
            continue
        try:
            packet = os.read(ready, 65536)
        except OSError:
            continue
        if random.random() * 100 >= lost[ready]:
            count += 1
            other = far if ready == near else near
            heapq.heappush(waiting, (time.monotonic() + random.uniform(*delays), count, other, packet))
    while waiting and waiting[0][0] <= time.monotonic():
        _, _, other, packet = heapq.heappop(waiting)
        try:
            os.write(other, packet)
        except OSError:
            pass
";

/// Leaves the test if this user cannot make the network.
macro_rules! network {
    ($network:expr) => {
        match $network {
            Some(network) => network,
            None => {
                fn here() {}
                let name = std::any::type_name_of_val(&here);
                return windlass_outside::skip(
                    name.trim_end_matches("::here"),
                    "network namespaces",
                );
            }
        }
    };
}
pub(crate) use network;

/// The state of a radio link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weather {
    /// Packets towards the far side that are lost, in per cent.
    pub(crate) lost_out: u32,
    /// Packets towards the near side that are lost, in per cent.
    pub(crate) lost_back: u32,
    /// The shortest and longest delay of a packet, in milliseconds.
    pub(crate) delay: (u32, u32),
}

/// Two namespaces. They are removed when this is dropped.
pub(crate) struct Network {
    near: String,
    far: String,
    link: NetworkLink,
}

/// What connects the namespaces.
enum NetworkLink {
    /// A pair of virtual Ethernet devices; `netem` may shape it.
    Pair,
    /// The program that passes packets between two tunnels, and its input.
    Tunnels(Child, ChildStdin),
}

impl Network {
    /// Ends that are connected by a pair of virtual Ethernet devices.
    pub(crate) fn cable() -> Option<Self> {
        let network = Self::unconnected()?;
        let (near, far) = (&network.near, &network.far);
        let pair = [
            "link", "add", "near", "netns", near, "type", "veth", "peer", "name", "far", "netns",
            far,
        ];
        if !ip(&pair) {
            return None;
        }
        network.configure();
        Some(network)
    }

    /// Ends whose link can lose and delay packets.
    pub(crate) fn radio() -> Option<Self> {
        let network = Self::cable()?;
        if network.shape(Weather::default()) {
            return Some(network);
        }
        // The kernel has no `netem`.
        drop(network);
        Self::tunnels()
    }

    /// Ends that are connected by tunnels through a program.
    fn tunnels() -> Option<Self> {
        let mut network = Self::unconnected()?;
        let words = network.words_near();
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .args(["python3", "-c", RADIO])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut is_over = false;
        eventually("the tunnels are there", || {
            is_over = child.try_wait().unwrap().is_some();
            is_over || ip(&["-n", &network.near, "link", "show", "far"])
        });
        network.link = NetworkLink::Tunnels(child, stdin);
        let (near, far) = (&network.near, &network.far);
        if is_over || !ip(&["-n", near, "link", "set", "far", "netns", far]) {
            return None;
        }
        network.configure();
        Some(network)
    }

    /// Namespaces without a link; `None` if they cannot be made.
    fn unconnected() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |end: &str| format!("windlass-{}-{number}-{end}", std::process::id());
        let network = Self {
            near: name("near"),
            far: name("far"),
            link: NetworkLink::Pair,
        };
        let are_made = ip(&["netns", "add", &network.near]) && ip(&["netns", "add", &network.far]);
        are_made.then_some(network)
    }

    fn configure(&self) {
        let ends = [
            (&self.near, "near", NEAR, FAR),
            (&self.far, "far", FAR, NEAR),
        ];
        for (namespace, device, own, other) in ends {
            let within = ["-n", namespace];
            for command in [
                vec!["address", "add", own, "peer", other, "dev", device],
                vec!["link", "set", device, "up"],
                vec!["link", "set", "lo", "up"],
            ] {
                assert!(ip(&[&within[..], &command[..]].concat()), "{command:?}");
            }
        }
    }

    /// The words before a program that runs at the near end.
    pub(crate) fn words_near(&self) -> Vec<String> {
        words(&self.near)
    }

    /// The words before a program that runs at the far end.
    pub(crate) fn words_far(&self) -> Vec<String> {
        words(&self.far)
    }

    /// Pulls the cable out of the far end. Neither end hears of it from the other.
    pub(crate) fn pull_out(&self) {
        assert!(ip(&["-n", &self.far, "link", "set", "far", "down"]));
    }

    /// Puts the cable in again.
    pub(crate) fn put_in(&self) {
        assert!(ip(&["-n", &self.far, "link", "set", "far", "up"]));
        // The peer's route went with the device.
        let route = [
            "-n", &self.far, "route", "replace", NEAR, "dev", "far", "src", FAR,
        ];
        assert!(ip(&route));
    }

    /// Changes the state of a radio link.
    pub(crate) fn set_weather(&mut self, weather: Weather) {
        let NetworkLink::Tunnels(_, stdin) = &mut self.link else {
            assert!(self.shape(weather), "{weather:?}");
            return;
        };
        let Weather {
            lost_out,
            lost_back,
            delay: (shortest, longest),
        } = weather;
        // One write, so that it is read whole.
        let line = format!("{lost_out} {lost_back} {shortest} {longest}\n");
        stdin.write_all(line.as_bytes()).unwrap();
    }

    /// Shapes both directions with `netem`; returns whether the kernel has it.
    fn shape(&self, weather: Weather) -> bool {
        let (shortest, longest) = weather.delay;
        let (middle, spread) = (u32::midpoint(shortest, longest), (longest - shortest) / 2);
        let ends = [
            (&self.near, "near", weather.lost_out),
            (&self.far, "far", weather.lost_back),
        ];
        ends.into_iter().all(|(namespace, device, lost)| {
            let rule = format!(
                "-n {namespace} qdisc replace dev {device} root netem loss {lost}% delay {middle}ms {spread}ms"
            );
            succeeds("tc", &rule.split(' ').collect::<Vec<_>>())
        })
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if let NetworkLink::Tunnels(child, _) = &mut self.link {
            let _ = child.kill();
            let _ = child.wait();
        }
        for namespace in [&self.near, &self.far] {
            ip(&["netns", "del", namespace]);
        }
    }
}

fn words(namespace: &str) -> Vec<String> {
    // Not `ip netns exec`, which mounts another /sys.
    vec![
        "nsenter".to_owned(),
        format!("--net=/run/netns/{namespace}"),
    ]
}

/// Runs `ip`; returns whether it succeeded.
fn ip(args: &[&str]) -> bool {
    succeeds("ip", args)
}

fn succeeds(program: &str, args: &[&str]) -> bool {
    let output = Command::new(program).args(args).output();
    output.is_ok_and(|output| output.status.success())
}
