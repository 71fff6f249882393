//! A connection over which one request follows the other.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{LoadError, LoadTarget};

pub(super) struct LoadConnection {
    stream: BufReader<TcpStream>,
    headers: String,
}

impl LoadConnection {
    pub(super) async fn open(target: &LoadTarget) -> io::Result<Self> {
        let stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            headers: headers(target),
        })
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<Value, LoadError> {
        self.ask("GET", path, "").await
    }

    pub(super) async fn post(&mut self, path: &str, body: &Value) -> Result<Value, LoadError> {
        self.ask("POST", path, &body.to_string()).await
    }

    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<Value, LoadError> {
        let (headers, length) = (&self.headers, body.len());
        let request =
            format!("{method} {path} HTTP/1.1\r\n{headers}content-length: {length}\r\n\r\n{body}");
        self.stream.write_all(request.as_bytes()).await?;
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if self.stream.read_line(&mut line).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                let value = value.trim().parse();
                length = value.map_err(|_| LoadError::Strange(line.clone()))?;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).await?;
        let strange = || LoadError::Strange(String::from_utf8_lossy(&answer).into_owned());
        serde_json::from_slice(&answer).map_err(|_| strange())
    }
}

/// The headers of every request.
pub(super) fn headers(target: &LoadTarget) -> String {
    let LoadTarget { address, token } = target;
    format!("host: {address}\r\nauthorization: Bearer {token}\r\n")
}
