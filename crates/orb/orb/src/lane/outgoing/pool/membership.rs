//! Membership of a connection in the list of connections to its endpoint.

use super::to_endpoint::ToEndpoint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Membership of a connection of type `C` in the list of connections to its endpoint.
#[derive(Debug)]
pub(in crate::lane) struct Membership<C> {
    /// List of all connections to the same endpoint.
    pub(in crate::lane) to: Weak<ToEndpoint<C>>,
    /// Number of the endpoint, if callers may use several connections to it.
    pub(in crate::lane) spreads: Option<u64>,
    /// True if a thread sends its one-ways over this connection, and therefore keeps using it.
    /// Relaxed: an independent flag.
    is_kept_to: AtomicBool,
}

impl<C> Membership<C> {
    pub(in crate::lane::outgoing) fn of(to: &Arc<ToEndpoint<C>>) -> Self {
        Self {
            to: Arc::downgrade(to),
            spreads: to.spreads().then_some(to.number),
            is_kept_to: AtomicBool::new(false),
        }
    }

    /// Records that a thread keeps using the connection for its one-ways.
    pub(super) fn keep_to(&self) {
        self.is_kept_to.store(true, Ordering::Relaxed);
    }

    /// Returns whether a thread keeps using the connection for its one-ways.
    pub(super) fn is_kept_to(&self) -> bool {
        self.is_kept_to.load(Ordering::Relaxed)
    }
}
