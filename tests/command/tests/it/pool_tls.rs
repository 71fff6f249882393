//! Pools whose broker takes only known certificates, and gives each user an account.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::pool_support::{Broker, WorkerProcess};
use crate::support::Project;

/// Writes an authority and certificates that it has signed, by their names.
pub(crate) fn certificates(folder: &Path, names: &[&str]) {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(DnType::CommonName, "authority");
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap();
    fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    let issuer = Issuer::new(params, key);
    for name in names {
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, *name);
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &issuer).unwrap();
        fs::write(folder.join(format!("{name}.pem")), signed.pem()).unwrap();
        fs::write(folder.join(format!("{name}-key.pem")), key.serialize_pem()).unwrap();
    }
}

/// A broker with an account for a pool and another one.
fn guarded(folder: &Path) -> Broker {
    certificates(folder, &["server", "runtime", "worker", "stranger"]);
    let file = |name: &str| folder.join(name).display().to_string();
    Broker::with_config(&format!(
        "tls {{ cert_file: {:?}, key_file: {:?}, ca_file: {:?}, verify_and_map: true }}\n\
         accounts {{\n\
         CI: {{ jetstream: enabled, users: [ {{ user: \"CN=runtime\" }}, {{ user: \"CN=worker\" }} ] }}\n\
         OTHER: {{ jetstream: enabled, users: [ {{ user: \"CN=stranger\" }} ] }}\n}}\n",
        file("server.pem"),
        file("server-key.pem"),
        file("ca.pem"),
    ))
}

fn configured(broker: &Broker, folder: &Path, name: &str) -> String {
    let file = |name: String| folder.join(name).display().to_string();
    format!(
        "[hosts.fleet]\nnats = \"{}\"\npool = \"ci\"\nca = {:?}\ncert = {:?}\nkey = {:?}\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"fleet\"\n",
        broker.url().replace("nats:", "tls:"),
        file("ca.pem".to_owned()),
        file(format!("{name}.pem")),
        file(format!("{name}-key.pem")),
    )
}

#[test]
fn a_pool_with_certificates_is_used_by_its_account_alone() {
    needs!("nats-server");
    let folder = tempfile::tempdir().unwrap();
    let broker = guarded(folder.path());
    let project = Project::with_own_config(&configured(&broker, folder.path(), "runtime"));
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (ca, cert, key) = (file("ca.pem"), file("worker.pem"), file("worker-key.pem"));
    let files = ["--ca", &ca, "--cert", &cert, "--key", &key];
    let _worker = WorkerProcess::start(&project, &broker, "w1", &files);
    let said = project
        .drive()
        .content("shell", json!({"command": "echo safe"}));
    assert_eq!(said, json!("safe\n"));
    // Another account has pools of its own, and this one is not among them.
    let stranger = Project::with_own_config(&configured(&broker, folder.path(), "stranger"));
    let none = stranger.drive().error("shell", json!({"command": "true"}));
    assert_snapshot!(none, @"host `fleet`: pool `ci` has no worker; start one with `windlass worker`");
    // A client without a certificate is rejected.
    let url = broker.url();
    let config = format!("[hosts.fleet]\nnats = \"{url}\"\npool = \"ci\"\nca = {ca:?}\n");
    let bare = Project::with_own_config(&config).run(&["hosts", "check", "fleet"], "");
    assert_eq!(bare.code(), Some(1), "{}", bare.stdout());
    assert!(
        bare.stdout().contains("cannot be reached"),
        "{}",
        bare.stdout()
    );
    // A file that is not there is named.
    let config =
        format!("[hosts.fleet]\nnats = \"{url}\"\npool = \"ci\"\ncredentials = \"none.creds\"\n");
    let missing = Project::with_own_config(&config).run(&["hosts", "check", "fleet"], "");
    assert_snapshot!(filtered(&missing.stdout()), @r#"host `fleet`: the file "[folder]/project/none.creds" cannot be used: loading creds file '[folder]/project/none.creds': No such file or directory (os error 2)"#);
}
