//! Runtimes answer the person, and no tool.
//!
//! Start at [`only`]. A tool could otherwise answer its own question, permit its
//! own call, or type into what others have started. A runtime finds out by itself
//! who asks, and refuses; here the refusal says what would work.

use anyhow::bail;
use windlass_serve_http::Peer;

/// Refuses to run below a tool that a runtime has started.
pub(crate) fn only(command: &str) -> anyhow::Result<()> {
    if is_tool() {
        bail!(
            "`windlass {command}` speaks for the person, and this was started by a tool; \
             run it in a terminal of your own, or use the page of `windlass serve`"
        );
    }
    Ok(())
}

/// Refuses to look at other runtimes below a tool, for commands that only look.
pub(crate) fn looks() -> anyhow::Result<()> {
    if is_tool() {
        bail!(
            "runtimes answer the person only, and this was started by a tool; \
             run it in a terminal of your own"
        );
    }
    Ok(())
}

/// Refuses to speak to a runtime that this process cannot see: in a PID
/// namespace of its own, a tool does not see who started it.
pub(crate) async fn sees(peer: &Peer, command: &str) -> anyhow::Result<()> {
    if !peer.is_in_sight().await {
        bail!(
            "`windlass {command}` speaks for the person, and the runtime is outside this PID namespace; \
             run it where the runtime runs"
        );
    }
    Ok(())
}

/// This process was started by a tool, or cannot tell.
pub(crate) fn is_tool() -> bool {
    windlass_process::descends_from_tool()
}
