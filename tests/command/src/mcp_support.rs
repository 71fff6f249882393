//! `windlass mcp`, over pipes and over HTTP, for tests to talk to.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{Drive, Project, eventually};

/// A client of `windlass mcp` over pipes.
pub struct Mcp {
    lines: Drive,
    last: u64,
}

/// `windlass mcp --http`, ended when it is dropped.
pub struct McpHttp {
    child: Child,
    url: String,
    errors: PathBuf,
}

const TOKEN: &str = "a-token-for-tests-of-at-least-32-characters";

impl Project {
    /// Starts `windlass mcp` and begins a session.
    pub fn mcp(&self, args: &[&str]) -> Mcp {
        self.mcp_declaring(args, &json!({}))
    }

    /// Starts `windlass mcp` for a client with these capabilities.
    pub fn mcp_declaring(&self, args: &[&str], capabilities: &Value) -> Mcp {
        let lines = self.lines(&[&["mcp"], args].concat());
        let mut mcp = Mcp { lines, last: 0 };
        let begun = mcp.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(begun["result"]["serverInfo"]["name"], "windlass");
        mcp
    }

    /// Starts `windlass mcp --http` at a free port.
    pub fn mcp_http(&self) -> McpHttp {
        let errors = self.root().join("mcp-stderr");
        let child = self
            .windlass(&["mcp", "--http", "127.0.0.1:0"])
            .env("WINDLASS_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        let mut server = McpHttp {
            child,
            url: String::new(),
            errors,
        };
        eventually("it says where it listens", || {
            let said = server.stderr();
            let url = said.lines().find_map(|line| line.split_once("MCP at "));
            server.url = url.map(|(_, url)| url.to_owned()).unwrap_or_default();
            said.ends_with('\n') && !server.url.is_empty()
        });
        server
    }
}

impl Mcp {
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.lines
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.lines.next();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool and answers what the server asks meanwhile. Gives the result
    /// and the notifications that came before it.
    #[track_caller]
    pub fn call_answering(
        &mut self,
        tool: &str,
        meta: &Value,
        answer: impl Fn(&Value) -> Value,
    ) -> (Value, Vec<Value>) {
        self.last += 1;
        let id = self.last;
        let params = json!({"name": tool, "arguments": {}, "_meta": meta});
        self.lines
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        let mut told = Vec::new();
        loop {
            let message = self.lines.next();
            if message["method"].is_null() {
                // Another call may be answered meanwhile.
                if message["id"] == id {
                    return (message["result"].clone(), told);
                }
                continue;
            }
            if message["id"].is_null() {
                told.push(message);
                continue;
            }
            let asked = &message["id"];
            self.lines
                .send(&json!({"jsonrpc": "2.0", "id": asked, "result": answer(&message)}));
        }
    }

    pub fn notify(&mut self, method: &str) {
        self.lines
            .send(&json!({"jsonrpc": "2.0", "method": method}));
    }

    /// Calls a tool and ignores its result.
    pub fn notify_call(&mut self, tool: &str) {
        self.last += 1;
        let params = json!({"name": tool, "arguments": {}});
        self.lines.send(
            &json!({"jsonrpc": "2.0", "id": self.last, "method": "tools/call", "params": params}),
        );
    }

    /// Waits for a notification of this kind.
    #[track_caller]
    pub fn told(&mut self, method: &str) -> Value {
        loop {
            let message = self.lines.next();
            if message["method"] == method {
                return message;
            }
        }
    }

    pub fn stderr(&self) -> String {
        self.lines.stderr()
    }

    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.request("tools/call", params)["result"].clone()
    }
}

impl McpHttp {
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn token(&self) -> &'static str {
        TOKEN
    }

    pub fn stderr(&self) -> String {
        std::fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Posts a message with a token; returns the status.
    pub fn post(&self, token: &str, body: &Value) -> u16 {
        let authority = self.url.strip_prefix("http://").unwrap();
        let authority = authority.strip_suffix("/mcp").unwrap();
        let mut stream = TcpStream::connect(authority).unwrap();
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for McpHttp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
