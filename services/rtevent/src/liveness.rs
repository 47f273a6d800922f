//! Liveness of a peer: questions, and how many of them in a row have no answer.

use crate::peer::Alive;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Liveness of one peer.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    is_being_asked: AtomicBool,
    unanswered: AtomicU32,
}

impl Watched {
    /// Begins a question; returns `false` while the one before is not answered, which then counts once more.
    pub(crate) fn begin(&self) -> bool {
        let is_free = !self.is_being_asked.swap(true, Ordering::AcqRel);
        if !is_free {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
        is_free
    }

    /// Ends a question with its answer.
    pub(crate) fn end(&self, answer: Alive) {
        match answer {
            Alive::Yes => self.unanswered.store(0, Ordering::Relaxed),
            Alive::Unknown => {
                self.unanswered.fetch_add(1, Ordering::Relaxed);
            }
            Alive::No => self.unanswered.store(u32::MAX, Ordering::Relaxed),
        }
        self.is_being_asked.store(false, Ordering::Release);
    }

    /// Returns whether at least so many questions in a row had no answer, or the answer was no.
    pub(crate) fn is_dead(&self, most_unanswered: u32) -> bool {
        self.unanswered.load(Ordering::Relaxed) >= most_unanswered
    }
}
