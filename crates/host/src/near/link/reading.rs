//! Reads the frames of a link, and sends heartbeats meanwhile.

use std::sync::Weak;
use std::time::Duration;

use windlass_hold_wire::{FarFrame, FramedOutput, NearFrame};

use super::Link;
use crate::carrier::CarrierLink;

/// Handles frames until the link breaks.
pub(super) async fn read_link(link: Weak<Link>, connection: CarrierLink, number: u64) {
    let CarrierLink {
        carrier,
        mut reader,
        // The pipe stays open for orders in progress after the link was dropped, until the far side times out.
        sender: _,
        ..
    } = connection;
    let Some(heartbeat) = link.upgrade().map(|link| link.options.heartbeat) else {
        return;
    };
    let limit = heartbeat.saturating_mul(3);
    let beaten = Weak::clone(&link);
    let beating = windlass_task::spawn(async move {
        loop {
            tokio::time::sleep(heartbeat).await;
            let Some(link) = beaten.upgrade() else { return };
            link.send(&NearFrame::Beat);
        }
    });
    // Output is most of the traffic, so it is not copied.
    let take = |bytes: &[u8]| -> Option<()> {
        let link = link.upgrade();
        if let Some(piece) = FramedOutput::read(bytes) {
            link.inspect(|link| link.receive(piece));
        } else {
            let frame = FarFrame::read(bytes)?;
            link.inspect(|link| link.take(frame));
        }
        Some(())
    };
    let silence = loop {
        match tokio::time::timeout(limit, reader.next(take)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => break Duration::ZERO,
            Err(_) => break limit,
        }
    };
    beating.abort();
    drop(carrier);
    if let Some(link) = link.upgrade() {
        link.lose(number, silence);
    }
}
