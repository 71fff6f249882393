//! Others on the wire and on the machine: encryption by flag, and another user
//! at the control socket.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_uid};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};
use windlass_outside::skip;

use crate::http_support::Serve;
use crate::support::{DEADLINE, Project};

/// Asks over TLS, trusting this certificate alone; returns all that is answered.
pub(crate) fn ask(serve: &Serve, trusted: CertificateDer<'static>) -> io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut tcp = TcpStream::connect(&serve.address)?;
    tcp.set_read_timeout(Some(DEADLINE))?;
    let mut stream = Stream::new(&mut connection, &mut tcp);
    let (host, token) = (&serve.address, &serve.token);
    write!(
        stream,
        "GET /api/v1/sessions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    // The server may close without a word of farewell.
    match stream.read_to_end(&mut answer) {
        Err(error) if answer.is_empty() => Err(error),
        _ => Ok(String::from_utf8_lossy(&answer).into_owned()),
    }
}

#[test]
fn a_port_is_encrypted_by_flag() {
    let project = Project::new();
    let made = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let own = made();
    project.write("cert.pem", &own.cert.pem());
    project.write("key.pem", &own.signing_key.serialize_pem());
    let (cert, key) = ("--tls-cert", "--tls-key");
    let serve = Serve::start_with(&project, &[cert, "cert.pem", key, "key.pem"]);

    let answer = ask(&serve, own.cert.der().clone()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("[]"), "{answer}");
    // A client that trusts another certificate sends nothing, not even the token.
    let error = ask(&serve, made().cert.der().clone()).unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    // What is not encrypted is not understood.
    let plain = serve.at("GET", "/api/v1/sessions", "");
    assert_eq!(plain.status, 0, "{plain:?}");
}

#[test]
fn a_certificate_that_is_none_is_said_to_be_none() {
    let project = Project::new();
    project.write("cert.pem", "this is no certificate\n");
    project.write("key.pem", "and this is no key\n");
    let args = ["serve", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem"];
    let refused = project.run(&[&args[..], &["--tls-key", "key.pem"]].concat(), "");
    assert_ne!(refused.code(), Some(0));
    let why = refused.stderr();
    assert!(why.contains(".pem"), "{why}");
}

/// Knocks at a Unix socket, as root or as another user; tells how much was
/// answered.
fn knock(socket: &Path, user: Option<u32>) -> io::Result<usize> {
    let knocking = || {
        // On Linux each thread has a user of its own.
        if let Some(user) = user {
            set_thread_gid(Gid::from_raw(user))?;
            set_thread_uid(Uid::from_raw(user))?;
        }
        let mut door = UnixStream::connect(socket)?;
        door.set_read_timeout(Some(DEADLINE))?;
        let request = "GET /api/v1/sessions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        door.write_all(request.as_bytes())?;
        door.read_to_end(&mut Vec::new())
    };
    std::thread::scope(|scope| scope.spawn(knocking).join().unwrap())
}

fn open_to_all(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn another_user_is_not_heard_at_the_control_socket() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        skip!("only root can be another user");
    }
    let project = Project::new();
    let serve = Serve::start(&project);

    assert!(knock(&serve.socket, None).unwrap() > 0);
    let error = knock(&serve.socket, Some(NOBODY)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    // Even if the socket and its folder are open to everybody, the peer's user is checked.
    let folder = project.root().parent().unwrap().to_owned();
    let folders = serve.socket.ancestors().skip(1);
    for folder in folders.take_while(|path| path.starts_with(&folder)) {
        open_to_all(folder, 0o755);
    }
    open_to_all(&serve.socket, 0o666);
    match knock(&serve.socket, Some(NOBODY)) {
        Ok(heard) => assert_eq!(heard, 0),
        Err(error) => assert!(
            matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
            ),
            "{error}"
        ),
    }
    assert!(knock(&serve.socket, None).unwrap() > 0);
}
