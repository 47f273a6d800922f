//! Handshakes that failed: nobody is handed a connection of which they could be told.

use punctual_link::Address;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many of the latest are remembered.
const REMEMBERED: usize = 16;

/// A handshake that failed at an acceptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who tried.
    pub peer: Address,
    /// Why it failed.
    pub reason: String,
}

/// The latest refusals, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    latest: Mutex<VecDeque<Refusal>>,
    count: AtomicU64,
}

impl Refusals {
    pub(crate) fn note(&self, peer: Address, reason: String) {
        tracing::info!(%peer, "a TLS handshake failed: {reason}");
        // Relaxed: a number for people, nothing hangs on it.
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.len() == REMEMBERED {
            latest.pop_front();
        }
        latest.push_back(Refusal { peer, reason });
    }

    pub(crate) fn latest(&self) -> Vec<Refusal> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.iter().cloned().collect()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}
