//! Commands that speak for the person are not for tools.
//!
//! Start at [`only`]. A tool could otherwise answer its own question, or permit
//! its own call. It may type into a handle that asks the person nothing.

use anyhow::bail;
use windlass_protocol::HandleState;
use windlass_serve_http::Peer;

use crate::reach::Target;

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

/// Refuses to type, as [`only`] and [`sees`] do, where that would answer a
/// question of the handle.
pub(crate) async fn may_type(target: &Target, command: &str) -> anyhow::Result<()> {
    if target.handle.state == HandleState::Waiting {
        only(command)?;
        sees(&target.peer, command).await?;
    }
    Ok(())
}

/// This process was started by a tool, or cannot tell.
pub(crate) fn is_tool() -> bool {
    windlass_process::descends_from_tool()
}
