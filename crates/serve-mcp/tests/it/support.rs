//! A client that writes and reads JSON lines, and the tools that it calls.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_runtime::{Await, Catalogue, Runtime, ToolDefinition};
use windlass_serve_mcp::{McpOptions, McpServer, StdioError, TaskPolicy, serve_stdio};
use windlass_testing::{Scripted, lasting};

/// The tools `tool`, which can last, and `await`.
pub(crate) struct Tools {
    pub(crate) tool: Scripted,
    pub(crate) runtime: Runtime,
}

impl Tools {
    pub(crate) fn new() -> Self {
        Self::with(lasting("tool"))
    }

    pub(crate) fn with(definition: ToolDefinition) -> Self {
        let tool = Scripted::new();
        let mut catalogue = Catalogue::new();
        catalogue.register(definition, tool.executor()).unwrap();
        let waiting = Arc::new(Await);
        catalogue
            .register_builtin(Await::definition(), waiting)
            .unwrap();
        Self {
            tool,
            runtime: Runtime::new(catalogue),
        }
    }

    /// A server whose calls become tasks soon, so that tests of tasks need not
    /// wait.
    pub(crate) fn server(&self, max_block: Duration) -> McpServer {
        self.server_with(McpOptions {
            max_block,
            tasks: TaskPolicy::After(Duration::from_millis(250)),
            ..McpOptions::default()
        })
    }

    pub(crate) fn server_with(&self, options: McpOptions) -> McpServer {
        let runtime = self.runtime.clone();
        let factory = Arc::new(move |options| runtime.session(options));
        McpServer::new(self.runtime.clone(), factory, options)
    }

    /// A client of the initialize-based protocol with these capabilities.
    pub(crate) async fn client(&self, capabilities: Value) -> Client {
        self.patient_client(capabilities, Duration::from_hours(1))
            .await
    }

    pub(crate) async fn patient_client(&self, capabilities: Value, max_block: Duration) -> Client {
        let mut client = Client::connect(&self.server(max_block));
        let begun = client
            .request(
                "initialize",
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": capabilities,
                    "clientInfo": {"name": "test", "version": "1"},
                }),
            )
            .await;
        assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
        begun["result"]["instructions"]
            .as_str()
            .unwrap()
            .clone_into(&mut client.instructions);
        client
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        client
    }

    /// A client of the stateless protocol with these capabilities.
    pub(crate) fn stateless(&self, capabilities: &Value) -> Client {
        self.stateless_at(&self.server(Duration::from_hours(1)), capabilities)
    }

    #[expect(clippy::unused_self, reason = "the server serves these tools")]
    pub(crate) fn stateless_at(&self, server: &McpServer, capabilities: &Value) -> Client {
        let mut client = Client::connect(server);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }
}

/// A client at the other end of a pipe.
pub(crate) struct Client {
    output: WriteHalf<DuplexStream>,
    input: BufReader<ReadHalf<DuplexStream>>,
    serving: JoinHandle<Result<(), StdioError>>,
    last: u64,
    /// The server's words for the model.
    instructions: String,
    /// What every request carries.
    meta: Option<Value>,
    /// What came while something else was waited for.
    early: VecDeque<Value>,
}

impl Client {
    /// The server's words for the model.
    pub(crate) fn instructions(&self) -> &str {
        &self.instructions
    }

    fn connect(server: &McpServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let server = server.clone();
        let serving = tokio::spawn(async move {
            serve_stdio(&server, input, output, CancellationToken::new()).await
        });
        let (input, output) = tokio::io::split(ours);
        Self {
            output,
            input: BufReader::new(input),
            serving,
            last: 0,
            instructions: String::new(),
            meta: None,
            early: VecDeque::new(),
        }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    pub(crate) async fn write(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.output.write_all(line.as_bytes()).await.unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) async fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.last;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    pub(crate) async fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Begins a call and asks for its progress.
    pub(crate) async fn begin_with_progress(&mut self, tool: &str, arguments: Value) -> u64 {
        let meta = self.meta.clone();
        let with_token = self.meta.get_or_insert_with(|| json!({}));
        with_token["progressToken"] = json!("token");
        let id = self.begin(tool, arguments).await;
        self.meta = meta;
        id
    }

    /// The next message, whatever it is.
    pub(crate) async fn next(&mut self) -> Value {
        if let Some(message) = self.early.pop_front() {
            return message;
        }
        self.read().await
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        let read = self.input.read_line(&mut line).await.unwrap();
        assert!(read > 0, "the server has gone");
        serde_json::from_str(&line).unwrap()
    }

    /// The next message that `wanted` holds for; others wait for their turn.
    pub(crate) async fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.early.iter().position(&wanted) {
            return self.early.remove(place).unwrap();
        }
        loop {
            let message = self.read().await;
            if wanted(&message) {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id && message.get("method").is_none())
            .await
    }

    /// The next request or notification of this kind.
    pub(crate) async fn told(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method).await
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool and returns its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments).await;
        self.answer(id).await["result"].clone()
    }

    /// Answers a request of the server's.
    pub(crate) async fn reply(&mut self, request: &Value, result: Value) {
        let id = request["id"].clone();
        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
    }

    /// The client goes; resolves when the server has ended everything.
    pub(crate) async fn leave(self) {
        drop((self.output, self.input));
        match self.serving.await.unwrap() {
            // Open calls cannot be answered any more.
            Ok(()) | Err(StdioError::Output(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// The text blocks of a result, a line between them.
pub(crate) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap().iter();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
