//! Liveness of a peer: questions, and how many times in a row it has not answered.

use crate::peer::Alive;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Liveness of one peer.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    question: AtomicU8,
    unanswered: AtomicU32,
}

/// There is no question.
const NONE: u8 = 0;
/// A question waits for a free thread; the peer has not been asked yet.
const WAITING: u8 = 1;
/// The peer has been asked since the last round.
const ASKED: u8 = 2;
/// The peer was asked before the last round.
const LATE: u8 = 3;

impl Watched {
    /// Begins a round; returns whether the peer is to be asked. A peer is not asked while an earlier question waits for
    /// a thread or an answer; a question that stays unanswered for a whole round is counted again.
    pub(crate) fn begin_round(&self) -> bool {
        let next = |now| match now {
            NONE => Some(WAITING),
            ASKED => Some(LATE),
            _ => None,
        };
        let order = Ordering::AcqRel;
        match self.question.fetch_update(order, Ordering::Acquire, next) {
            Ok(before) => before == NONE,
            Err(LATE) => {
                self.unanswered.fetch_add(1, Ordering::Relaxed);
                false
            }
            Err(_) => false,
        }
    }

    /// Begins the question that waits.
    pub(crate) fn ask(&self) {
        self.question.store(ASKED, Ordering::Release);
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
        self.question.store(NONE, Ordering::Release);
    }

    /// Returns whether at least so many questions in a row had no answer, or the answer was no.
    pub(crate) fn is_dead(&self, most_unanswered: u32) -> bool {
        self.unanswered.load(Ordering::Relaxed) >= most_unanswered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_counts_from_the_first_whole_round_after_it_has_begun() {
        let watched = Watched::default();
        assert!(watched.begin_round());
        (0..100).for_each(|_| assert!(!watched.begin_round()));
        assert!(!watched.is_dead(1));
        watched.ask();
        assert!(!watched.begin_round());
        assert!(!watched.is_dead(1));
        assert!(!watched.begin_round());
        assert!(watched.is_dead(1));
        watched.end(Alive::Yes);
        assert!(!watched.is_dead(1));
        assert!(watched.begin_round());
    }
}
