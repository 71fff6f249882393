//! Lasting requests of clients: a log level, and subscriptions to resources.
//!
//! A server is told of new ones, and of all of them after a restart. Servers of
//! 2026-07-28 get the log level with each call and subscriptions by a stream;
//! older ones get separate requests.

#![expect(
    deprecated,
    reason = "the newest version of the protocol has no such requests; all others have"
)]

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::model::{
    LoggingLevel, ServerNotification, ServerPeerInfo, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{Peer, ServiceError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::handler::ServerNews;

/// The lasting requests for one server.
#[derive(Default)]
pub(crate) struct StandingWishes {
    level: Mutex<Option<LoggingLevel>>,
    resources: Mutex<HashMap<String, Subscribed>>,
}

/// A resource that clients have subscribed to.
struct Subscribed {
    clients: usize,
    /// Cancelled when the last of them has gone.
    ended: CancellationToken,
}

impl StandingWishes {
    /// The most verbose level that a client has requested.
    pub(crate) fn level(&self) -> Option<LoggingLevel> {
        *self.level.lock()
    }

    /// Requests this level, unless a client has requested a more verbose one.
    /// Returns whether the server must be told.
    pub(crate) fn raise(&self, wanted: LoggingLevel) -> bool {
        let mut level = self.level.lock();
        let is_more = level.is_none_or(|known| rank(wanted) < rank(known));
        if is_more {
            *level = Some(wanted);
        }
        is_more
    }

    /// Sends all of them to a server that has just started.
    pub(crate) async fn tell_all(
        &self,
        peer: &Peer<RoleClient>,
        news: &broadcast::Sender<ServerNews>,
    ) {
        self.tell_level(peer).await;
        let resources: Vec<_> = {
            let resources = self.resources.lock();
            let known = resources.iter();
            known
                .map(|(uri, subscribed)| (uri.clone(), subscribed.ended.clone()))
                .collect()
        };
        for (uri, ended) in resources {
            // A server that has lost the resource says nothing of it.
            let _ = subscribe(peer, news, uri, ended).await;
        }
    }

    /// Tells a server of the years before the level.
    pub(crate) async fn tell_level(&self, peer: &Peer<RoleClient>) {
        let logs = |info: Arc<ServerPeerInfo>| {
            info.protocol_version.has_initialize() && info.capabilities.logging.is_some()
        };
        if let Some(level) = self.level()
            && peer.peer_info().is_some_and(logs)
        {
            // One that cannot log less logs as it does.
            let _ = peer.set_level(SetLevelRequestParams::new(level)).await;
        }
    }

    /// Adds a client's subscription to a resource.
    pub(crate) async fn subscribe(
        &self,
        peer: &Peer<RoleClient>,
        news: &broadcast::Sender<ServerNews>,
        uri: String,
    ) -> Result<(), ServiceError> {
        let ended = {
            let mut resources = self.resources.lock();
            let subscribed = resources.entry(uri.clone()).or_insert_with(|| Subscribed {
                clients: 0,
                ended: CancellationToken::new(),
            });
            subscribed.clients += 1;
            if subscribed.clients > 1 {
                return Ok(());
            }
            subscribed.ended.clone()
        };
        let outcome = subscribe(peer, news, uri.clone(), ended).await;
        if outcome.is_err() {
            self.release(&uri);
        }
        outcome
    }

    /// Removes a client's subscription to a resource. Returns whether it was
    /// the last.
    pub(crate) fn release(&self, uri: &str) -> bool {
        let mut resources = self.resources.lock();
        let Some(subscribed) = resources.get_mut(uri) else {
            return false;
        };
        subscribed.clients -= 1;
        let is_last = subscribed.clients == 0;
        if is_last {
            subscribed.ended.cancel();
            resources.remove(uri);
        }
        is_last
    }
}

async fn subscribe(
    peer: &Peer<RoleClient>,
    news: &broadcast::Sender<ServerNews>,
    uri: String,
    ended: CancellationToken,
) -> Result<(), ServiceError> {
    let is_old = |info: Arc<ServerPeerInfo>| info.protocol_version.has_initialize();
    if peer.peer_info().is_some_and(is_old) {
        return peer.subscribe(SubscribeRequestParams::new(uri)).await;
    }
    let wanted = SubscriptionFilter::builder().resource_subscription(&uri);
    let mut subscription = peer.listen(wanted.build()).await?;
    let news = news.clone();
    windlass_task::spawn(async move {
        let hearing = async {
            while let Ok(Some(notification)) = subscription.next().await {
                if let ServerNotification::ResourceUpdatedNotification(updated) = notification {
                    // There may be no listener.
                    let _ = news.send(ServerNews::Resource(updated.params.uri));
                }
            }
        };
        ended.run_until_cancelled(hearing).await;
    });
    Ok(())
}

/// Unsubscribes from a resource, for servers of older versions.
pub(crate) async fn unsubscribe(peer: &Peer<RoleClient>, uri: &str) -> Result<(), ServiceError> {
    let is_old = |info: Arc<ServerPeerInfo>| info.protocol_version.has_initialize();
    if peer.peer_info().is_some_and(is_old) {
        peer.unsubscribe(UnsubscribeRequestParams::new(uri)).await?;
    }
    Ok(())
}

/// Grows with how grave a line must be.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
