//! Outputs with omitted lines, after the end of their handles.
//!
//! Omitted lines can be fetched until the session ends. For one-shots and for
//! stopped handles that the session drops, the location of the log is kept
//! here.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use windlass_protocol::HandleId;

use crate::catalogue::RegisteredTool;
use crate::handle::Handle;
use crate::one_shot::free_id;
use crate::refusal::Refusal;
use crate::session::SessionInner;
use crate::stored::StoredResult;

/// Stopped handles and one-shots, by the ids known to the assistant.
#[derive(Default)]
pub(crate) struct LeftOutLines(Mutex<HashMap<HandleId, Arc<Handle>>>);

impl LeftOutLines {
    /// The one with this id.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Handle>> {
        self.0.lock().get(id).cloned()
    }

    /// Lets go of all of them.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }

    fn insert(&self, id: HandleId, handle: Arc<Handle>) {
        self.0.lock().insert(id, handle);
    }
}

impl SessionInner {
    /// Keeps the lines of an ended one-shot. Returns the id for fetching them,
    /// `None` if there is no log.
    pub(crate) fn keep_one_shot(&self, handle: &Arc<Handle>) -> Option<HandleId> {
        let logged = handle.output()?.logged()?;
        let id = self.free_id(handle);
        let kept = handle.with_stored(StoredResult::of_log(logged));
        kept.find_by(id.clone());
        self.left_out.insert(id.clone(), kept);
        Some(id)
    }

    /// An unused id for the output.
    fn free_id(&self, handle: &Handle) -> HandleId {
        let id = free_id(&self.registry.lock(), handle);
        let taken = self.left_out.get(id.as_str()).is_some();
        // The assistant has chosen it for a handle that is gone; numbers are ours alone.
        let other = || HandleId::new(&format!("output-{}", handle.number)).ok();
        Some(id.clone())
            .filter(|_| !taken)
            .or_else(other)
            .unwrap_or(id)
    }

    /// Keeps the lines of a stopped handle that the session drops, if a reply
    /// has omitted some.
    pub(crate) fn keep_left_out(&self, handle: &Arc<Handle>) {
        if !handle.left_out.load(Ordering::Acquire) {
            return;
        }
        let logged = handle.output().and_then(|output| output.logged());
        if let (Some(id), Some(logged)) = (handle.id(), logged) {
            let kept = handle.with_stored(StoredResult::of_log(logged));
            self.left_out.insert(id.clone(), kept);
        }
    }

    /// The kept output with this id, which must belong to this tool.
    pub(crate) fn find_left_out(
        &self,
        tool: &RegisteredTool,
        id: &HandleId,
        refusal: Refusal,
    ) -> Result<Arc<Handle>, Refusal> {
        let handle = self.left_out.get(id.as_str());
        handle
            .filter(|handle| handle.tool.name == tool.name)
            .ok_or(refusal)
    }
}
