//! Announcements to the server that are made once on each connection.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// State of the announcements of one connection. Relaxed: each flag is independent.
#[derive(Debug)]
pub(crate) struct Announcements {
    /// True if requests need no longer carry the CodeSets context (CORBA 3.3 part 2, §7.10.2.6).
    code_sets: AtomicBool,
    /// True if the connection has no priority band, or the band has been announced.
    band: AtomicBool,
    /// Endpoints at which the client listens, for callbacks; sent with the first request.
    pub(in crate::lane::outgoing) listen_points: OnceLock<Vec<u8>>,
}

impl Announcements {
    /// Makes the announcement state of a new connection. `carries_contexts` is true if its requests
    /// carry service contexts.
    pub(super) fn new(carries_contexts: bool) -> Self {
        Self {
            code_sets: AtomicBool::new(!carries_contexts),
            band: AtomicBool::new(false),
            listen_points: OnceLock::new(),
        }
    }

    /// Returns `true` if the next request must still carry the CodeSets context.
    pub(crate) fn must_tell_code_sets(&self) -> bool {
        !self.code_sets.load(Ordering::Relaxed)
    }

    /// Records that a request with the CodeSets context has been sent.
    pub(crate) fn record_code_sets_told(&self) {
        self.code_sets.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the connection's band was announced to the server.
    pub(crate) fn is_bound_to_band(&self) -> bool {
        self.band.load(Ordering::Relaxed)
    }

    /// Records that the server has been informed of the band, or does not support bands.
    pub(crate) fn record_band(&self) {
        self.band.store(true, Ordering::Relaxed);
    }

    /// Returns the encoded endpoints at which the client listens, for the first request, if it
    /// announces them.
    pub(crate) fn listen_points(&self) -> Option<&[u8]> {
        self.listen_points.get().map(|points| &**points)
    }
}
