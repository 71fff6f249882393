//! The server for one client over a pair of pipes: the connection is the
//! session.

use std::io;
use std::sync::Arc;
use std::time::Duration;

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
    let lines = LineTransport {
        input: BufReader::with_capacity(64 << 10, input),
        line: Vec::new(),
        too_long: false,
        output: Arc::new(tokio::sync::Mutex::new(output)),
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
    outcome
}

/// One message per line, in both directions. An invalid line gets an error as
/// its reply and is otherwise ignored.
struct LineTransport<R, W> {
    input: BufReader<R>,
    /// The line in progress; stored here, because the read may be cancelled
    /// midway.
    line: Vec<u8>,
    too_long: bool,
    output: Arc<tokio::sync::Mutex<W>>,
    /// Cancelled when the input has ended.
    ended: CancellationToken,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Reads to the end of a line. `None` at the end of input.
    async fn read(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, ErrorData>> {
        loop {
            let buffer = self.input.fill_buf().await.ok()?;
            if buffer.is_empty() {
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
            if std::mem::take(&mut self.too_long) {
                let limit = LONGEST >> 20;
                let message =
                    format!("the message is longer than {limit} MiB; send shorter messages");
                return Some(Err(ErrorData::invalid_request(message, None)));
            }
            if !line.trim_ascii().is_empty() {
                return Some(parse(&line));
            }
        }
    }
}

fn parse(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, ErrorData> {
    serde_json::from_slice(line).map_err(|error| {
        let message = error.to_string();
        if error.is_data() {
            ErrorData::invalid_request(message, None)
        } else {
            ErrorData::parse_error(message, None)
        }
    })
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
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match self.read().await {
                Some(Ok(message)) => return Some(message),
                Some(Err(error)) => {
                    let answer = self.send(ServerJsonRpcMessage::error(error, None));
                    // Nobody reads any more when it cannot be sent, and then
                    // the input ends too. Not awaited here: a dropped read
                    // must not cut a line in two.
                    windlass_task::spawn(answer);
                }
                None => {
                    self.ended.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.shutdown().await
    }
}
