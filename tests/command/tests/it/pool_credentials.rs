//! Pools whose broker knows users by JWTs: a credentials file for each, accounts apart from each other, over TLS.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use insta::assert_snapshot;
use nkeys::KeyPair;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::pool_support::{Broker, WorkerProcess};
use crate::pool_tls::certificates;
use crate::support::Project;

/// A signed JWT as `nsc` makes them.
fn jwt(issuer: &KeyPair, subject: &KeyPair, name: &str, nats: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(&json!({"typ": "JWT", "alg": "ed25519-nkey"}));
    let claims = part(&json!({
        "jti": name, "iat": 1_700_000_000, "iss": issuer.public_key(), "sub": subject.public_key(),
        "name": name, "nats": nats
    }));
    let signed = format!("{head}.{claims}");
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// An account of an operator.
struct Account {
    key: KeyPair,
    jwt: String,
}

impl Account {
    /// One with `JetStream`.
    fn new(operator: &KeyPair, name: &str) -> Self {
        Self::with_storage(operator, name, -1)
    }

    /// One with a limit for `JetStream`; -1: none. A system account must not have any.
    fn with_storage(operator: &KeyPair, name: &str, storage: i32) -> Self {
        let key = KeyPair::new_account();
        let limits = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
            "leaf": -1, "mem_storage": storage, "disk_storage": storage, "streams": storage, "consumer": storage
        });
        let nats = json!({"limits": limits, "type": "account", "version": 2});
        let jwt = jwt(operator, &key, name, &nats);
        Self { key, jwt }
    }

    /// Writes the credentials of a new user. It may publish and subscribe to these subjects alone, or to all.
    fn user(&self, file: &Path, allowed: Option<&[&str]>) {
        let user = KeyPair::new_user();
        let subjects = allowed.map_or_else(|| json!({}), |allowed| json!({"allow": allowed}));
        let nats = json!({
            "pub": subjects, "sub": subjects, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2
        });
        let jwt = jwt(&self.key, &user, "user", &nats);
        let seed = user.seed().unwrap();
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        );
        fs::write(file, text).unwrap();
    }
}

/// A broker with TLS and the accounts of an operator. The first is the system's.
fn guarded(folder: &Path, operator: &KeyPair, accounts: &[&Account]) -> Broker {
    certificates(folder, &["server"]);
    let file = |name: &str| folder.join(name).display().to_string();
    let own = json!({"type": "operator", "version": 2});
    let preloaded: Vec<String> = accounts
        .iter()
        .map(|account| format!("{}: {:?}", account.key.public_key(), account.jwt))
        .collect();
    Broker::with_config(&format!(
        "tls {{ cert_file: {:?}, key_file: {:?} }}\noperator: {:?}\nsystem_account: {}\nresolver: MEMORY\n\
         resolver_preload: {{\n{}\n}}\n",
        file("server.pem"),
        file("server-key.pem"),
        jwt(operator, operator, "operator", &own),
        accounts[0].key.public_key(),
        preloaded.join("\n"),
    ))
}

fn configured(broker: &Broker, folder: &Path, credentials: &str) -> String {
    let file = |name: &str| folder.join(name).display().to_string();
    format!(
        "[hosts.fleet]\nnats = \"{}\"\npool = \"ci\"\nca = {:?}\ncredentials = {:?}\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"fleet\"\n",
        broker.url().replace("nats:", "tls:"),
        file("ca.pem"),
        file(credentials),
    )
}

#[test]
fn credentials_files_separate_two_accounts() {
    needs!("nats-server");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let operator = KeyPair::new_operator();
    let system = Account::with_storage(&operator, "SYS", 0);
    let (ours, theirs) = (
        Account::new(&operator, "OURS"),
        Account::new(&operator, "THEIRS"),
    );
    // The subjects that the guide lists suffice.
    let subjects = [
        "windlass.ci.>",
        "$KV.windlass-ci-workers.>",
        "$KV.windlass-ci-claims.>",
        "$JS.API.>",
        "$JS.ACK.windlass-ci-starts.>",
        "_INBOX.>",
    ];
    ours.user(&path("runtime.creds"), Some(&subjects));
    ours.user(&path("worker.creds"), Some(&subjects));
    theirs.user(&path("theirs.creds"), None);
    let broker = guarded(folder.path(), &operator, &[&system, &ours, &theirs]);
    let config = configured(&broker, folder.path(), "runtime.creds");
    let project = Project::with_own_config(&config);
    let text = |name: &str| path(name).display().to_string();
    let (ca, creds) = (text("ca.pem"), text("worker.creds"));
    let files = ["--ca", &ca, "--credentials", &creds];
    let _worker = WorkerProcess::start(&project, &broker, "w1", &files);
    let mut drive = project.drive();
    let said = drive.content("shell", json!({"command": "echo safe; sleep 1.5"}));
    assert_eq!(said, json!("safe\n"));
    let checked = project.run(&["hosts", "check", "fleet"], "");
    assert_eq!(checked.code(), Some(0), "{}", checked.stdout());
    assert!(
        checked.stdout().contains("is stored for 24 h"),
        "{}",
        checked.stdout()
    );
    // The other account has a pool of the same name, without this worker.
    let config = configured(&broker, folder.path(), "theirs.creds");
    let other = Project::with_own_config(&config);
    let none = other.drive().error("shell", json!({"command": "true"}));
    assert_snapshot!(none, @"host `fleet`: pool `ci` has no worker; start one with `windlass worker`");
    let creds = text("theirs.creds");
    let files = ["--ca", &ca, "--credentials", &creds];
    let _same_name = WorkerProcess::start(&other, &broker, "w1", &files);
    let place = json!({"command": "echo $XDG_STATE_HOME"});
    let ours = drive.content("shell", place.clone()).to_string();
    let theirs = other.drive().content("shell", place).to_string();
    assert!(ours != theirs, "{ours} {theirs}");
    // Credentials of another operator do not get in, and the message has no secret.
    let stranger = Account::new(&KeyPair::new_operator(), "STRANGER");
    stranger.user(&path("stranger.creds"), None);
    let config = configured(&broker, folder.path(), "stranger.creds");
    let refused = Project::with_own_config(&config).run(&["hosts", "check", "fleet"], "");
    assert_eq!(refused.code(), Some(1), "{}", refused.stdout());
    assert_snapshot!(filtered(&refused.stdout()), @"host `fleet`: NATS at tls://127.0.0.1:[port] rejects this client: authorization violation: nats: authorization violation; name the files of a user of the pool's account, with `credentials`, or with `cert` and `key`");
    let written = fs::read_to_string(path("stranger.creds")).unwrap();
    let seed = written.lines().find(|line| line.starts_with("SU")).unwrap();
    assert!(!refused.stdout().contains(seed) && !refused.stderr().contains(seed));
}
