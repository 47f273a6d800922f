//! Tracking of the frames of a stream: in order, lost, late, duplicate; and the jitter of their
//! arrival.
//!
//! The rules are those of RTP (RFC 3550, §6.4.1 and appendix A.1), with numbers of 64 bits that do
//! not run out. No input makes this use more memory than it has from the start.

/// Number of the latest sequence numbers that are remembered one by one.
const WINDOW: u64 = 1024;
const WORD: u64 = u64::BITS as u64;
#[allow(clippy::cast_possible_truncation, reason = "16")]
const WORDS: usize = (WINDOW / WORD) as usize;

/// Distance ahead beyond which a frame counts as a stray until the next one confirms it (RTP's
/// MAX_DROPOUT).
const MAX_GAP: u64 = 65_536;

/// Classification of a received frame by its sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Frame with the next sequence number expected.
    InOrder,
    /// Frame that arrived while frames before it are still missing.
    Gap {
        /// Number of frames that are missing before the received one.
        lost: u64,
    },
    /// Frame that arrived after a frame with a higher sequence number.
    Late,
    /// Frame whose sequence number has been received before.
    Duplicate,
    /// Frame whose number is far from the stream's: an old one, one of another sender, or damaged.
    /// It is best dropped.
    Stray,
    /// Frame that directly follows a stray: the stream has restarted at its number.
    Restarted,
}

/// Counters of received and lost frames over the life of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of frames received, without duplicates and strays.
    pub received: u64,
    /// Frames missing; a frame that arrives late after all is no longer lost.
    pub lost: u64,
    /// Number of frames that arrived after one with a higher sequence number.
    pub late: u64,
    /// Number of frames received that had arrived before.
    pub duplicate: u64,
    /// Number of frames whose sequence number was far from the expected one.
    pub stray: u64,
}

/// Tracker of one stream of frames. Takes 200 bytes and allocates nothing.
#[derive(Clone, Debug)]
pub struct Sequence {
    statistics: Statistics,
    state: Option<State>,
    /// Number of the last stray plus one: a frame with this number confirms a restart.
    confirming: Option<u64>,
    jitter: Jitter,
}

#[derive(Clone, Debug)]
struct State {
    /// Number from which on missing frames count as lost.
    base: u64,
    highest: u64,
    /// Set of the numbers above `highest - WINDOW` that have arrived: number n at bit n modulo
    /// [`WINDOW`].
    seen: [u64; WORDS],
}

/// Jitter estimate of RFC 3550, §6.4.1, in sixteenths of a nanosecond.
#[derive(Clone, Copy, Debug, Default)]
struct Jitter {
    scaled: u64,
    transit: Option<u64>,
}

impl Sequence {
    /// Makes the tracker of a stream without frames so far.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            statistics: Statistics {
                received: 0,
                lost: 0,
                late: 0,
                duplicate: 0,
                stray: 0,
            },
            state: None,
            confirming: None,
            jitter: Jitter {
                scaled: 0,
                transit: None,
            },
        }
    }

    /// Records a frame with this number, sent at `sent_at` by the sender's clock and received at
    /// `now` by ours, both in nanoseconds. The clocks need not agree.
    pub fn accept(&mut self, sequence: u64, sent_at: u64, now: u64) -> Arrival {
        let arrival = self.place(sequence);
        match arrival {
            Arrival::Stray => {
                self.statistics.stray += 1;
                return arrival;
            }
            Arrival::Duplicate => {
                self.statistics.duplicate += 1;
                return arrival;
            }
            Arrival::Gap { lost } => {
                self.statistics.lost = self.statistics.lost.saturating_add(lost);
            }
            Arrival::Late => self.statistics.late += 1,
            Arrival::Restarted => self.jitter.transit = None,
            Arrival::InOrder => {}
        }
        self.statistics.received += 1;
        self.jitter.note(sent_at, now);
        arrival
    }

    fn place(&mut self, sequence: u64) -> Arrival {
        let Some(state) = &mut self.state else {
            self.state = Some(State::at(sequence));
            return Arrival::InOrder;
        };
        let arrival = match sequence.checked_sub(state.highest) {
            Some(0) => Arrival::Duplicate,
            Some(ahead) if ahead <= MAX_GAP => {
                state.advance(ahead);
                match ahead - 1 {
                    0 => Arrival::InOrder,
                    lost => Arrival::Gap { lost },
                }
            }
            None if state.highest - sequence < WINDOW => {
                if state.mark(sequence) {
                    Arrival::Duplicate
                } else {
                    if sequence > state.base {
                        self.statistics.lost -= 1;
                    }
                    Arrival::Late
                }
            }
            _ if self.confirming == Some(sequence) => {
                *state = State::at(sequence);
                Arrival::Restarted
            }
            _ => Arrival::Stray,
        };
        self.confirming = match arrival {
            Arrival::Stray => sequence.checked_add(1),
            _ => None,
        };
        arrival
    }

    /// Returns the stream's counters of received and lost frames so far.
    #[must_use]
    pub const fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Returns the highest number that has arrived, strays excluded.
    #[must_use]
    pub fn highest(&self) -> Option<u64> {
        self.state.as_ref().map(|state| state.highest)
    }

    /// Returns the variation of the transit time, in nanoseconds: the mean deviation that RFC 3550,
    /// §6.4.1 defines.
    #[must_use]
    pub const fn jitter(&self) -> u64 {
        self.jitter.scaled >> 4
    }
}

impl Default for Sequence {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    fn at(sequence: u64) -> Self {
        let mut state = Self {
            base: sequence,
            highest: sequence,
            seen: [0; WORDS],
        };
        state.mark(sequence);
        state
    }

    /// Makes the number `ahead` of the highest one the new highest, and marks it.
    fn advance(&mut self, ahead: u64) {
        if ahead >= WINDOW {
            self.seen = [0; WORDS];
        } else {
            for skipped in 1..ahead {
                let (word, bit) = place_of(self.highest + skipped);
                if let Some(word) = self.seen.get_mut(word) {
                    *word &= !bit;
                }
            }
        }
        self.highest += ahead;
        self.mark(self.highest);
    }

    /// Marks a number within the window; returns whether it was marked before.
    fn mark(&mut self, sequence: u64) -> bool {
        let (word, bit) = place_of(sequence);
        let Some(word) = self.seen.get_mut(word) else {
            return false;
        };
        let was = *word & bit != 0;
        *word |= bit;
        was
    }
}

/// Returns the word and the bit in it that stand for a number.
#[allow(clippy::cast_possible_truncation, reason = "below the window's size")]
const fn place_of(sequence: u64) -> (usize, u64) {
    let at = sequence % WINDOW;
    ((at / WORD) as usize, 1 << (at % WORD))
}

impl Jitter {
    fn note(&mut self, sent_at: u64, now: u64) {
        // Only differences count, so that the offset between the clocks cancels out, and so does
        // wrapping.
        let transit = now.wrapping_sub(sent_at);
        if let Some(before) = self.transit.replace(transit) {
            let change = transit.wrapping_sub(before).cast_signed().unsigned_abs();
            // A peer's time stamps may hold anything: sixteen times this still fits.
            let change = change.min(u64::MAX >> 5);
            self.scaled = self.scaled - ((self.scaled + 8) >> 4) + change;
        }
    }
}
