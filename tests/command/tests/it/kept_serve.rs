//! `windlass serve` with kept handles: killed, restarted and replaced, and what is held meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::{Event, Events, Serve};
use crate::processes::{self, Victim};
use crate::programs::windlass;
use crate::reaching::Desk;
use crate::support::{DEADLINE, Project, eventually};

/// `shell` runs without asking, and keeps the handles whose spawns ask for it.
const CONFIG: &str = r#"
[kept]
max = 32
[conversation.tools.shell]
run = "unattended"
[conversation.tools.shell.spawn.lifecycle]
keepable_secs = 600
"#;

/// Asks for a secret on a terminal.
const ASKS: &str =
    "exec bash -c 'read -rs -p \"Password: \" word; echo; echo \"got $word\"; sleep 600'";

pub(crate) fn keeping() -> Project {
    Project::with_own_config(CONFIG)
}

fn spawn(id: &str, command: &str, keep: bool) -> Value {
    json!({"action": "spawn", "id": id, "command": command, "keep": keep})
}

fn restarted(project: &Project, mut serve: Serve) -> Serve {
    serve.kill();
    Serve::start_at(project, &serve.address)
}

/// Reads the events of a session and of all sessions, through the ends of servers.
struct EventFollower {
    path: String,
    last: String,
    events: Option<Events>,
    /// Everything that was read but greetings.
    read: Vec<Event>,
}

impl EventFollower {
    fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            last: String::new(),
            events: None,
            read: Vec::new(),
        }
    }

    /// Connects, with the id of the last event that was read.
    fn connect(&mut self, serve: &Serve) {
        let resume = match self.last.as_str() {
            "" => String::new(),
            last => format!("last-event-id: {last}\r\n"),
        };
        self.events = Some(serve.events(&self.path, &resume));
    }

    /// Reads until an event is as wanted, or until the stream ends.
    fn until(&mut self, mut wanted: impl FnMut(&Event) -> bool) -> bool {
        let events = self.events.as_mut().expect("it is connected");
        while let Some(event) = events.try_next() {
            if !event.id.is_empty() {
                self.last.clone_from(&event.id);
            }
            let is_wanted = wanted(&event);
            if event.name != "hello" {
                self.read.push(event);
            }
            if is_wanted {
                return true;
            }
        }
        false
    }

    fn until_update(&mut self, kind: &str, handle: &str) -> bool {
        self.until(|event| event.data["type"] == kind && event.data["handle"] == handle)
    }

    /// The numbers of a session's events have no gap, and none comes twice.
    #[track_caller]
    fn is_whole(&self, session: &str) {
        assert!(
            self.read.iter().all(|event| event.name != "missed"),
            "{:?}",
            self.read
        );
        let of_session =
            |event: &&Event| event.name == "update" && event.data["session"] == session;
        let updates = self.read.iter().filter(of_session);
        let numbers: Vec<u64> = updates
            .map(|event| event.data["number"].as_u64().unwrap())
            .collect();
        let first = numbers[0];
        let expected: Vec<u64> = (first..first + numbers.len() as u64).collect();
        assert_eq!(numbers, expected);
    }
}

fn id_of(session: &str) -> &str {
    session.trim_start_matches("/sessions/")
}

#[test]
fn a_server_that_was_killed_comes_back_with_its_handles() {
    let project = keeping();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let alone = serve.session(json!({"trusted": true}));
    let other = Victim::new();
    let echoes = "while read word; do echo \"got $word\"; done";
    serve.call(&session, "shell", spawn("dev", echoes, true));
    serve.call(&session, "shell", spawn("other", &other.sleep(), false));
    let mut reader = EventFollower::new(&format!("{session}/events?after=0"));
    let mut all = EventFollower::new("/events");
    reader.connect(&serve);
    all.connect(&serve);
    let lock = serve
        .post(&format!("{session}/handles/dev/lock"), json!({}))
        .json();
    assert!(reader.until_update("locked", "dev"));
    assert!(all.until_update("locked", "dev"));

    let serve = restarted(&project, serve);
    let handles = serve.get(&format!("{session}/handles")).json();
    let dev = &handles[0];
    assert_eq!(
        (&dev["id"], &dev["state"], &dev["locked"]),
        (&json!("dev"), &json!("running"), &json!(true))
    );
    assert_eq!(handles.as_array().unwrap().len(), 1, "{handles}");
    eventually("what is not kept is gone", || other.alive().is_empty());
    assert_eq!(serve.get(&alone).status, 404);

    reader.connect(&serve);
    all.connect(&serve);
    assert!(reader.until_update("stopped", "other"));
    assert!(all.until_update("stopped", "other"));
    let typed = json!({"typing": {"input": "one"}, "lock": lock["lock"]});
    assert_eq!(
        serve
            .post(&format!("{session}/handles/dev/input"), typed)
            .status,
        204
    );
    let unlock = format!(
        "{session}/handles/dev/lock/{}",
        lock["lock"].as_str().unwrap()
    );
    assert_eq!(serve.delete(&unlock).status, 204);
    assert!(reader.until_update("unlocked", "dev"));
    assert!(all.until_update("unlocked", "dev"));
    reader.is_whole(id_of(&session));
    all.is_whole(id_of(&session));
    let closed = all.read.iter().find(|event| event.data["type"] == "closed");
    assert_eq!(closed.unwrap().data["session"], id_of(&alone));
    let calls = json!([{"tool": "shell", "arguments": {"command": "true"}}]);
    let reply = serve.post(&format!("{session}/calls"), calls).json();
    let notices = reply["notices"].to_string();
    assert!(notices.contains("still running"), "{notices}");
    let apply = json!({"action": "apply", "id": "dev", "input": "two"});
    let applied = serve.call(&session, "shell", apply);
    assert_eq!(applied["content"], "got one\ngot two\n", "{applied}");
    let ended = serve.call(&session, "shell", json!({"action": "abort", "id": "dev"}));
    assert_eq!(ended["state"], "stopped", "{ended}");
}

#[test]
fn readers_miss_and_repeat_nothing_through_many_deaths() {
    let project = keeping();
    let mut serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let id = id_of(&session).to_owned();
    let talks = "n=0; while :; do echo $n; n=$((n+1)); sleep 0.01; done";
    serve.call(&session, "shell", spawn("talks", talks, true));
    let mut one = EventFollower::new(&format!("{session}/events?after=0"));
    let mut all = EventFollower::new("/events");
    for round in 0..8 {
        one.connect(&serve);
        all.connect(&serve);
        let pid = serve.pid();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // The two readers and a caller do as they like until the server dies under them.
            scope.spawn(|| while one.until(|_| false) {});
            scope.spawn(|| while all.until(|_| false) {});
            scope.spawn(|| {
                let mut told = 0;
                while !over.load(Ordering::Relaxed) {
                    let fetch =
                        json!([{"tool": "shell", "arguments": {"action": "fetch", "id": "talks"}}]);
                    if try_post(&serve, &format!("{session}/calls"), &fetch).is_none() {
                        return;
                    }
                    told += 1;
                    if told == 3 + round * 2 {
                        processes::kill(pid);
                    }
                }
            });
            eventually("the server has died", || processes::has_exited(pid));
            over.store(true, Ordering::Relaxed);
        });
        serve = restarted(&project, serve);
    }
    let last = serve.get(&session).json()["last_event"].as_u64().unwrap();
    for reader in [&mut one, &mut all] {
        reader.connect(&serve);
        let is_last = |event: &Event| {
            event.data["session"] == *id && event.data["number"].as_u64() >= Some(last)
        };
        assert!(reader.until(is_last));
        reader.is_whole(&id);
    }
    assert_eq!(one.read[0].data["number"], 1);
    assert!(one.read.len() as u64 >= last);
    serve.call(&session, "shell", json!({"action": "abort", "id": "talks"}));
}

/// Posts to a server that may die meanwhile.
fn try_post(serve: &Serve, path: &str, body: &Value) -> Option<()> {
    let mut stream = TcpStream::connect(&serve.address).ok()?;
    stream.set_read_timeout(Some(DEADLINE)).ok()?;
    let (headers, body) = (serve.headers(), body.to_string());
    let length = body.len();
    let request = format!(
        "POST /api/v1{path} HTTP/1.1\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200").then_some(())
}

#[test]
fn an_open_question_is_the_same_after_a_restart() {
    let project = keeping();
    let serve = Serve::start(&project);
    let session = serve.session(json!({}));
    let mut asks = spawn("asks", ASKS, true);
    asks["terminal"] = json!(true);
    serve.call(&session, "shell", asks);
    let question = |serve: &Serve| serve.get(&format!("{session}/questions")).json()[0].clone();
    eventually("it asks", || question(&serve)["ask"].is_string());
    let asked = question(&serve);
    let serve = restarted(&project, serve);
    eventually("it asks again", || question(&serve)["ask"].is_string());
    assert_eq!(question(&serve)["ask"], asked["ask"]);
    let path = format!("/questions/{}", asked["ask"].as_str().unwrap());
    assert_eq!(serve.post(&path, json!({"value": "sesame"})).status, 204);
    let fetched = || {
        serve.call(
            &session,
            "shell",
            json!({"action": "fetch", "id": "asks", "view": "screen"}),
        )
    };
    eventually("it was answered", || {
        fetched().to_string().contains("got sesame")
    });
    assert_eq!(serve.delete(&session).status, 204);
}

#[test]
fn a_server_that_gets_sigterm_leaves_kept_handles_and_nothing_else() {
    let project = keeping();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let (kept, other) = (Victim::new(), Victim::new());
    serve.call(&session, "shell", spawn("kept", &kept.script(), true));
    serve.call(&session, "shell", spawn("other", &other.script(), false));
    kept.wait_until_up();
    other.wait_until_up();
    let address = serve.address.clone();
    processes::signal(serve.pid(), Signal::TERM);
    assert_eq!(serve.wait(), Some(143));
    assert_eq!(other.alive(), [0; 0]);
    assert!(kept.is_up());
    let serve = Serve::start_at(&project, &address);
    let handles = serve.get(&format!("{session}/handles")).json();
    assert_eq!(
        (&handles[0]["id"], &handles[0]["state"]),
        (&json!("kept"), &json!("running"))
    );
    // A session that is ended takes its kept handles along.
    assert_eq!(serve.delete(&session).status, 204);
    assert_eq!(kept.alive(), [0; 0]);
    assert_eq!(serve.get("/held").json(), json!([]));
}

#[test]
fn a_server_is_replaced_and_its_kept_handles_continue() {
    let project = keeping();
    let old = Serve::start(&project);
    let session = old.session(json!({"trusted": true}));
    let counts = "n=0; while read word; do n=$((n+1)); echo \"$n $word\"; done";
    old.call(&session, "shell", spawn("dev", counts, true));
    let other = Victim::new();
    old.call(&session, "shell", spawn("other", &other.sleep(), false));
    let mut all = EventFollower::new("/events");
    all.connect(&old);
    old.call(
        &session,
        "shell",
        json!({"action": "apply", "id": "dev", "input": "a"}),
    );
    let new = Serve::start_at_with(&project, &old.address, &["--replace"]);
    assert_eq!(old.wait(), Some(0));
    assert!(!all.until(|_| false), "the stream has ended");
    assert_eq!(other.alive(), [0; 0]);
    all.connect(&new);
    let applied = new.call(
        &session,
        "shell",
        json!({"action": "apply", "id": "dev", "input": "b"}),
    );
    assert_eq!(applied["content"], "2 b\n", "{applied}");
    assert!(all.until(|event| event.data["type"] == "replied"));
    all.is_whole(id_of(&session));
    assert_eq!(new.delete(&session).status, 204);
}

#[test]
fn a_replacement_that_dies_with_the_place_in_its_hands_gives_kept_handles_back() {
    let project = keeping();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let (kept, other) = (Victim::new(), Victim::new());
    serve.call(&session, "shell", spawn("kept", &kept.sleep(), true));
    serve.call(&session, "shell", spawn("other", &other.sleep(), false));
    let mut reader = EventFollower::new(&format!("{session}/events?after=0"));
    reader.connect(&serve);
    let mut given = crate::serve_replacing::AskingProcess::ask(&project, &serve);
    assert_eq!(given.hear()["word"], "offer");
    given.say(json!({"word": "ready"}));
    assert_eq!(given.hear()["word"], "yours");
    let held = project.run(&["ps", "--held", "--json"], "").stdout();
    assert!(held.contains(r#""standing": "held""#), "{held}");
    drop(given);
    let state = |id: &str| {
        let handles = serve.get(&format!("{session}/handles")).json();
        let handles = handles.as_array().unwrap().clone();
        let found = handles.into_iter().find(|handle| handle["id"] == *id);
        found.map(|handle| handle["state"].clone())
    };
    eventually("it is back", || state("kept") == Some(json!("running")));
    assert_eq!(state("other"), Some(json!("running")));
    assert!(!kept.alive().is_empty() && !other.alive().is_empty());
    assert!(!reader.until(|_| false), "the stream has ended");
    reader.connect(&serve);
    let ended = serve.call(&session, "shell", json!({"action": "abort", "id": "kept"}));
    assert_eq!(ended["state"], "stopped", "{ended}");
    assert_eq!(kept.alive(), [0; 0]);
    assert!(reader.until_update("stopped", "kept"));
    reader.is_whole(id_of(&session));
}

#[test]
fn handles_of_a_dead_runtime_are_listed_with_the_time_left_and_ended() {
    let project = keeping();
    let serve = Serve::start(&project);
    let victims: Vec<Victim> = (0..3).map(|_| Victim::new()).collect();
    let mut drive = project.lines(&["drive", "--session", "work"]);
    for (number, victim) in victims.iter().enumerate() {
        let mut spawn = crate::support::spawn(&format!("v{number}"), &victim.script());
        spawn["arguments"]["keep"] = json!(true);
        drive.run([spawn]);
    }
    assert_eq!(serve.get("/held").json(), json!([]), "they have a runtime");
    victims.iter().for_each(Victim::wait_until_up);
    drive.kill();
    let held = || serve.get("/held").json().as_array().unwrap().clone();
    eventually("they are held", || {
        held()
            .iter()
            .filter(|held| held["standing"] == "held")
            .count()
            == 3
    });
    let left = held()[0]["left_secs"].as_f64().unwrap();
    assert!(left > 0.0 && left <= 600.0, "{left}");
    let shown = project.run(&["ps", "--held"], "").stdout();
    assert!(shown.starts_with("HANDLE"), "{shown}");
    let rows = shown.lines().filter(|line| line.contains(" left "));
    assert_eq!(rows.count(), 3, "{shown}");
    assert!(project.run(&["ps"], "").stdout().contains("v0 "));

    let name = held()[0]["name"].as_str().unwrap().to_owned();
    let receipt = serve.post(&format!("/held/{name}/end"), json!({}));
    assert_eq!(receipt.status, 200, "{receipt:?}");
    let receipt = receipt.json();
    assert_eq!(
        (&receipt["reason"], &receipt["ended"]),
        (&json!("asked"), &json!(processes::VICTIMS))
    );
    assert_eq!(victims[0].alive(), [0; 0]);
    let again = serve.post(&format!("/held/{name}/end"), json!({}));
    assert_eq!(again.status, 410, "{again:?}");
    assert_eq!(serve.post("/held/nothing/end", json!({})).status, 404);
    let killed = project.run(&["kill", "v1"], "");
    assert_eq!(killed.code(), Some(0));
    let (killed, said) = (killed.stdout(), processes::VICTIMS);
    let said = format!("ended {said} processes\n");
    assert!(killed.ends_with(&said), "{killed}");
    assert_eq!(victims[1].alive(), [0; 0]);
    let killed = project.run(&["kill", "v1"], "");
    assert_ne!(killed.code(), Some(0));

    let mut drive = project.lines(&["drive", "--session", "work"]);
    let reply = drive.run([crate::support::call("shell", json!({"command": "true"}))]);
    let told = reply["notices"].to_string();
    assert_eq!(told.matches("was ended by the user").count(), 2, "{told}");
    assert!(victims[2].is_up());
    let ended = drive.content("shell", json!({"action": "abort", "id": "v2"}));
    assert_eq!(ended["ended"], processes::VICTIMS, "{ended}");
}

#[test]
fn a_tool_ends_no_held_handle() {
    let project = keeping();
    let mut drive = project.lines(&["drive", "--session", "work"]);
    let victim = Victim::new();
    let mut spawn = crate::support::spawn("kept", &victim.sleep());
    spawn["arguments"]["keep"] = json!(true);
    drive.run([spawn]);
    drive.kill();
    let windlass = windlass();
    let mut drive = project.drive();
    let command = format!("{windlass} kill kept; {windlass} ps --held; echo over");
    let said = drive.content("shell", json!({ "command": command }));
    assert!(said.to_string().contains("over"), "{said}");
    assert!(!victim.alive().is_empty(), "{said}");
    assert!(!said.to_string().contains(" left "), "{said}");
    project.run(&["kill", "kept"], "");
    assert_eq!(victim.alive(), [0; 0]);
}

#[test]
fn a_held_handle_is_attached_to_and_left_to_its_successor() {
    needs!("script");
    let project = keeping();
    let mut drive = project.lines(&["drive", "--session", "work"]);
    let mut spawn = crate::support::spawn(
        "deep",
        "echo ready; while read line; do echo \"got $line\"; done",
    );
    spawn["arguments"]["keep"] = json!(true);
    spawn["arguments"]["terminal"] = json!(true);
    drive.run([spawn]);
    drive.kill();
    let windlass = windlass();
    let mut desk = Desk::open(
        &project,
        &format!("stty rows 12 cols 60; {windlass} attach deep"),
    );
    eventually("it is drawn", || desk.shows("ready"));
    desk.press("from afar\r");
    eventually("what is typed arrives", || desk.shows("got from afar"));
    desk.press("\u{1d}");
    desk.script.wait().unwrap();
    let held = project.run(&["ps", "--held", "--json"], "").stdout();
    assert!(held.contains(r#""standing": "held""#), "{held}");
    let mut drive = project.lines(&["drive", "--session", "work"]);
    let apply = json!({"action": "apply", "id": "deep", "input": "mine"});
    let applied = drive.content("shell", apply).to_string();
    assert!(
        applied.contains("got from afar") && applied.contains("got mine"),
        "{applied}"
    );
    drive.content("shell", json!({"action": "abort", "id": "deep"}));
}
