//! Rate limit of log lines that a peer could cause at will.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Rate limit of one kind of log line: admits a number of lines in each period, and counts the
/// others. A period begins with the first line after the end of the previous one.
///
/// Each query takes a lock, for some nanoseconds.
#[derive(Debug)]
pub struct Throttle {
    lines: u32,
    term: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    since: Option<Instant>,
    written: u32,
    left_out: u64,
}

impl Throttle {
    /// Makes a limit of `lines` lines in each period of length `term`.
    #[must_use]
    pub const fn new(lines: u32, term: Duration) -> Self {
        Self {
            lines,
            term,
            state: Mutex::new(State {
                since: None,
                written: 0,
                left_out: 0,
            }),
        }
    }

    /// Returns the number of lines suppressed since the last one that was admitted if a line may be
    /// written now, else `None`.
    pub fn lets_through(&self) -> Option<u64> {
        self.lets_through_at(Instant::now())
    }

    /// Does what [`Throttle::lets_through`] does, at a given moment, not before that of the last
    /// query.
    pub fn lets_through_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock();
        let is_over = |since| now.saturating_duration_since(since) >= self.term;
        if state.since.is_none_or(is_over) {
            state.since = Some(now);
            state.written = 0;
        }
        if state.written == self.lines {
            state.left_out += 1;
            return None;
        }
        state.written += 1;
        Some(std::mem::take(&mut state.left_out))
    }
}

/// Returns the suffix of an admitted line that tells how many were suppressed; empty if none were.
#[must_use]
pub fn others(left_out: u64) -> String {
    match left_out {
        0 => String::new(),
        many => format!("; {many} more since the last such line"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_and_a_count_of_the_others() {
        let throttle = Throttle::new(1, Duration::from_secs(1));
        let start = Instant::now();
        let at = |millis| throttle.lets_through_at(start + Duration::from_millis(millis));
        assert_eq!(at(0), Some(0));
        assert_eq!((at(1), at(999)), (None, None));
        assert_eq!(at(1000), Some(2));
        assert_eq!(at(2500), Some(0));
    }

    #[test]
    fn several_lines_a_term_and_what_was_left_out_is_told_once() {
        let throttle = Throttle::new(3, Duration::from_secs(10));
        let start = Instant::now();
        let at = |seconds| throttle.lets_through_at(start + Duration::from_secs(seconds));
        assert_eq!((at(0), at(1), at(2)), (Some(0), Some(0), Some(0)));
        assert_eq!((at(3), at(9)), (None, None));
        assert_eq!((at(10), at(10)), (Some(2), Some(0)));
        assert_eq!(others(2), "; 2 more since the last such line");
        assert_eq!(others(0), "");
    }
}
