//! `http` against a server that says what the test wants.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use crate::support::start;

/// Answers one connection after the other with these; gives what was asked.
fn serve(answers: Vec<&'static str>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/path", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut request = String::new();
            while reader.read_line(&mut request).unwrap() > 2 {}
            requests.push(request.lines().next().unwrap_or_default().to_owned());
            stream.write_all(answer.as_bytes()).unwrap();
        }
        requests
    });
    (url, server)
}

fn call(arguments: &Value) -> Value {
    start(Path::new("/"), "http", arguments).finish().1
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";
const GONE: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnone";

#[test]
fn an_answer_is_given_with_its_status() {
    let (url, server) = serve(vec![OK]);
    let result = call(&json!({"url": url}));
    let answer: Value = serde_json::from_str(result["Ok"].as_str().unwrap()).unwrap();
    assert_eq!(
        answer,
        json!({"status": 200, "content_type": "text/plain", "body": "hello"})
    );
    assert_eq!(server.join().unwrap(), ["GET /path HTTP/1.1"]);
}

#[test]
fn a_busy_server_is_tried_again() {
    let (url, server) = serve(vec![BUSY, BUSY, OK]);
    let result = call(&json!({"url": url}));
    assert!(result["Ok"].is_string(), "{result}");
    assert_eq!(server.join().unwrap().len(), 3);
}

#[test]
fn what_stays_busy_is_a_transient_error() {
    let (url, server) = serve(vec![BUSY, BUSY]);
    let result = call(&json!({"url": url, "retries": 1}));
    assert_eq!(result["Err"]["transient"], json!(true), "{result}");
    assert_eq!(
        result["Err"]["message"],
        json!(format!(
            "GET {url} was answered with 503 Service Unavailable\nbusy"
        ))
    );
    assert_eq!(server.join().unwrap().len(), 2);
}

#[test]
fn a_post_is_not_sent_twice() {
    let (url, server) = serve(vec![BUSY]);
    let result = call(&json!({"url": url, "method": "post", "body": ""}));
    assert_eq!(result["Err"]["transient"], json!(true), "{result}");
    assert_eq!(server.join().unwrap(), ["POST /path HTTP/1.1"]);
}

#[test]
fn what_is_not_there_is_no_transient_error() {
    let (url, server) = serve(vec![GONE]);
    let result = call(&json!({"url": url}));
    assert_eq!(result["Err"]["transient"], json!(false), "{result}");
    assert_eq!(server.join().unwrap().len(), 1);
}

#[test]
fn nobody_listening_is_a_transient_error_with_its_causes() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    let result = call(&json!({"url": url, "retries": 0}));
    assert_eq!(result["Err"]["message"], json!(format!("GET {url} failed")));
    assert_eq!(result["Err"]["transient"], json!(true), "{result}");
    assert_ne!(result["Err"]["trace"], json!([]), "{result}");
}

#[test]
fn a_server_that_says_nothing_runs_out_of_time() {
    // It accepts, since the kernel does, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let result = call(&json!({"url": url, "timeout_secs": 1, "retries": 0}));
    assert_eq!(result["Err"]["transient"], json!(true), "{result}");
}

#[test]
fn a_wrong_argument_is_named() {
    let result = call(&json!({"url": "http://localhost/", "timeout_secs": "long"}));
    assert_eq!(
        result["Err"]["message"],
        json!("argument `timeout_secs`: expected an integer from 0 to 65535, got \"long\"")
    );
}
