//! The server for one client over a pair of pipes: the connection is the
//! session.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use rmcp::service::{
    RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage, serve_server,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

use crate::server::McpServer;

/// The maximum length of a line.
const LONGEST: usize = 8 << 20;
/// The time after the end of input in which calls may still be answered.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// The error that ended the service of a client.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// It did not start as the protocol requires.
    #[error("the client did not send a valid MCP initialize request")]
    Beginning(#[source] Box<ServerInitializeError>),
    /// A message could not be written.
    #[error("a message could not be written to the client")]
    Output(#[source] io::Error),
}

/// Serves one client until its input ends or `stop` is cancelled, and then ends
/// everything that runs. Resolves when all processes are gone.
pub async fn serve_stdio(
    server: &McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: CancellationToken,
) -> Result<(), StdioError> {
    let (server, conversation) = server.connected();
    let ended = CancellationToken::new();
    let output = Arc::new(MessageOutput {
        writer: tokio::sync::Mutex::new(output),
        failed: Mutex::default(),
    });
    let lines = LineTransport {
        input: BufReader::with_capacity(64 << 10, input),
        line: Vec::new(),
        too_long: false,
        output: Arc::clone(&output),
        ended: ended.clone(),
    };
    let closing = {
        let conversation = Arc::clone(&conversation);
        let stop = stop.clone();
        windlass_task::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = ended.cancelled() => tokio::time::sleep(LAST_WORDS).await,
            }
            conversation.close().await;
        })
    };
    let begun = tokio::select! {
        begun = Box::pin(serve_server(server, lines)) => begun,
        // No message has arrived yet.
        () = stop.cancelled() => {
            closing.abort();
            conversation.close().await;
            return Ok(());
        }
    };
    let outcome = match begun {
        Ok(running) => {
            let quit = running.cancellation_token();
            let stopped = async move {
                stop.cancelled().await;
                quit.cancel();
            };
            tokio::select! {
                _ = Box::pin(running.waiting()) => {}
                () = stopped => {}
            }
            Ok(())
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Beginning(Box::new(error))),
    };
    closing.abort();
    conversation.close().await;
    match output.failed.lock().take() {
        Some(error) => Err(StdioError::Output(error)),
        None => outcome,
    }
}

/// One message per line, in both directions. An invalid line gets an error as
/// its reply and is otherwise ignored.
struct LineTransport<R, W> {
    input: BufReader<R>,
    /// The line in progress; stored here, because the read may be cancelled
    /// midway.
    line: Vec<u8>,
    too_long: bool,
    output: Arc<MessageOutput<W>>,
    /// Cancelled when the input has ended.
    ended: CancellationToken,
}

/// The output, and its first error, which the protocol library replaces by one
/// of its own.
struct MessageOutput<W> {
    writer: tokio::sync::Mutex<W>,
    failed: Mutex<Option<io::Error>>,
}

impl<W> MessageOutput<W> {
    /// Keeps an error, and returns one of the same kind.
    fn fail(&self, error: io::Error) -> io::Error {
        let kind = error.kind();
        self.failed.lock().get_or_insert(error);
        kind.into()
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut writer = output.writer.lock().await;
            let written = async {
                writer.write_all(&line).await?;
                writer.flush().await
            };
            written.await.map_err(|error| output.fail(error))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let buffer = self.input.fill_buf().await.unwrap_or_default();
            if buffer.is_empty() {
                self.ended.cancel();
                return None;
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            if self.line.len() + taken > LONGEST {
                self.too_long = true;
                self.line.clear();
            }
            if !self.too_long {
                self.line.extend_from_slice(&buffer[..taken]);
            }
            self.input.consume(taken);
            if end.is_none() {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let error = if std::mem::take(&mut self.too_long) {
                let limit = LONGEST >> 20;
                let message =
                    format!("the message is longer than {limit} MiB; send shorter messages");
                ErrorData::invalid_request(message, None)
            } else if line.trim_ascii().is_empty() {
                continue;
            } else {
                match serde_json::from_slice(&line) {
                    Ok(message) => return Some(message),
                    Err(error) if error.is_data() => {
                        ErrorData::invalid_request(error.to_string(), None)
                    }
                    Err(error) => ErrorData::parse_error(error.to_string(), None),
                }
            };
            let answer = self.send(ServerJsonRpcMessage::error(error, None));
            // Nobody reads any more when it cannot be sent, and then the input
            // ends too. Not awaited here: a dropped read must not cut a line in
            // two.
            windlass_task::spawn(answer);
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        let closed = self.output.writer.lock().await.shutdown().await;
        closed.map_err(|error| self.output.fail(error))
    }
}
