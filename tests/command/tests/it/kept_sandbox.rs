//! Kept handles in a sandbox: they keep it, with its `/tmp` and its way to allowed hosts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use windlass_outside::needs;

use crate::kept::{act, spawn_kept, told};
use crate::support::{Project, eventually};

/// A server on this machine that counts its requests.
fn counting_server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let _ = lines.map_while(Result::ok).find(String::is_empty);
            counted.fetch_add(1, Ordering::Relaxed);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhello");
        }
    });
    (port, count)
}

/// Asks a server again and again until a line comes, then tells what its `/tmp` has and what it may write.
const CLIENT: &str = "echo mine > /tmp/mine
python3 -u -c '
import select, sys, time, urllib.request
while not select.select([sys.stdin], [], [], 0.05)[0]:
    try: urllib.request.urlopen(sys.argv[1], timeout=5).read()
    except OSError as error: print(\"failed\", error)
' http://127.0.0.1:PORT/
cat /tmp/mine
echo evil > /etc/windlass-test || echo denied
";

#[test]
fn a_kept_handle_keeps_its_sandbox() {
    needs!("python3");
    let (port, count) = counting_server();
    let project = Project::with_own_config(&format!(
        "[conversation.tools.shell]\n\
         sandbox.network = {{ allow = [\"127.0.0.1:{port}\"] }}\n\
         limits = {{ processes = 100 }}\n\
         spawn.lifecycle.keepable_secs = 600\n"
    ));
    let mut drive = project.drive_named("work");
    let spawn = spawn_kept("client", &CLIENT.replace("PORT", &port.to_string()));
    let reply = drive.run([spawn]);
    assert_eq!(reply["replies"][0]["is_error"], false, "{reply}");
    let more = |what: &str| {
        let before = count.load(Ordering::Relaxed);
        eventually(what, || count.load(Ordering::Relaxed) > before + 2);
    };
    more("it gets out while its runtime lives");
    let private = format!("windlass-sandbox-{}-", drive.pid());
    let has_private = || {
        // The runtime's temporary directory: its environment does not name another one.
        let mut entries = Path::new("/tmp").read_dir().unwrap().flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().starts_with(&private))
    };
    drive.kill();
    more("it gets out while it is held");
    let mut drive = project.drive_adopting("work");
    assert_eq!(told(&mut drive).len(), 1);
    more("it gets out when it is adopted");
    drive.kill();
    let mut drive = project.drive_adopting("work");
    more("it gets out after another death");
    assert!(has_private());
    drive.content(
        "shell",
        json!({"action": "apply", "id": "client", "input": "stop"}),
    );
    let awaited = drive.content("await", json!({"all": ["client"], "timeout_secs": 30}));
    let said = awaited.to_string();
    assert!(
        said.contains("mine\\n") && said.contains("denied"),
        "{said}"
    );
    // Connections that were open when a runtime died are lost, and no others.
    assert!(said.matches("failed").count() <= 2, "{said}");
    act(&mut drive, "fetch", "client");
    // Its private folder goes with the next sandbox, of whichever process.
    let mut another = project.drive();
    another.content("shell", json!({"command": "true"}));
    // Another process may be removing it at this moment.
    eventually("its private folder is gone", || !has_private());
}
