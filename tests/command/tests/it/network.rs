//! Two network namespaces and a link between them, whose failures a test chooses.
//!
//! Start at [`Network::cable`], which can be pulled out, and [`Network::radio`], which loses and delays packets with a
//! program that passes them between two tunnels. A machine that does not let this user make namespaces gives `None`, and
//! the test is skipped.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::eventually;

/// The addresses of the two ends. Nobody outside of the namespaces sees them.
pub(crate) const NEAR: &str = "10.77.0.1";
pub(crate) const FAR: &str = "10.77.0.2";

/// The variable that gives the seed of the radio, to lose packets as an earlier run did.
const SEED: &str = "WINDLASS_TEST_RADIO_SEED";
/// How many times a packet is sent again in an outage that a test notices: for more than a second.
const RESENT: u32 = 3;

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
random.seed(sys.argv[1])
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
            None => windlass_outside::skip!("no network namespaces can be made"),
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
    radio: Option<Radio>,
}

/// The program that passes packets between two tunnels, and its input.
struct Radio(Child, ChildStdin);

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
        let mut network = Self::unconnected()?;
        let seed = seed();
        let words = network.words_near();
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .args(["python3", "-c", RADIO, &seed])
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
        network.radio = Some(Radio(child, stdin));
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
            radio: None,
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

    /// Waits until a connection of the near end has sent its oldest packet several times, in vain.
    pub(crate) fn expect_resending(&self) {
        let words = self.words_near();
        eventually("the near end sends packets again", || {
            let table = Command::new(&words[0])
                .args(&words[1..])
                .args(["cat", "/proc/net/tcp"])
                .output()
                .unwrap();
            let table = String::from_utf8(table.stdout).unwrap();
            let counts = table.lines().skip(1).filter_map(|line| {
                let count = line.split_whitespace().nth(6)?;
                u32::from_str_radix(count, 16).ok()
            });
            counts.max().unwrap_or(0) >= RESENT
        });
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
        let Some(Radio(_, stdin)) = &mut self.radio else {
            panic!("a cable has no weather");
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
}

impl Drop for Network {
    fn drop(&mut self) {
        if let Some(Radio(child, _)) = &mut self.radio {
            let _ = child.kill();
            let _ = child.wait();
        }
        for namespace in [&self.near, &self.far] {
            ip(&["netns", "del", namespace]);
        }
    }
}

/// What decides which packets a radio loses. The test's output has it, which is shown when the test fails.
fn seed() -> String {
    let seed = std::env::var(SEED).unwrap_or_else(|_| {
        let mut bytes = [0; 8];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).unwrap();
        u64::from_ne_bytes(bytes).to_string()
    });
    println!("the radio loses packets by {SEED}={seed}");
    seed
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
    let output = Command::new("ip").args(args).output();
    output.is_ok_and(|output| output.status.success())
}
