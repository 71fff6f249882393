//! The connections of a listener.

use std::io;
use std::pin::Pin;

use axum::Router;
use axum::serve::Listener;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Serves HTTP on a listener until `stop` is cancelled and the open requests
/// are answered.
pub async fn serve_router<L>(listener: L, router: Router, stop: CancellationToken) -> io::Result<()>
where
    L: Listener + Send,
{
    let listener = AnyListener(Box::new(listener));
    axum::serve(listener, router)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
}

/// A listener of any kind: HTTP is compiled once for all of them.
struct AnyListener(Box<dyn Accept>);

type DuplexStream = Pin<Box<dyn Duplex>>;

trait Duplex: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Duplex for S {}

trait Accept: Send + 'static {
    fn accept_stream(&mut self) -> BoxFuture<'_, DuplexStream>;
}

impl<L: Listener + Send> Accept for L {
    fn accept_stream(&mut self) -> BoxFuture<'_, DuplexStream> {
        async {
            let (stream, _) = self.accept().await;
            Box::pin(stream) as DuplexStream
        }
        .boxed()
    }
}

impl Listener for AnyListener {
    type Io = DuplexStream;
    type Addr = ();

    async fn accept(&mut self) -> (DuplexStream, ()) {
        (self.0.accept_stream().await, ())
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}
