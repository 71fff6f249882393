//! This process' control socket, by which other commands reach it.

use std::sync::Arc;

use crate::stdout::errln;
use windlass::Windlass;
use windlass_control::{Api, ControlSocket, run_dir};

/// Offers the sessions of this runtime to the user's other commands until it is
/// dropped. Errors are only reported, since the runtime works without it.
pub(crate) fn listen(windlass: &Arc<Windlass>, front_end: &str) -> Option<ControlSocket> {
    let api = Api::new(windlass.runtime(), front_end);
    let api = looking_again(windlass, recalling(windlass, api));
    let folder = run_dir(&windlass::state_dir());
    match ControlSocket::listen(&folder, &api, windlass_process::peer_is_tool) {
        Ok(socket) => Some(socket),
        Err(error) => {
            errln!("windlass: other commands cannot reach this process: {error}");
            None
        }
    }
}

/// Accepts the notification that the project may have been trusted.
pub(crate) fn looking_again(windlass: &Arc<Windlass>, api: Api) -> Api {
    let windlass = Arc::downgrade(windlass);
    api.looking_again(move || {
        if let Some(windlass) = windlass.upgrade() {
            windlass.look_again();
        }
    })
}

/// Adds the recorded sessions, if there is a record.
pub(crate) fn recalling(windlass: &Windlass, api: Api) -> Api {
    match windlass.record() {
        Ok(store) if windlass.config().record => api.recalling(Arc::new(store.clone())),
        _ => api,
    }
}
