//! Refuses connections of programs that a runtime has started.
//!
//! Start at [`admit`]. They run as the same user, so neither socket permissions
//! nor a token file keep them out. A tool could otherwise permit its own calls.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Says whether the peer of an accepted connection is a tool's process. It may
/// block for a moment.
pub type PeerCheck = fn(BorrowedFd<'_>) -> bool;

/// Told to a tool that asks.
const REFUSAL: &str = r#"{"error":"this is for the person, and a tool asks"}"#;
/// How long a refused peer may take to send its request, which is not read.
const PATIENCE: Duration = Duration::from_secs(2);

/// Gives back a connection whose peer may ask. Any other is answered that it
/// may not, and closed.
pub async fn admit<S>(stream: S, is_tool: PeerCheck) -> Option<S>
where
    S: AsFd + AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let looked = tokio::task::spawn_blocking(move || {
        let refused = is_tool(stream.as_fd());
        (stream, refused)
    });
    let (stream, refused) = looked.await.ok()?;
    admit_if(!refused, stream)
}

/// As [`admit`], for a peer that has been looked at.
pub(crate) fn admit_if<S>(admitted: bool, stream: S) -> Option<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    if admitted {
        return Some(stream);
    }
    windlass_task::spawn(tokio::time::timeout(PATIENCE, refuse(stream)));
    None
}

async fn refuse(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    // A connection that is closed with something unread is reset, and the
    // answer with it.
    let mut request = [0; 8 << 10];
    let mut length = 0;
    while length < request.len() && !request[..length].windows(4).any(|it| it == b"\r\n\r\n") {
        match stream.read(&mut request[length..]).await? {
            0 => break,
            more => length += more,
        }
    }
    let answer = format!(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{REFUSAL}",
        REFUSAL.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    while stream.read(&mut request).await? > 0 {}
    Ok(())
}
