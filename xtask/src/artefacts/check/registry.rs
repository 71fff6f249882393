//! A package registry on this machine that serves the contents of `dist/`.
//!
//! It implements as much of npm's and `PyPI`'s protocols as installing needs.
//! It has no other packages: npm is redirected to the registry of this
//! machine's settings, and Python's tools get theirs as an additional index.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value, json};

use crate::artefacts::archive;
use crate::artefacts::name_of;

/// The registry. It serves until this process ends.
pub(super) struct LoopbackRegistry {
    address: String,
}

/// All responses, by path.
struct Shelf {
    answers: HashMap<String, (&'static str, Vec<u8>)>,
    /// The registry of all other packages.
    npm: Option<String>,
}

impl LoopbackRegistry {
    /// Starts a registry with these npm packages and this wheel.
    pub(super) fn start(npm: &[impl AsRef<Path>], wheel: &Path) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}", listener.local_addr()?);
        let mut answers = HashMap::new();
        for package in npm {
            let (name, manifest) = packument(package.as_ref(), &address)?;
            answers.insert(format!("/npm/{name}"), ("application/json", manifest));
            add_file(&mut answers, package.as_ref())?;
        }
        let file = name_of(wheel);
        let link = format!("{address}/files/{file}#sha256={}", archive::sha256(wheel)?);
        let page = format!("<!DOCTYPE html><a href=\"{link}\">{file}</a>");
        answers.insert(
            "/pypi/windlass/".to_owned(),
            ("text/html", page.into_bytes()),
        );
        add_file(&mut answers, wheel)?;
        let npm = archive::output(Command::new("npm").args(["config", "get", "registry"])).ok();
        let shelf = Arc::new(Shelf {
            answers,
            npm: npm.map(|npm| npm.trim().trim_end_matches('/').to_owned()),
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shelf = Arc::clone(&shelf);
                std::thread::spawn(move || shelf.answer(&stream));
            }
        });
        Ok(Self { address })
    }

    /// The address for npm.
    pub(super) fn npm(&self) -> String {
        format!("{}/npm/", self.address)
    }

    /// The address of the index of Python packages.
    pub(super) fn pypi(&self) -> String {
        format!("{}/pypi/", self.address)
    }
}

fn add_file(
    answers: &mut HashMap<String, (&'static str, Vec<u8>)>,
    file: &Path,
) -> anyhow::Result<()> {
    let path = format!("/files/{}", name_of(file));
    answers.insert(path, ("application/octet-stream", std::fs::read(file)?));
    Ok(())
}

/// npm's metadata of a package with one version.
fn packument(package: &Path, address: &str) -> anyhow::Result<(String, Vec<u8>)> {
    let mut tar = Command::new("tar");
    tar.arg("--extract")
        .arg("--to-stdout")
        .arg("--file")
        .arg(package);
    let manifest = archive::output(tar.arg("package/package.json"))?;
    let mut manifest: Value = serde_json::from_str(&manifest)?;
    let name = manifest["name"]
        .as_str()
        .context("a package has a name")?
        .to_owned();
    let version = manifest["version"]
        .as_str()
        .context("a package has a version")?
        .to_owned();
    let sum = archive::output(Command::new("sha1sum").arg(package))?;
    let sum = sum.split(' ').next().unwrap_or_default();
    let file = name_of(package);
    manifest["dist"] = json!({"tarball": format!("{address}/files/{file}"), "shasum": sum});
    let packument = json!({
        "name": name,
        "dist-tags": {"latest": version},
        "versions": {version: manifest},
    });
    Ok((name, serde_json::to_vec(&packument)?))
}

impl Shelf {
    /// Answers one request, then closes the connection. Clients that disconnect
    /// are ignored.
    fn answer(&self, stream: &TcpStream) {
        let _ = self.try_answer(stream);
    }

    fn try_answer(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream).lines();
        let request = lines.next().transpose()?.unwrap_or_default();
        // The rest of the request does not matter.
        for line in lines.by_ref() {
            if line?.is_empty() {
                break;
            }
        }
        let path = request.split(' ').nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let elsewhere = self.npm.as_ref().zip(path.strip_prefix("/npm/"));
        let (head, body) = match (self.answers.get(path), elsewhere) {
            (Some((kind, body)), _) => (format!("200 OK\r\nContent-Type: {kind}"), &body[..]),
            (None, Some((npm, rest))) => (format!("302 Found\r\nLocation: {npm}/{rest}"), &b""[..]),
            (None, None) => ("404 Not Found".to_owned(), &b""[..]),
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        )?;
        if !request.starts_with("HEAD") {
            stream.write_all(body)?;
        }
        stream.flush()
    }
}
