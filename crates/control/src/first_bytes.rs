//! A timeout for connections that send no HTTP preface.
//!
//! Until the protocol is known, none of its limits apply: the server would wait
//! for the first bytes for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

/// The beginning of HTTP/2. As long as a client has sent no more than a part
/// of it, both versions are possible.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream of which reading fails when the first bytes do not come in time.
pub(crate) struct FirstBytes {
    /// Boxed, so that HTTP is compiled once for all kinds of connections.
    stream: Pin<Box<dyn ByteStream>>,
    /// Gone when the version is known.
    waiting: Option<FirstWait>,
    /// Cancelled when the version is known.
    spoken: CancellationToken,
}

trait ByteStream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> ByteStream for S {}

struct FirstWait {
    limit: Pin<Box<Sleep>>,
    /// How many bytes have come; all of them begin HTTP/2.
    seen: usize,
}

impl FirstBytes {
    /// Gives the client this long.
    pub(crate) fn within<S>(limit: Duration, stream: S) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let limit = Box::pin(tokio::time::sleep(limit));
        Self {
            stream: Box::pin(stream),
            waiting: Some(FirstWait { limit, seen: 0 }),
            spoken: CancellationToken::new(),
        }
    }

    /// Cancelled when the client has said which HTTP it speaks.
    pub(crate) fn spoken(&self) -> CancellationToken {
        self.spoken.clone()
    }
}

impl FirstWait {
    /// The version is still open after these bytes.
    fn goes_on(&mut self, bytes: &[u8]) -> bool {
        let rest = &PREFACE[self.seen..];
        self.seen += bytes.len();
        bytes.len() < rest.len() && rest.starts_with(bytes)
    }
}

impl AsyncRead for FirstBytes {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = this.stream.as_mut().poll_read(context, buffer);
        let Some(waiting) = &mut this.waiting else {
            return read;
        };
        if read.is_ready() {
            if !waiting.goes_on(&buffer.filled()[before..]) {
                this.waiting = None;
                this.spoken.cancel();
            }
            return read;
        }
        ready!(waiting.limit.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for FirstBytes {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }
}
