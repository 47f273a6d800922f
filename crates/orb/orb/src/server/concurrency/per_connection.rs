//! A thread for each connection, which blocks in receiving ([`super::blocking`]).
//!
//! When an upcall is about to block in a call of its own, or takes long while more requests wait, another thread
//! receives ([`PerConnection::begin_follower`]), so that a peer which shares the connection among its threads,
//! one of them called back or waited for meanwhile, is answered.

use std::sync::atomic::{AtomicU32, Ordering};

/// Threads that serve one connection beside its first: one client shall not use up those of all.
const MAX_FOLLOWERS: u32 = 256;

/// What a connection has that its own threads serve.
#[derive(Debug, Default)]
pub(in crate::server) struct PerConnection {
    /// Threads that serve it beside its first.
    followers: AtomicU32,
}

impl PerConnection {
    /// Counts a thread more; `false` when there are too many.
    pub(in crate::server) fn begin_follower(&self) -> bool {
        // Relaxed: a bound, and no more; nothing is read by it.
        let may_begin = self.followers.fetch_add(1, Ordering::Relaxed) < MAX_FOLLOWERS;
        if !may_begin {
            self.end_follower();
        }
        may_begin
    }

    pub(in crate::server) fn end_follower(&self) {
        self.followers.fetch_sub(1, Ordering::Relaxed);
    }
}
