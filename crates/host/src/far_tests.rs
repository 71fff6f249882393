use tokio::io::{AsyncWriteExt, DuplexStream, ReadHalf, split};
use tokio::time::Instant;
use windlass_hold_wire::{HolderOrder, LONGEST_WINDOW, LinkCapture, ProgramStart, frame};

use super::*;

/// The near side of a link to a far end in this process.
struct Near {
    reader: FrameReader<ReadHalf<DuplexStream>>,
    sender: FrameSender,
    folder: tempfile::TempDir,
    /// How many bytes of each program have arrived.
    received: HashMap<u64, u64>,
    /// The offset at which each program has exited. An exit may arrive before the last output.
    exits: HashMap<u64, u64>,
}

impl Near {
    fn new(labels: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (near, far) = tokio::io::duplex(64 << 10);
        let options = ServeOptions {
            folder: folder.path().join("hosts"),
            limits: Ok(ResourceLimits::default()),
            labels: labels.iter().map(ToString::to_string).collect(),
            places: |_| ProjectPlaces::default(),
        };
        let (input, output) = split(far);
        windlass_task::spawn(serve(input, output, options, std::future::pending()));
        let (input, output) = split(near);
        let (sender, writing) = FrameSender::new(output);
        windlass_task::spawn(writing);
        let hello = NearHello {
            version: LINK_VERSION,
            program: String::from("test"),
            session: [7; 16],
            lease: Duration::from_secs(2),
            heartbeat: Duration::from_mins(1),
            asks: Vec::new(),
        };
        sender.send(&NearFrame::Hello(hello).write());
        Self {
            reader: FrameReader::new(input),
            sender,
            folder,
            received: HashMap::new(),
            exits: HashMap::new(),
        }
    }

    async fn next(&mut self) -> FarFrame {
        let next = tokio::time::timeout(Duration::from_mins(1), self.reader.next(FarFrame::read));
        let frame = next.await.expect("a frame comes in time");
        let frame = frame.unwrap_or_else(|end| panic!("{end:?}"));
        match &frame {
            FarFrame::Output {
                program,
                from,
                bytes,
                ..
            } => {
                let received = self.received.entry(*program).or_default();
                assert_eq!(received, from, "no byte is missing");
                *received += bytes.len() as u64;
            }
            FarFrame::Exited {
                program, offset, ..
            } => {
                self.exits.insert(*program, *offset);
            }
            _ => {}
        }
        frame
    }

    /// Starts a script that may send this much.
    fn start(&self, program: u64, script: &str, credit: u64) {
        let word = |word: &str| word.as_bytes().to_vec();
        let start = ProgramStart {
            program: word("/bin/sh"),
            is_user_shell: false,
            args: vec![word("-c"), word(script)],
            env: Vec::new(),
            env_clear: false,
            cwd: Some(word(self.folder.path().to_str().unwrap())),
            has_input: true,
            capture: LinkCapture::Merged,
            terminal: None,
            grace: Duration::from_secs(1),
            limits: [None; 7],
            credit,
            sandbox: None,
            keep: None,
        };
        let start = Box::new(start);
        self.sender
            .send(&NearFrame::Start { program, start }.write());
    }
}

/// Writes 4 MiB. After 512 KiB more than the credit it creates a file: a pipe has room for 256 KiB.
const FLOOD: &str = "head -c 1572864 /dev/zero; touch unblocked; head -c 2621440 /dev/zero";

#[tokio::test]
async fn a_program_that_is_not_read_blocks_and_delays_no_other() {
    let mut near = Near::new(&[]);
    let (flood, echo) = (1, 2);
    near.start(flood, FLOOD, LONGEST_WINDOW);
    near.start(echo, "while read -r x; do echo $x; done", LONGEST_WINDOW);
    while near.received.get(&flood) != Some(&LONGEST_WINDOW) {
        near.next().await;
    }
    for id in 1..=200_u64 {
        let order = HolderOrder::Write(b"12345678901234567890\n".to_vec());
        let write = NearFrame::Order {
            program: echo,
            id,
            order,
        };
        near.sender.send(&write.write());
        while near.received.get(&echo) != Some(&(id * 21)) {
            near.next().await;
        }
    }
    assert_eq!(near.received[&flood], LONGEST_WINDOW);
    assert!(!near.folder.path().join("unblocked").exists());
    let all = 4 * LONGEST_WINDOW;
    let mut until = LONGEST_WINDOW;
    while near.received[&flood] < all {
        if near.received[&flood] == until {
            until += LONGEST_WINDOW;
            let credit = NearFrame::Credit {
                program: flood,
                until,
            };
            near.sender.send(&credit.write());
        }
        near.next().await;
    }
    while !near.exits.contains_key(&flood) {
        near.next().await;
    }
    assert_eq!(near.exits[&flood], all);
}

#[tokio::test]
async fn a_signal_that_passes_input_is_confirmed_in_turn() {
    let mut near = Near::new(&[]);
    let program = 1;
    let script = "trap 'echo caught; exec cat' INT; echo up; while :; do sleep 0.1; done";
    near.start(program, script, LONGEST_WINDOW);
    while near.received.get(&program) != Some(&3) {
        near.next().await;
    }
    let mut order = 0;
    let mut send = |order_of| {
        order += 1;
        let frame = NearFrame::Order {
            program,
            id: order,
            order: order_of,
        };
        near.sender.send(&frame.write());
    };
    // More than a pipe takes.
    for _ in 0..10 {
        send(HolderOrder::Write(vec![b'x'; 30_000]));
    }
    send(HolderOrder::Signal(2));
    send(HolderOrder::CloseInput);
    let mut confirmed = Vec::new();
    while confirmed.len() < 12 {
        if let FarFrame::Done { id, .. } = near.next().await {
            confirmed.push(id);
        }
    }
    assert_eq!(confirmed, (1..=12).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_program_that_is_resumed_over_the_link_that_starts_it_is_there() {
    let mut near = Near::new(&[]);
    let program = 1;
    near.start(program, "read -r x; echo $x", LONGEST_WINDOW);
    let resume = NearFrame::Resume {
        program,
        from: 0,
        credit: LONGEST_WINDOW,
        origin: None,
        sandbox: None,
    };
    near.sender.send(&resume.write());
    near.sender.send(
        &NearFrame::Order {
            program,
            id: 1,
            order: HolderOrder::Write(b"word\n".to_vec()),
        }
        .write(),
    );
    let mut pids = Vec::new();
    while !near.exits.contains_key(&program) {
        match near.next().await {
            FarFrame::Started { pid, .. } | FarFrame::Resumed { pid, .. } => pids.push(pid),
            _ => {}
        }
    }
    assert_eq!(pids.len(), 2);
    assert_eq!(pids[0], pids[1]);
    assert_eq!(near.exits[&program], 5);
}

#[tokio::test]
async fn the_hello_has_the_labels_of_the_machine() {
    let mut near = Near::new(&["linux", "gpu"]);
    let FarFrame::Hello(machine) = near.next().await else {
        panic!("the first frame is a hello");
    };
    assert_eq!(machine.labels, ["linux", "gpu"]);
}

/// The far end of a link with this heartbeat, without programs, and the near side's end of its pipe.
async fn serving(
    folder: &Path,
    heartbeat: Duration,
) -> (
    DuplexStream,
    tokio::task::JoinHandle<Result<(), ServeError>>,
) {
    let (mut near, far) = tokio::io::duplex(64 << 10);
    let options = ServeOptions {
        folder: folder.join("hosts"),
        limits: Ok(ResourceLimits::default()),
        labels: Vec::new(),
        places: |_| ProjectPlaces::default(),
    };
    let serving = serve(far, tokio::io::sink(), options, std::future::pending());
    let serving = tokio::spawn(serving);
    let hello = NearHello {
        version: LINK_VERSION,
        program: String::from("test"),
        session: [7; 16],
        lease: Duration::from_secs(2),
        heartbeat,
        asks: Vec::new(),
    };
    let hello = frame(&NearFrame::Hello(hello).write());
    near.write_all(&hello).await.unwrap();
    (near, serving)
}

#[tokio::test(start_paused = true)]
async fn a_far_end_lets_go_after_three_silent_heartbeats() {
    let folder = tempfile::tempdir().unwrap();
    let heartbeat = Duration::from_secs(15);
    let (mut near, serving) = serving(folder.path(), heartbeat).await;
    let tick = Duration::from_millis(1);
    for _ in 0..100 {
        tokio::time::sleep((heartbeat * 3).saturating_sub(tick * 2)).await;
        assert!(!serving.is_finished());
        let beat = frame(&NearFrame::Beat.write());
        near.write_all(&beat).await.unwrap();
    }
    let begun = Instant::now();
    serving.await.unwrap().unwrap();
    let silent = begun.elapsed();
    assert!(silent >= heartbeat * 3 && silent <= heartbeat * 3 + tick * 2);
}

#[tokio::test(start_paused = true)]
async fn a_near_side_that_says_nothing_has_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let (_near, far) = tokio::io::duplex(64);
    let options = ServeOptions {
        folder: folder.path().join("hosts"),
        limits: Ok(ResourceLimits::default()),
        labels: Vec::new(),
        places: |_| ProjectPlaces::default(),
    };
    let begun = Instant::now();
    let served = serve(far, tokio::io::sink(), options, std::future::pending()).await;
    assert!(matches!(served, Err(ServeError::NoLink)), "{served:?}");
    assert!(begun.elapsed() >= Duration::from_mins(1));
}
