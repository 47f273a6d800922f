//! Proxies: what their four kinds have in common.

use std::sync::Arc;
use std::time::Instant;

use punctual_events::Connection;
use punctual_events::peer::{Existence, bounded, existence};
use punctual_events::watch::Watched;

use crate::common::Common;
use crate::kept::{self, EventInterface, ProxyKind as Kind};
use crate::peer::Peer;
use crate::refusal::Refusal;
use crate::storage::Change;

/// Operations of a proxy that its channel and the service call.
pub(crate) trait Proxy: Send + Sync {
    /// Ends the connection, if it has not ended, and removes the proxy. Calls the peer, once.
    fn end(&self);

    /// Answers the calls that wait at the proxy, as the service is being shut down.
    fn release_calls(&self) {}

    /// Returns the parts that all proxies have.
    fn core(&self) -> &dyn Core;
}

/// Proxy as it is watched.
pub(crate) struct WatchedProxy(pub(crate) Arc<dyn Proxy>);

impl Watched for WatchedProxy {
    fn is_abandoned(&self, now: Instant) -> bool {
        self.0.core().is_abandoned(now)
    }

    fn is_lost(&self) -> bool {
        self.0.core().is_lost()
    }

    fn end(&self) {
        self.0.end();
    }
}

/// Parts of a proxy, whatever its peer is.
pub(crate) trait Core: Send + Sync {
    /// Returns whether the proxy has been unconnected, or unused without a peer, for too long.
    fn is_abandoned(&self, now: Instant) -> bool;

    /// Asks the peer whether it exists. Returns whether the connection is to end. Blocks.
    fn is_lost(&self) -> bool;
}

/// Channel that proxies are removed from when they end.
pub(crate) trait Owner: Send + Sync {
    /// Returns the number of the channel.
    fn number(&self) -> u64;

    /// Removes the proxy from the channel, and its object.
    fn remove(&self, number: u64);
}

/// Number and connection of a proxy with a peer of interface `P`.
pub(crate) struct Base<P> {
    pub(crate) common: Arc<Common>,
    owner: Arc<dyn Owner>,
    number: u64,
    pub(crate) connection: Connection<P>,
}

impl<P: Peer> Base<P> {
    pub(crate) fn new(common: Arc<Common>, owner: Arc<dyn Owner>, number: u64) -> Self {
        Self {
            common,
            owner,
            number,
            connection: Connection::new(),
        }
    }

    /// Makes the connection durable, with the interface of a typed proxy, if the service has a store. Blocks.
    ///
    /// # Errors
    /// The connection cannot be written.
    pub(crate) fn keep(
        &self,
        kind: Kind,
        interface: Option<&EventInterface>,
    ) -> Result<(), Refusal> {
        let peer = match self.connection.peer() {
            Some(peer) => text_of(&peer)?,
            None => String::new(),
        };
        let connection = kept::Connection {
            channel: self.owner.number(),
            kind,
            peer,
        };
        let number = self.number;
        let record = (connection, interface.cloned());
        self.common.keep(Change::Connection(number, Some(record)))?;
        if !self.connection.is_connected() {
            // It was ended meanwhile.
            self.common.forget_connection(number);
        }
        Ok(())
    }

    /// Ends the connection and removes the proxy; returns whether this call did so.
    pub(crate) fn end(&self, tells_peer: bool) -> bool {
        let Some(peer) = self.connection.end() else {
            return false;
        };
        self.owner.remove(self.number);
        if let Some(peer) = peer.filter(|_| tells_peer) {
            self.common.say_disconnected(peer);
        }
        true
    }

    /// Returns the exception of operations by which a peer ends the connection, if another one has ended it before.
    pub(crate) fn ended_by_peer(&self, has_ended: bool) -> Result<(), Refusal> {
        match has_ended {
            true => Ok(()),
            false => Err(Refusal::Disconnected),
        }
    }

    /// Notes the outcome of a call to the peer; returns whether the connection is to end. While the service is being
    /// shut down, calls fail for that reason, and connections stay for the next start.
    pub(crate) fn called(&self, outcome: Existence) -> bool {
        if self.common.is_ending() {
            return false;
        }
        let has_failed = outcome != Existence::Exists;
        let too_many = self
            .connection
            .called(has_failed, self.common.limits.failures);
        too_many || outcome == Existence::Gone
    }
}

impl<P: Peer> Core for Base<P> {
    fn is_abandoned(&self, now: Instant) -> bool {
        self.connection
            .is_abandoned(now, &self.common.limits.patience())
    }

    fn is_lost(&self) -> bool {
        let Some(peer) = self.connection.peer() else {
            return false;
        };
        let peer = bounded(&peer, self.common.limits.call_timeout);
        self.called(existence(&peer))
    }
}

fn text_of(peer: &impl Peer) -> Result<String, Refusal> {
    let object = peer.as_object();
    let text = object.orb().object_to_string(object);
    text.map_err(|exception| Refusal::NoResources(exception.to_string()))
}
