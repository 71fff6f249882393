//! Runs the calls of a batch: those on one handle in call order, all others at
//! the same time.

use std::collections::HashMap;

use futures_util::future::join_all;
use windlass_protocol::{CallReply, HandleId};

use super::{BatchRun, PlannedCall, PlannedWork};

impl BatchRun<'_> {
    /// Runs the calls and answers them in call order.
    pub(super) async fn in_lanes(
        &self,
        planned: impl IntoIterator<Item = PlannedCall>,
    ) -> Vec<CallReply> {
        let lanes = lanes(planned).into_iter().map(|lane| async move {
            let mut replies = Vec::with_capacity(lane.len());
            for (place, call) in lane {
                replies.push((place, self.one(call).await));
            }
            replies
        });
        let mut replies: Vec<_> = join_all(lanes).await.into_iter().flatten().collect();
        replies.sort_by_key(|(place, _)| *place);
        replies.into_iter().map(|(_, reply)| reply).collect()
    }
}

/// Groups calls on one handle into a lane; every other call has its own. Calls
/// keep their index in the batch. Lanes are ordered by their first call, so
/// that an `await` sees the calls before it.
fn lanes(planned: impl IntoIterator<Item = PlannedCall>) -> Vec<Vec<(usize, PlannedCall)>> {
    let mut lanes: Vec<Vec<(usize, PlannedCall)>> = Vec::new();
    let mut by_handle: HashMap<HandleId, usize> = HashMap::new();
    for (place, call) in planned.into_iter().enumerate() {
        let lane = match &call.work {
            Ok(PlannedWork::Handle(on)) => *by_handle
                .entry(on.command.id().clone())
                .or_insert(lanes.len()),
            _ => lanes.len(),
        };
        match lanes.get_mut(lane) {
            Some(lane) => lane.push((place, call)),
            None => lanes.push(vec![(place, call)]),
        }
    }
    lanes
}
