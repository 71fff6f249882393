//! A scripted model to point an agent at.
//!
//! `cargo run -p windlass-outside --example scripted-model -- SCRIPT.json [PORT]`
//! prints its URL and serves until it is ended; every request to the model is
//! printed as a line of JSON after it. `-` reads the script from stdin.

use std::io::Read as _;
use std::net::SocketAddr;

use serde_json::json;
use windlass_outside::model::{ModelServer, Script};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("give the file of a script")?;
    let port: u16 = args.next().map_or(Ok(0), |port| port.parse())?;
    let text = if file == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        std::fs::read_to_string(&file)?
    };
    let script = Script::read(&text)?;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let server = ModelServer::start_at(script, address).await?;
    // Nothing will be released.
    server.release_all();
    println!("{}", server.url());
    let mut told = 0;
    loop {
        let seen = server.wait_for(told + 1).await;
        for request in &seen[told..] {
            println!("{}", json!({"path": request.path, "body": request.body}));
        }
        told = seen.len();
    }
}
