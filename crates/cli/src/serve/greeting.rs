//! The messages of `windlass serve` after its start.

use std::io::Write;
use std::path::Path;

use serde_json::json;
use windlass_serve_http::Token;

use crate::args::{Global, ServeArgs};
use crate::stdout;

pub(super) fn say_json(url: &str, token: &Token, socket: &Path) -> anyhow::Result<()> {
    let mut stdout = stdout::lock();
    let mcp = format!("{url}/mcp");
    let line = json!({ "url": url, "mcp": mcp, "token": token.as_str(), "socket": socket });
    writeln!(stdout, "{line}")?;
    Ok(stdout.flush()?)
}

/// Prints the address, the location of the token, and two shell commands that
/// start a session and run a call in it.
pub(super) fn say(
    args: &ServeArgs,
    url: &str,
    token: &Token,
    token_file: &Path,
) -> anyhow::Result<()> {
    let mut stdout = stdout::lock();
    let (file, secret) = (quoted(token_file)?, token.as_str());
    let trust = match &args.tls_cert {
        Some(certificate) => format!(" --cacert {}", quoted(certificate)?),
        None => String::new(),
    };
    writeln!(stdout, "Windlass listens at {url}/#token={secret}")?;
    writeln!(stdout, "The token is in {}", token_file.display())?;
    writeln!(stdout, "\nTry, in another terminal:")?;
    writeln!(
        stdout,
        "  token=$(cat {file}); session=$(curl -s{trust} -H \"Authorization: Bearer $token\" \
         {url}/api/v1/sessions -d '{{\"trusted\":true}}' | cut -d'\"' -f4)"
    )?;
    writeln!(
        stdout,
        "  curl -s{trust} -H \"Authorization: Bearer $token\" {url}/api/v1/sessions/$session/calls \
         -d '[{{\"tool\":\"shell\",\"arguments\":{{\"command\":\"echo hello\"}}}}]'"
    )?;
    writeln!(
        stdout,
        "\nFor an agent that speaks MCP, such as Claude Code:\n  claude mcp add --transport http windlass {url}/mcp \
         --header \"Authorization: Bearer $(cat {file})\""
    )?;
    writeln!(
        stdout,
        "\n`windlass ps` lists what is running. Ctrl-C ends the server and everything its \
         sessions started."
    )?;
    Ok(stdout.flush()?)
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> anyhow::Result<String> {
    let text = path.display().to_string();
    Ok(shlex::try_quote(&text)?.into_owned())
}

pub(super) fn say_socket(global: &Global, socket: &Path) -> anyhow::Result<()> {
    let mut stdout = stdout::lock();
    if global.json {
        writeln!(stdout, "{}", json!({ "socket": socket }))?;
    } else {
        writeln!(stdout, "Windlass listens at {}", socket.display())?;
    }
    Ok(stdout.flush()?)
}
