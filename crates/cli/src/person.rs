//! Protects runtimes from tools.
//!
//! Start at [`only`]. Otherwise a tool could answer its own question, permit
//! its own call, or type into other programs. A runtime identifies its clients
//! itself and refuses tools; the messages here also suggest a remedy.

use anyhow::bail;
use windlass_control::Peer;

/// Refuses to run in a process that a tool has started.
pub(crate) fn only(command: &str) -> anyhow::Result<()> {
    if is_tool() {
        bail!(
            "`windlass {command}` acts for the user, and this process was started by a tool; run \
             it in a terminal of your own, or use the page of `windlass serve`"
        );
    }
    Ok(())
}

/// Refuses to inspect other runtimes from a tool, for read-only commands.
pub(crate) fn looks() -> anyhow::Result<()> {
    if is_tool() {
        bail!(
            "runtimes reply to the user only, and this process was started by a tool; run it in a \
             terminal of your own"
        );
    }
    Ok(())
}

/// Refuses to contact a runtime that this process cannot see: in its own PID
/// namespace, a tool does not see its ancestors.
pub(crate) async fn sees(peer: &Peer, command: &str) -> anyhow::Result<()> {
    if !peer.is_in_sight().await {
        bail!(
            "`windlass {command}` acts for the user, and the runtime is outside this PID \
             namespace; run it where the runtime runs"
        );
    }
    Ok(())
}

/// Whether a tool has started this process, or that is unknown.
pub(crate) fn is_tool() -> bool {
    windlass_process::descends_from_tool()
}
