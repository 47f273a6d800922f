//! Handshakes that failed: nobody is handed a connection of which they could be told.

use punctual_exec::{Throttle, throttle};
use punctual_link::Address;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many of the latest are remembered.
const REMEMBERED: usize = 16;
/// How many lines there are of them
const LINES: u32 = 19;
/// in so long.
const TERM: Duration = Duration::from_secs(10);

/// A handshake that failed at an acceptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who tried.
    pub peer: Address,
    /// Why it failed.
    pub reason: String,
}

/// The latest refusals, and how many there were.
#[derive(Debug)]
pub(crate) struct Refusals {
    latest: Mutex<VecDeque<Refusal>>,
    count: AtomicU64,
    /// Strangers cause as many lines as they like.
    lines: Throttle,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            latest: Mutex::default(),
            count: AtomicU64::new(0),
            lines: Throttle::new(LINES, TERM),
        }
    }
}

impl Refusals {
    pub(crate) fn note(&self, peer: Address, reason: String) {
        // Relaxed: a number for people, nothing hangs on it.
        self.count.fetch_add(1, Ordering::Relaxed);
        // Before the lock: a subscriber may ask for the latest.
        if let Some(left_out) = self.lines.lets_through() {
            let others = throttle::others(left_out);
            tracing::info!(%peer, "a TLS handshake failed: {reason}{others}");
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn strangers_fill_no_log() {
        let refusals = Refusals::default();
        let start = Instant::now();
        let lets_through = |at| refusals.lines.lets_through_at(at).is_some();
        let told = |at: Instant| (0..1000).filter(|_| lets_through(at)).count();
        assert_eq!(told(start), 19);
        assert_eq!(told(start + TERM / 2), 0);
        assert_eq!(told(start + TERM), 19);
    }
}
