//! Failed handshakes, recorded here since `accept` returns no connection for them.

use punctual_exec::{Throttle, throttle};
use punctual_link::Address;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Number of the most recent failed handshakes that are remembered.
const REMEMBERED: usize = 16;
/// Upper bound of log lines about failed handshakes in one period.
const LINES: u32 = 19;
/// Period for the limit of log lines about failed handshakes.
const TERM: Duration = Duration::from_secs(10);

/// TLS handshake that failed at an acceptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Address of the client.
    pub peer: Address,
    /// Reason why the handshake failed.
    pub reason: String,
}

/// Most recent failed handshakes, and the total number of them.
#[derive(Debug)]
pub(crate) struct Refusals {
    latest: Mutex<VecDeque<Refusal>>,
    count: AtomicU64,
    /// Rate limit of log lines, which unknown clients could otherwise cause at will.
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
        // Relaxed: a number for people, on which nothing depends.
        self.count.fetch_add(1, Ordering::Relaxed);
        // Before the lock: a log subscriber may query the latest refusals.
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
