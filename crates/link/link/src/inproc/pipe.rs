//! Direction of a connection: bytes, and their times of arrival.

use super::clock::Clock;
use crate::{Cause, LinkError, Pending, Phase};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bound of the bytes in a pipe, whether they have arrived or not.
const CAPACITY: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    octets: VecDeque<u8>,
    /// Runs of bytes in `octets`, in order: the length and the time of arrival of each; the times
    /// do not decrease.
    runs: VecDeque<Run>,
    /// Time when the writer's end is visible to the reader.
    end: Option<Duration>,
    reader_gone: bool,
    broken: bool,
    cut: bool,
}

#[derive(Debug)]
struct Run {
    due: Duration,
    length: usize,
}

impl State {
    /// Returns the number of bytes that have arrived at the reader by the time `now`.
    fn arrived(&self, now: Duration) -> usize {
        if self.cut {
            return 0;
        }
        let due = self.runs.iter().take_while(|run| run.due <= now);
        due.map(|run| run.length).sum()
    }

    fn has_ended(&self, now: Duration) -> bool {
        !self.cut && self.octets.is_empty() && self.end.is_some_and(|end| end <= now)
    }

    /// Returns the time when there will be new data, or the end, to read; `None` if it is unknown.
    fn next(&self) -> Option<Duration> {
        if self.cut {
            return None;
        }
        self.runs.front().map(|run| run.due).or(self.end)
    }

    fn push(&mut self, octets: &[u8], now: Duration, latency: Duration) {
        // Not before earlier data, in case the latency was longer then.
        let due = self
            .runs
            .back()
            .map_or(now + latency, |last| last.due.max(now + latency));
        self.octets.extend(octets);
        match self.runs.back_mut() {
            Some(last) if last.due == due => last.length += octets.len(),
            _ => self.runs.push_back(Run {
                due,
                length: octets.len(),
            }),
        }
    }

    fn take(&mut self, count: usize, block: &mut Block) {
        let (front, back) = self.octets.as_slices();
        let first = count.min(front.len());
        block.extend_from_slice(front.get(..first).unwrap_or_default());
        block.extend_from_slice(back.get(..count - first).unwrap_or_default());
        self.octets.drain(..count);
        let mut rest = count;
        while let Some(run) = self.runs.front_mut() {
            if run.length > rest {
                run.length -= rest;
                return;
            }
            rest -= run.length;
            self.runs.pop_front();
        }
    }
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until the pipe changes, at most for the time `at_most`; without a limit if that is
    /// `None`.
    fn wait<'s>(
        &self,
        state: MutexGuard<'s, State>,
        at_most: Option<Duration>,
    ) -> MutexGuard<'s, State> {
        match at_most {
            None => self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(left) => {
                let waited = self.changed.wait_timeout(state, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// Writes from the front of `octets` as much as there is room for, at least one byte, and
    /// returns the number.
    pub(super) fn write(
        &self,
        octets: &[u8],
        clock: &Clock,
        latency: Duration,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let mut state = self.lock();
        loop {
            if state.broken {
                return Err(reset(Phase::Send));
            }
            if state.end.is_some() || state.reader_gone {
                return Err(LinkError::closed(Phase::Send));
            }
            let room = CAPACITY.saturating_sub(state.octets.len());
            if room > 0 {
                let count = room.min(octets.len());
                let some = octets.get(..count).unwrap_or_default();
                state.push(some, clock.now(), latency);
                drop(state);
                self.changed.notify_all();
                return Ok(count);
            }
            let left = deadline.remaining();
            if left.is_some_and(|left| left.is_zero()) {
                return Err(LinkError::timed_out(Phase::Send));
            }
            state = self.wait(state, left);
        }
    }

    /// Reads data that has arrived, at least one byte, appends it to `block`, and returns the
    /// number of bytes.
    pub(super) fn read(
        &self,
        block: &mut Block,
        need: usize,
        clock: &Clock,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let mut state = self.lock();
        loop {
            if state.broken {
                return Err(reset(Phase::Receive));
            }
            if state.reader_gone {
                return Err(LinkError::closed(Phase::Receive));
            }
            let now = clock.now();
            let arrived = state.arrived(now);
            if arrived > 0 {
                let wanted = need.max(block.capacity()).saturating_sub(block.len());
                let count = arrived.min(wanted.max(1));
                state.take(count, block);
                drop(state);
                self.changed.notify_all();
                return Ok(count);
            }
            if state.has_ended(now) {
                return Err(LinkError::closed(Phase::Receive));
            }
            let left = deadline.remaining();
            if left.is_some_and(|left| left.is_zero()) {
                return Err(LinkError::timed_out(Phase::Receive));
            }
            let due = state.next().and_then(|due| clock.until(due));
            let at_most = [left, due].into_iter().flatten().min();
            state = self.wait(state, at_most);
        }
    }

    pub(super) fn pending(&self, clock: &Clock) -> Pending {
        let state = self.lock();
        let now = clock.now();
        if state.broken || state.reader_gone || state.has_ended(now) {
            Pending::End
        } else if state.arrived(now) > 0 {
            Pending::Data
        } else {
            Pending::Nothing
        }
    }

    /// Ends writing; the reader sees the end after the data written before.
    pub(super) fn end(&self, at: Duration) {
        self.change(|state| {
            state.end.get_or_insert(at);
        });
    }

    /// Ends reading from the pipe, and drops unread data.
    pub(super) fn stop_reading(&self) {
        self.change(|state| {
            state.reader_gone = true;
            state.octets.clear();
            state.runs.clear();
        });
    }

    pub(super) fn break_off(&self) {
        self.change(|state| state.broken = true);
    }

    pub(super) fn set_cut(&self, cut: bool) {
        self.change(|state| state.cut = cut);
    }

    /// Wakes the threads that wait on the pipe, as time has passed.
    pub(super) fn wake(&self) {
        self.change(|_| {});
    }
}

fn reset(phase: Phase) -> LinkError {
    let cause = Cause::Os(io::ErrorKind::ConnectionReset.into());
    LinkError { phase, cause }
}
