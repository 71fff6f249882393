//! `windlass serve --replace`: one server takes the place of another.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::http_support::Serve;
use crate::processes::Victim;
use crate::programs::windlass;
use crate::support::{DEADLINE, Project, eventually};

/// Asks over a connection of its own, as a client does that knows nothing of
/// servers that come and go.
fn is_served(address: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    let request = format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 200 OK\r\n") {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("answered: {answer:?}")))
    }
}

/// Replaces a server. The old one exits on its own.
fn replace(project: &Project, old: Serve, args: &[&str]) -> Serve {
    let new = Serve::start_at_with(project, &old.address, &[&["--replace"], args].concat());
    assert_eq!(new.address, old.address);
    assert_ne!(new.pid(), old.pid());
    assert_eq!(old.wait(), Some(0));
    new
}

#[test]
fn clients_are_served_without_a_gap_while_servers_replace_each_other() {
    let project = Project::new();
    let first = Serve::start(&project);
    let address = first.address.clone();
    let mut serve = Some(first);
    let (over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let ask = || {
            while !over.load(Ordering::Relaxed) {
                is_served(&address)?;
                asked.fetch_add(1, Ordering::Relaxed);
            }
            std::io::Result::Ok(())
        };
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        for _ in 0..5 {
            let before = asked.load(Ordering::Relaxed);
            serve = serve.take().map(|serve| replace(&project, serve, &[]));
            eventually("the new one serves", || {
                asked.load(Ordering::Relaxed) > before + 20
            });
        }
        over.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().unwrap().expect("everyone is served");
        }
    });
    assert_eq!(serve.unwrap().get("/sessions").status, 200);
}

#[test]
fn a_request_under_way_is_answered_and_streams_end_whole() {
    let project = Project::new();
    let old = Serve::start(&project);
    let session = old.session(json!({"trusted": true}));
    let mut events = old.events("/events", "");
    events.until(|event| event.name == "hello");
    let (url, token) = (old.address.clone(), old.token.clone());
    let calling = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(&url).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let body =
            json!([{"tool": "shell", "arguments": {"command": "echo begun > begun; sleep 600"}}]);
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "POST /api/v1{session}/calls HTTP/1.1\r\nhost: {url}\r\nauthorization: Bearer {token}\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    eventually("the call runs", || project.root().join("begun").exists());
    let new = replace(&project, old, &[]);
    let answer = calling.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    // The call was ended with its session, or came to a session that had ended.
    assert!(
        answer.contains("the session ended") || answer.contains("the session has ended"),
        "{answer}"
    );
    // The stream has ended with its last chunk, not in the middle of one.
    assert!(events.rest().ends_with("\r\n0\r\n\r\n"));
    assert_eq!(new.get("/sessions").json(), json!([]));
}

/// A process that asks for a server's place and then does as it likes.
pub(crate) struct AskingProcess(BufReader<UnixStream>);

impl AskingProcess {
    pub(crate) fn ask(project: &Project, serve: &Serve) -> Self {
        let socket = serve
            .socket
            .with_file_name(format!("serve-{}.handover", serve.pid()));
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut asking = Self(BufReader::new(stream));
        asking.say(json!({"word": "ask", "root": project.root()}));
        asking
    }

    pub(crate) fn say(&mut self, word: Value) {
        let line = format!("{word}\n");
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
    }

    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

#[test]
fn a_successor_that_dies_at_any_moment_leaves_the_old_server_as_it_was() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let victim = Victim::new();
    let spawn = json!({"action": "spawn", "id": "a", "command": victim.sleep()});
    serve.call(&session, "shell", spawn);
    eventually("it runs", || !victim.alive().is_empty());

    drop(AskingProcess::ask(&project, &serve));
    let mut offered = AskingProcess::ask(&project, &serve);
    assert_eq!(offered.hear()["pid"], serve.pid());
    drop(offered);
    let mut given = AskingProcess::ask(&project, &serve);
    assert_eq!(given.hear()["word"], "offer");
    given.say(json!({"word": "ready"}));
    assert_eq!(given.hear(), json!({"word": "yours"}));
    drop(given);

    is_served(&serve.address).unwrap();
    let handles = serve.get(&format!("{session}/handles")).json();
    assert_eq!(handles[0]["id"], "a");
    assert_eq!(handles[0]["state"], "running");
    assert!(!victim.alive().is_empty());
    eventually("other commands reach it", || {
        let listed = project.run(&["ps", "--json"], "");
        listed
            .stdout()
            .contains(session.trim_start_matches("/sessions/"))
    });
    let new = replace(&project, serve, &[]);
    is_served(&new.address).unwrap();
    eventually("nothing is left", || victim.alive().is_empty());
}

#[test]
fn a_server_that_cannot_start_replaces_nobody() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let replacing = ["serve", "--replace"];
    let broken = project.run(
        &[&["--set", "tools.shell.nonsense=1"], &replacing[..]].concat(),
        "",
    );
    assert_ne!(broken.code(), Some(0));
    let no_key = ["--tls-cert", "missing.pem", "--tls-key", "missing.pem"];
    let broken = project.run(&[&replacing[..], &no_key].concat(), "");
    assert_ne!(broken.code(), Some(0));
    assert_snapshot!(broken.stderr(), @"windlass: `missing.pem` cannot be read as PEM; give a certificate chain and its private key: I/O error: No such file or directory (os error 2)");
    let elsewhere = project.run(&["serve", "--replace", "--listen", "127.0.0.1:1"], "");
    assert!(
        elsewhere.stderr().contains(&serve.address),
        "{}",
        elsewhere.stderr()
    );
    let other = Project::new();
    other.write("x/y", "");
    let folder = other.root().display().to_string();
    let elsewhere = project.run(&["-C", &folder, "serve", "--replace"], "");
    let root = project.root().display().to_string();
    assert!(elsewhere.stderr().contains(&root), "{}", elsewhere.stderr());
    is_served(&serve.address).unwrap();
}

#[test]
fn of_two_that_replace_at_once_one_serves() {
    let project = Project::new();
    let old = Serve::start(&project);
    let address = old.address.clone();
    let begin = || {
        project
            .windlass(&["serve", "--replace", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut servers = [begin(), begin()];
    assert_eq!(old.wait(), Some(0));
    let mut ended = Vec::new();
    eventually("one of them has ended", || {
        for server in &mut servers {
            ended.extend(
                server
                    .try_wait()
                    .unwrap()
                    .map(|status| (server.id(), status.code())),
            );
        }
        !ended.is_empty()
    });
    assert_eq!(ended.len(), 1, "the other one serves: {ended:?}");
    is_served(&address).unwrap();
    for server in &mut servers {
        let _ = server.kill();
        server.wait().unwrap();
    }
}

#[test]
fn an_encrypted_port_stays_encrypted() {
    let project = Project::new();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    project.write("cert.pem", &own.cert.pem());
    project.write("key.pem", &own.signing_key.serialize_pem());
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let old = Serve::start_with(&project, &tls);
    let new = replace(&project, old, &tls);
    let answer = crate::http_others::ask(&new, own.cert.der().clone()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn a_tool_replaces_no_server() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let windlass = windlass();
    let command = format!("{windlass} serve --replace; echo code $?");
    let said = serve.call(&session, "shell", json!({ "command": command }));
    let said = said.as_str().unwrap();
    assert_snapshot!(said, @"
    windlass: `windlass serve --replace` acts for the user, and this process was started by a tool; run it in a terminal of your own, or use the page of `windlass serve`
    code 2
    ");
    let socket = serve
        .socket
        .with_file_name(format!("serve-{}.handover", serve.pid()));
    project.write(
        "ask.py",
        "import socket, sys\n\
         asking = socket.socket(socket.AF_UNIX)\n\
         asking.connect(sys.argv[1])\n\
         asking.sendall(b'{\"word\": \"ask\", \"root\": \"/\"}\\n')\n\
         print(asking.recv(1000).decode())\n",
    );
    let command = format!("python3 ask.py {}", socket.display());
    let said = serve.call(&session, "shell", json!({ "command": command }));
    assert!(said.as_str().unwrap().contains("a tool asks"), "{said}");
    is_served(&serve.address).unwrap();
}

#[test]
fn without_a_server_it_starts_as_usual() {
    let project = Project::new();
    let serve = Serve::start_with(&project, &["--replace"]);
    is_served(&serve.address).unwrap();
}
