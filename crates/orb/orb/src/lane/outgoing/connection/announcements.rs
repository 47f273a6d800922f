//! Announcements to the server of a connection.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Announcements that are made once for a connection. Relaxed: flags by themselves.
#[derive(Debug)]
pub(crate) struct Announcements {
    /// True if requests need not carry the CodeSets context any more (CORBA 3.3 part 2, §7.10.2.6).
    code_sets: AtomicBool,
    /// True if the band of the connection was announced, if it has one.
    band: AtomicBool,
    /// Endpoints at which the client listens, for the server's calls back; sent with the first request.
    pub(in crate::lane::outgoing) listen_points: OnceLock<Vec<u8>>,
}

impl Announcements {
    /// Returns those of a new connection, whose requests carry service contexts or do not.
    pub(super) fn new(carries_contexts: bool) -> Self {
        Self {
            code_sets: AtomicBool::new(!carries_contexts),
            band: AtomicBool::new(false),
            listen_points: OnceLock::new(),
        }
    }

    /// Returns whether requests are still to carry the CodeSets context.
    pub(crate) fn must_tell_code_sets(&self) -> bool {
        !self.code_sets.load(Ordering::Relaxed)
    }

    /// Records that a request with the CodeSets context has been sent.
    pub(crate) fn record_code_sets_told(&self) {
        self.code_sets.store(true, Ordering::Relaxed);
    }

    /// Returns whether the server has been told of the connection's band.
    pub(crate) fn is_bound_to_band(&self) -> bool {
        self.band.load(Ordering::Relaxed)
    }

    /// Records that the server has been told of the band, or does not know bands.
    pub(crate) fn record_band(&self) {
        self.band.store(true, Ordering::Relaxed);
    }

    /// Returns what the first request tells the server of where the client listens, if it does.
    pub(crate) fn listen_points(&self) -> Option<&[u8]> {
        self.listen_points.get().map(|points| &**points)
    }
}
