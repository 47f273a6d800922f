//! Handshakes that failed: nobody is handed a connection of which they could be told.

use punctual_link::Address;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many of the latest are remembered.
const REMEMBERED: usize = 16;
/// How many lines there are of them
const LINES: u32 = 20;
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
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    latest: Mutex<VecDeque<Refusal>>,
    count: AtomicU64,
    lines: Mutex<Lines>,
}

/// Lines that were written of late.
#[derive(Debug, Default)]
struct Lines {
    since: Option<Instant>,
    written: u32,
}

impl Refusals {
    pub(crate) fn note(&self, peer: Address, reason: String) {
        // Relaxed: a number for people, nothing hangs on it.
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if self.may_be_told(Instant::now()) {
            tracing::info!(%peer, "a TLS handshake failed: {reason}");
        }
        if latest.len() == REMEMBERED {
            latest.pop_front();
        }
        latest.push_back(Refusal { peer, reason });
    }

    /// Whether a line may be written of one: strangers cause as many as they like.
    fn may_be_told(&self, now: Instant) -> bool {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines
            .since
            .is_none_or(|since| now.saturating_duration_since(since) >= TERM)
        {
            *lines = Lines {
                since: Some(now),
                written: 0,
            };
        }
        lines.written += 1;
        if lines.written == LINES {
            tracing::info!("more TLS handshakes that fail are not told of for {TERM:?}");
        }
        lines.written < LINES
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

    #[test]
    fn strangers_fill_no_log() {
        let refusals = Refusals::default();
        let start = Instant::now();
        let told = |at: Instant| (0..1000).filter(|_| refusals.may_be_told(at)).count();
        assert_eq!(told(start), 19);
        assert_eq!(told(start + TERM / 2), 0);
        assert_eq!(told(start + TERM), 19);
    }
}
