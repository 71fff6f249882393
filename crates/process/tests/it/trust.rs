//! What a program cannot do to the process that started it, though both are the same user's.
//!
//! Root could do all of it; so these run as an ordinary user, as which the test starts itself again.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};

use windlass_process::{Command, StartError, peer_is_tool};

use crate::support::{
    Probe, alive, eventually, kill, launcher, parent, run_as_ordinary_user, shell, signal, text,
};

#[test]
fn a_program_can_read_nothing_of_the_runtime_nor_write_to_it() {
    run_as_ordinary_user("trust::read_the_runtime");
}

#[ignore = "an ordinary user"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_the_runtime() {
    let launcher = launcher();
    let runtime = std::process::id();
    // Of the runtime, of its zygote and of the program's own shim.
    let script = format!(
        "zygote=$(cut -d' ' -f4 /proc/$PPID/stat)
         for pid in {runtime} $zygote $PPID; do
           for file in environ mem maps auxv fd/0 fd/1 fd/2 fd/3 cwd exe map_files io syscall stack; do
             head -c 1 /proc/$pid/$file >/dev/null 2>&1 && echo \"read $pid $file\"
           done
           readlink /proc/$pid/exe /proc/$pid/cwd /proc/$pid/fd/1 /proc/$pid/root
           ls /proc/$pid/fd 2>/dev/null
           for fd in 0 1 2 3 4 5; do (echo injected >/proc/$pid/fd/$fd) 2>/dev/null && echo \"wrote $pid $fd\"; done
           cat /proc/$pid/task/*/environ 2>/dev/null
         done
         echo done"
    );
    let process = launcher.start(shell(&script)).await.unwrap();
    process.wait().await;
    assert_eq!(text(&process), "done\n");
}

#[test]
fn a_program_is_as_readable_as_any() {
    run_as_ordinary_user("trust::read_the_program");
}

#[ignore = "an ordinary user"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_the_program() {
    let script = "readlink /proc/$$/exe >/dev/null && tr '\\0' '\\n' </proc/$$/environ | grep -c ^MINE= && : </proc/$$/mem && echo readable; read line";
    let command = shell(script)
        .env("MINE", "1")
        .stdin(windlass_process::Stdin::Pipe);
    let process = launcher().start(command).await.unwrap();
    eventually("it has looked at itself", || {
        text(&process) == "1\nreadable\n"
    });
    let environment = std::fs::read(format!("/proc/{}/environ", process.pid())).unwrap();
    assert!(environment.starts_with(b"") && environment.windows(5).any(|it| it == b"MINE="));
    let shim = parent(process.pid());
    assert!(std::fs::read(format!("/proc/{shim}/environ")).is_err());
    process.write(b"\n").unwrap();
    process.wait().await;
}

#[test]
fn trees_settle_and_end_for_an_ordinary_user() {
    run_as_ordinary_user("trust::settle_and_end");
}

/// Everything that is found out through `/proc` still is.
#[ignore = "an ordinary user"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settle_and_end() {
    let launcher = launcher();
    let token = crate::support::token();
    let size = windlass_process::TerminalSize::default();
    let at_prompt = launcher
        .start(shell("printf 'name? '; read name; exit 5").terminal(size))
        .await
        .unwrap();
    let start = std::time::Instant::now();
    let limit = std::time::Duration::from_secs(20);
    at_prompt.settle(limit).await;
    assert!(start.elapsed() < limit, "the prompt was seen");
    at_prompt.write(b"x\n").unwrap();
    assert_eq!(at_prompt.wait().await, windlass_process::Exit::Code(5));

    let victim = launcher
        .start(shell(&crate::support::victim(&token)))
        .await
        .unwrap();
    crate::support::up(&token);
    assert_eq!(victim.remaining().await, crate::support::VICTIMS - 1);
    let ended = victim.end(crate::support::GRACE).await.ended;
    assert_eq!(ended, crate::support::VICTIMS);
}

#[test]
fn a_connection_of_a_program_is_told_from_others() {
    run_as_ordinary_user("trust::connections");
}

/// Ways in which a program may connect to a socket, given as `$S`. Each says hello.
const WAYS: &[&str] = &[
    "$CONNECT",
    "setsid -w $CONNECT",
    "setsid -f $CONNECT",
    "env -i $CONNECT",
    "(setsid -f env -i sh -c \"$CONNECT\" &) ; :",
    "env -i setsid -f sh -c \"kill -9 $PPID; $CONNECT\"",
    "env -i setsid -f sh -c \"kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID; sleep 0.2; $CONNECT\"",
    "nohup nice $CONNECT",
    "prlimit --locks=0:0 $CONNECT",
    "unshare --user --map-root-user sh -c \"prlimit --locks=unlimited 2>/dev/null; $CONNECT\"",
    "bash -c 'exec -a windlass-zygote env -i setsid -f $0 $1 $2' $CONNECT",
];

#[ignore = "an ordinary user"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections() {
    let folder = std::env::temp_dir().join(format!("peer-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let python = "import socket,sys,time
s=socket.socket(socket.AF_UNIX) if '/' in sys.argv[1] else socket.socket()
s.connect(sys.argv[1] if '/' in sys.argv[1] else ('127.0.0.1',int(sys.argv[1])))
s.sendall(b'hello')
s.settimeout(10)
s.recv(1)";
    let script = folder.join("connect.py");
    std::fs::write(&script, python).unwrap();

    // This process, which is no program of a tool.
    let ours = UnixStream::connect(&path).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert!(!peer_is_tool(accepted.as_fd()));
    drop((ours, accepted));

    for way in WAYS {
        let connect = format!("python3 {} {}", script.display(), path.display());
        let launcher = launcher();
        let command = shell(way).env("CONNECT", connect);
        let process = match launcher.start(command).await {
            // It has killed its shim before that could say that it runs.
            Err(StartError::Interrupted { .. }) if way.contains("kill -9") => {
                eventually(way, || alive(&path.display().to_string()).is_empty());
                continue;
            }
            started => started.unwrap(),
        };
        listener.set_nonblocking(true).unwrap();
        let mut accepted = None;
        let refused = std::cell::RefCell::new(&mut accepted);
        eventually(way, || {
            if let Ok((stream, _)) = listener.accept() {
                **refused.borrow_mut() = Some(peer_is_tool(stream.as_fd()));
            }
            // A program that has killed its own shim may not have lived to connect.
            let ended = process.exit().is_some() && alive(&path.display().to_string()).is_empty();
            refused.borrow().is_some() || ended && way.contains("kill -9")
        });
        assert_ne!(accepted, Some(false), "{way}");
        process.end(std::time::Duration::ZERO).await;
    }

    // One that has outlived its runtime, its zygote and its shim, and has no environment.
    let go = folder.join("go");
    let probe = Probe::start(&format!(
        "env -i setsid -f sh -c 'while [ ! -e {} ]; do sleep 0.02; done; python3 {} {}'; exec sleep 1000",
        go.display(),
        script.display(),
        path.display()
    ));
    let waits = format!("while [ ! -e {} ]", go.display());
    eventually("it waits", || !alive(&waits).is_empty());
    let program = probe.program;
    let shim = parent(program);
    let zygote = parent(shim);
    let keepers = [probe.runtime.id(), zygote, shim];
    for pid in keepers {
        signal(pid, rustix::process::Signal::STOP);
    }
    for pid in keepers {
        kill(pid);
    }
    probe.kill();
    std::fs::write(&go, "").unwrap();
    listener.set_nonblocking(false).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert!(peer_is_tool(accepted.as_fd()));
    drop(accepted);
    // Nothing is left that would end it.
    kill(program);

    // One that has gone since it connected, and whose pid may be anybody's.
    let gone = format!(
        "import socket;socket.socket(1).connect('{}')",
        path.display()
    );
    let process = launcher()
        .start(Command::new("python3").args(["-c", &gone]))
        .await
        .unwrap();
    process.wait().await;
    let (accepted, _) = listener.accept().unwrap();
    assert!(peer_is_tool(accepted.as_fd()));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_connection_over_tcp_is_told_from_others() {
    run_as_ordinary_user("trust::tcp_connections");
}

#[ignore = "an ordinary user"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tcp_connections() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let ours = std::net::TcpStream::connect(address).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert!(!peer_is_tool(accepted.as_fd()));
    // Once more, as one that is known.
    let again = std::net::TcpStream::connect(address).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert!(!peer_is_tool(accepted.as_fd()));
    drop((ours, again));

    let hide = "import ctypes;ctypes.CDLL(None).prctl(4,0,0,0,0)\n";
    // The descriptor is in flight, without a receiver, during the search.
    let in_flight = "a,b=socket.socketpair()\nsocket.send_fds(a,[b'x'],[s.fileno()])\ns.close()\n";
    for (before, after) in [("", ""), (hide, ""), ("", in_flight)] {
        let python = format!(
            "import socket,time\n{before}s=socket.create_connection(('127.0.0.1',{}))\ns.sendall(b'hello')\n{after}print('sent',flush=True)\ntime.sleep(60)",
            address.port()
        );
        let command = Command::new("python3").args(["-c", &python]);
        let process = launcher().start(command.env_clear()).await.unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        accepted.read_exact(&mut [0; 5]).unwrap();
        eventually("it has sent", || process.output().written() > 0);
        assert!(peer_is_tool(accepted.as_fd()), "{before}{after}");
        process.end(std::time::Duration::ZERO).await;
    }
}
