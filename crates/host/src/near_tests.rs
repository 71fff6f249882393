//! The near end, with a far end that the test plays.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::Instant;
use windlass_hold_wire::{
    AppliedRules, FarFrame, HolderOrder, LinkExit, NearFrame, ProgramOrigin, StartFailure,
};
use windlass_output::{Output, OutputOptions};
use windlass_process::{Command, Exit, Signal, WriteError};
use windlass_sandbox::ResourceLimits;

use super::*;
use crate::LinkPipe;
use crate::pieces::{FrameReader, FrameSender};

#[path = "near_lease_tests.rs"]
mod leases;

/// Links to the test.
struct Played {
    links: Mutex<Option<mpsc::UnboundedSender<DuplexStream>>>,
    is_away: AtomicBool,
    since: Mutex<Option<Instant>>,
    /// When links were opened, or were to be opened.
    opened: Mutex<Vec<Instant>>,
}

impl LinkSource for Played {
    fn open(&self, _session: LinkSession) -> RemoteFuture<'_, Result<LinkPipe, HostError>> {
        let (near, far) = tokio::io::duplex(1 << 16);
        let links = self.links.lock();
        self.opened.lock().push(Instant::now());
        let is_away = self.is_away.load(Ordering::Relaxed);
        let is_open = !is_away && links.as_ref().is_some_and(|links| links.send(far).is_ok());
        let (input, output): (ReadHalf<_>, WriteHalf<_>) = tokio::io::split(near);
        Box::pin(async move {
            if is_open {
                return Ok(LinkPipe {
                    input: Box::new(input),
                    output: Box::new(output),
                });
            }
            let why = String::from("it is away");
            Err(HostError::Unreached { why })
        })
    }

    fn lease_since(&self) -> Option<Instant> {
        *self.since.lock()
    }
}

/// A host, and its far side.
struct Stage {
    host: Host,
    source: Arc<Played>,
    links: mpsc::UnboundedReceiver<DuplexStream>,
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        Self::with_lease(Duration::from_mins(10))
    }

    fn with_lease(lease: Duration) -> Self {
        let (sender, links) = mpsc::unbounded_channel();
        let source = Arc::new(Played {
            links: Mutex::new(Some(sender)),
            is_away: AtomicBool::new(false),
            since: Mutex::new(Some(Instant::now())),
            opened: Mutex::default(),
        });
        let mut options = HostOptions::new("there", Vec::new(), "/");
        options.lease = lease;
        let host = Host::over(options, Arc::clone(&source) as Arc<dyn LinkSource>).unwrap();
        Self {
            host,
            source,
            links,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Accepts the next link.
    async fn link(&mut self) -> FarSide {
        let (input, output) = tokio::io::split(self.links.recv().await.unwrap());
        let (sender, writing) = FrameSender::new(output);
        windlass_task::spawn(writing);
        let mut far = FarSide {
            reader: FrameReader::new(input),
            sender,
        };
        assert!(matches!(far.next().await, NearFrame::Hello(_)));
        far.send(&FarFrame::Hello(crate::describe_machine(&[], true)));
        far
    }

    /// Refuses all further links.
    fn close(&self) {
        self.source.links.lock().take();
    }

    /// Starts a program in the background.
    fn start(&self, command: Command) -> tokio::task::JoinHandle<Result<Process, StartError>> {
        let options = LauncherOptions {
            environment: None,
            hold_trees: false,
        };
        let host: Arc<dyn RemoteHost> = Arc::new(self.host.clone());
        let launcher = Launcher::new(options).unwrap().on_host(host);
        tokio::spawn(async move { launcher.start(command).await })
    }

    /// A running program, and its link.
    async fn started(&mut self) -> (Process, FarSide, u64) {
        let starting = self.start(Command::new("it"));
        let mut far = self.link().await;
        let number = far.start().await;
        let process = starting.await.unwrap().unwrap();
        (process, far, number)
    }

    fn key(&self) -> HeldKey {
        HeldKey {
            folder: self.folder.path().to_owned(),
            name: "it".to_owned(),
            nonce: [7; 16],
            remote: Some(RemotePlace {
                host: "there".to_owned(),
                program: 3,
            }),
        }
    }

    /// Adopts a kept program in the background.
    fn adopt(
        &self,
        adoption: RemoteAdoption,
    ) -> tokio::task::JoinHandle<Result<Process, TakeOverError>> {
        let host = self.host.clone();
        tokio::spawn(async move { host.adopt(adoption).await })
    }

    fn adoption(&self) -> RemoteAdoption {
        RemoteAdoption {
            key: self.key(),
            output: Output::new(OutputOptions::default()),
            wants_output: true,
            tap: None,
            rebuild: None,
            limits: ResourceLimits::default(),
            sandbox: None,
        }
    }

    fn is_noted_gone(&self) -> bool {
        self.folder.path().join("it.gone").exists()
    }
}

/// The far side of one link. Dropping it loses the link.
struct FarSide {
    reader: FrameReader<ReadHalf<DuplexStream>>,
    sender: FrameSender,
}

impl FarSide {
    fn send(&self, frame: &FarFrame) {
        self.sender.send(&frame.write());
    }

    /// The next frame, except for beats, credits, and those that tidy up.
    async fn next(&mut self) -> NearFrame {
        loop {
            match self.reader.next(NearFrame::read).await.unwrap() {
                NearFrame::Beat | NearFrame::Credit { .. } | NearFrame::Forget { .. } => {}
                frame => return frame,
            }
        }
    }

    /// Starts the program that is asked for next.
    async fn start(&mut self) -> u64 {
        let NearFrame::Start { program, .. } = self.next().await else {
            panic!("no start");
        };
        self.send(&FarFrame::Started {
            program,
            pid: 1,
            rules: AppliedRules::default(),
        });
        program
    }

    /// The program that is resumed next, and the offset of its output.
    async fn resume(&mut self) -> (u64, u64) {
        match self.next().await {
            NearFrame::Resume { program, from, .. } => (program, from),
            other => panic!("{other:?}"),
        }
    }

    fn exit(&self, program: u64, offset: u64, exit: LinkExit, remaining: u32) {
        self.send(&FarFrame::Exited {
            program,
            offset,
            exit,
            remaining,
            exceeded: None,
            denied: Vec::new(),
        });
    }

    fn output(&self, program: u64, from: u64, bytes: &[u8]) {
        self.send(&FarFrame::Output {
            program,
            from,
            is_stderr: false,
            bytes: bytes.to_vec(),
        });
    }

    fn failed(&self, program: u64, problem: &str) {
        self.send(&FarFrame::Failed {
            program,
            failure: StartFailure::Other,
            problem: problem.to_owned(),
        });
    }

    /// Resumes a program without output.
    fn resumed(&self, program: u64, input_closed: bool) {
        self.send(&FarFrame::Resumed {
            program,
            pid: 1,
            orders: 0,
            offset: 0,
            terminal: None,
            input_closed,
        });
    }

    async fn is_ended(&mut self, program: u64) {
        let end = self.next().await;
        let order = HolderOrder::End {
            grace: Duration::from_secs(2),
        };
        let id = 0;
        assert_eq!(end, NearFrame::Order { program, id, order });
    }

    fn gone(&self, program: u64, why: &str) {
        self.send(&FarFrame::Gone {
            program,
            why: why.to_owned(),
            ended: 0,
            receipt: None,
        });
    }
}

/// Waits until the near side has received this much of the output.
async fn received(process: &Process, length: u64) {
    let mut changes = process.output().changes();
    while process.output().position() < length {
        changes.changed().await.unwrap();
    }
}

#[tokio::test]
async fn a_program_ends_with_less_output_than_an_earlier_link_announced() {
    let mut stage = Stage::new();
    let (process, far, number) = stage.started().await;
    far.output(number, 0, b"first");
    far.exit(number, 100, LinkExit::Code(0), 0);
    received(&process, 5).await;
    drop(far);
    let mut far = stage.link().await;
    assert_eq!(far.resume().await, (number, 5));
    let why = String::from("its output is incomplete");
    far.exit(number, 10, LinkExit::Lost(why.clone()), 0);
    far.output(number, 5, b" part");
    assert_eq!(process.wait().await, Exit::Lost(why));
    assert_eq!(process.output().raw(0..10), b"first part");
}

#[tokio::test]
async fn a_program_that_is_gone_with_what_it_left_running_is_ended_at_once() {
    let mut stage = Stage::new();
    let (process, far, number) = stage.started().await;
    far.exit(number, 0, LinkExit::Code(0), 1);
    process.wait().await;
    assert_eq!(process.remaining().await, 1);
    drop(far);
    let mut far = stage.link().await;
    far.resume().await;
    far.gone(number, "its lease has expired");
    // Frames are handled in order.
    let next = stage.start(Command::new("next"));
    far.start().await;
    next.await.unwrap().unwrap();
    process.end(Duration::ZERO).await;
    assert_eq!(process.remaining().await, 0);
}

#[tokio::test]
async fn a_second_end_has_the_receipt_of_the_first() {
    let mut stage = Stage::new();
    let (process, mut far, number) = stage.started().await;
    let first = process.clone();
    let first = tokio::spawn(async move { first.end(Duration::ZERO).await });
    assert!(matches!(far.next().await, NearFrame::Order { .. }));
    far.exit(number, 0, LinkExit::Signal(15), 0);
    far.send(&FarFrame::Ended {
        program: number,
        ended: 3,
        survivors: Vec::new(),
    });
    assert_eq!(first.await.unwrap().ended, 3);
    assert_eq!(process.end(Duration::ZERO).await.ended, 3);
}

#[tokio::test]
async fn a_start_that_may_have_run_is_not_said_to_be_repeatable() {
    let mut stage = Stage::new();
    let starting = stage.start(Command::new("it"));
    let mut far = stage.link().await;
    let NearFrame::Start { program, .. } = far.next().await else {
        panic!("no start");
    };
    drop(far);
    let mut far = stage.link().await;
    far.resume().await;
    far.gone(program, "it was claimed before and is not started twice");
    let error = starting.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "host `there`: the link was lost while the program was started; host `there`: it was claimed before and is \
         not started twice"
    );
}

#[tokio::test]
async fn a_start_that_is_too_long_fails_and_the_link_stays() {
    let mut stage = Stage::new();
    let (_process, mut far, _) = stage.started().await;
    let long = stage.start(Command::new("it").arg("x".repeat(2 << 20)));
    let error = long.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("at most 1048576 can be sent"), "{error}");
    let next = stage.start(Command::new("next"));
    far.start().await;
    next.await.unwrap().unwrap();
}

#[tokio::test]
async fn waits_for_the_same_port_are_one_wait_at_the_far_side() {
    let mut stage = Stage::new();
    let (process, mut far, number) = stage.started().await;
    for _ in 0..3 {
        drop(process.remote_port_open(80).unwrap());
    }
    let open = process.remote_port_open(80).unwrap();
    process.signal(Signal::Interrupt).unwrap();
    let NearFrame::Port { id, port: 80, .. } = far.next().await else {
        panic!("no port");
    };
    assert!(matches!(far.next().await, NearFrame::Order { .. }));
    far.send(&FarFrame::Port { id });
    open.await;
    // It is looked at again.
    let _again = process.remote_port_open(80).unwrap();
    assert!(matches!(far.next().await, NearFrame::Port { program, .. } if program == number));
}

#[tokio::test]
async fn an_adoption_that_is_dropped_releases_the_program() {
    let mut stage = Stage::new();
    let adopting = stage.adopt(stage.adoption());
    let mut far = stage.link().await;
    let (program, _) = far.resume().await;
    far.send(&FarFrame::Resumed {
        program,
        pid: 1,
        orders: 0,
        offset: 100,
        terminal: None,
        input_closed: false,
    });
    far.output(program, 0, b"begin");
    adopting.abort();
    let next = far.next().await;
    assert!(
        matches!(next, NearFrame::Leave { program: it } if it == program),
        "{next:?}"
    );
}

/// An adopted program, and its link and number.
async fn adopted(stage: &mut Stage, input_closed: bool) -> (Process, FarSide, u64) {
    let adopting = stage.adopt(stage.adoption());
    let mut far = stage.link().await;
    let (program, _) = far.resume().await;
    far.resumed(program, input_closed);
    (adopting.await.unwrap().unwrap(), far, program)
}

#[tokio::test]
async fn an_adopted_program_refuses_input_that_was_closed() {
    for is_closed in [false, true] {
        let (process, _far, _) = adopted(&mut Stage::new(), is_closed).await;
        let written = process.write(b"more");
        let expected = if is_closed {
            Err(WriteError::Closed)
        } else {
            Ok(())
        };
        assert_eq!(written, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_program_is_ended_when_its_link_is_restored() {
    let mut stage = Stage::new();
    let (process, far, program) = adopted(&mut stage, false).await;
    stage.source.is_away.store(true, Ordering::Relaxed);
    drop(far);
    process.unreachable_for(Duration::ZERO).await;
    drop(process);
    stage.source.is_away.store(false, Ordering::Relaxed);
    let mut far = stage.link().await;
    for _ in 0..2 {
        // Its origin is needed to find it, also if its holder does not answer at first.
        let key = stage.key();
        let resume = far.next().await;
        assert!(
            matches!(
                resume,
                NearFrame::Resume {
                    program: it,
                    origin: Some(ProgramOrigin { session, program: 3 }),
                    ..
                } if it == program && session == key.nonce
            ),
            "{resume:?}"
        );
        far.is_ended(program).await;
        far.failed(program, "its holder is busy");
    }
}

#[tokio::test(start_paused = true)]
async fn a_program_that_cannot_be_resumed_for_now_is_resumed_later() {
    let mut stage = Stage::new();
    let (process, far, program) = adopted(&mut stage, false).await;
    let (own, own_number) = {
        let starting = stage.start(Command::new("it"));
        let mut far = far;
        let number = far.start().await;
        (starting.await.unwrap().unwrap(), number)
    };
    let _open = own.remote_port_open(80).unwrap();
    let mut far = stage.link().await;
    let mut resumed = Vec::new();
    let mut ports = 0;
    for round in 0..2 {
        for _ in 0..2 {
            let number = loop {
                match far.next().await {
                    NearFrame::Resume { program, .. } => break program,
                    NearFrame::Port { port: 80, .. } => ports += 1,
                    other => panic!("{other:?}"),
                }
            };
            resumed.push(number);
            if round == 0 {
                far.failed(number, "its holder does not answer");
            } else {
                // Orders would wait, as for a host that is unreachable.
                let again = if number == program { &process } else { &own };
                assert!(again.unreachable().is_some());
                far.resumed(number, false);
                far.exit(number, 0, LinkExit::Code(0), 0);
            }
        }
    }
    while ports < 2 {
        match far.next().await {
            NearFrame::Port { port: 80, .. } => ports += 1,
            other => panic!("{other:?}"),
        }
    }
    resumed.sort_unstable();
    assert_eq!(resumed, [program, program, own_number, own_number]);
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(own.wait().await, Exit::Code(0));
}

#[tokio::test]
async fn a_start_whose_exit_is_all_that_is_left_has_run() {
    let mut stage = Stage::new();
    let starting = stage.start(Command::new("it"));
    let mut far = stage.link().await;
    assert!(matches!(far.next().await, NearFrame::Start { .. }));
    drop(far);
    let mut far = stage.link().await;
    let (program, _) = far.resume().await;
    far.output(program, 0, b"all");
    far.exit(program, 3, LinkExit::Code(7), 0);
    let process = starting.await.unwrap().unwrap();
    assert_eq!(process.wait().await, Exit::Code(7));
    assert_eq!(process.output().raw(0..3), b"all");
}

#[tokio::test]
async fn only_a_program_that_is_gone_is_noted_as_gone() {
    let mut stage = Stage::new();
    let adopting = stage.adopt(stage.adoption());
    let mut far = stage.link().await;
    let (program, _) = far.resume().await;
    far.failed(program, "its holder is busy");
    let error = adopting.await.unwrap().unwrap_err();
    assert!(matches!(error, TakeOverError::Silent { .. }), "{error}");
    assert!(!stage.is_noted_gone());
    let next = far.next().await;
    assert!(matches!(next, NearFrame::Leave { .. }), "{next:?}");

    let adopting = stage.adopt(stage.adoption());
    let (program, _) = far.resume().await;
    far.gone(program, "it has no holder there any more");
    let error = adopting.await.unwrap().unwrap_err();
    assert!(matches!(error, TakeOverError::Gone { .. }), "{error}");
    assert!(stage.is_noted_gone());
}

#[tokio::test]
async fn an_adopted_program_has_the_lease_that_it_was_started_with() {
    let mut stage = Stage::new();
    let lease = Duration::from_secs(1234);
    let kept = OwnedKept::take(stage.key()).unwrap();
    kept.note_lease(lease);
    drop(kept);
    let adopting = stage.adopt(stage.adoption());
    let mut far = stage.link().await;
    let (program, _) = far.resume().await;
    far.send(&FarFrame::Resumed {
        program,
        pid: 1,
        orders: 0,
        offset: 0,
        terminal: None,
        input_closed: false,
    });
    let process = adopting.await.unwrap().unwrap();
    stage.close();
    drop(far);
    process.unreachable_for(Duration::ZERO).await;
    assert_eq!(process.unreachable().unwrap().lease, Some(lease));
}

#[tokio::test]
async fn a_program_that_is_adopted_to_be_ended_sends_no_output() {
    let mut stage = Stage::new();
    let adopting = stage.adopt(RemoteAdoption::to_end(stage.key()));
    let mut far = stage.link().await;
    let (program, from) = far.resume().await;
    assert_eq!(from, u64::MAX);
    far.send(&FarFrame::Resumed {
        program,
        pid: 1,
        orders: 0,
        offset: 1 << 30,
        terminal: None,
        input_closed: false,
    });
    let process = adopting.await.unwrap().unwrap();
    let ending = tokio::spawn(async move { process.end(Duration::ZERO).await });
    let end = far.next().await;
    assert!(
        matches!(
            end,
            NearFrame::Order {
                order: HolderOrder::End { .. },
                ..
            }
        ),
        "{end:?}"
    );
    far.send(&FarFrame::Ended {
        program,
        ended: 2,
        survivors: Vec::new(),
    });
    far.exit(program, 1 << 30, LinkExit::Signal(9), 0);
    assert_eq!(ending.await.unwrap().ended, 2);
}
