//! Clock of a channel.

use crate::options::Clock;
use punctual_sys::clock;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clock that a channel's timers obey, in nanoseconds. It never goes back.
#[derive(Debug)]
pub(crate) struct ChannelClock {
    kind: Clock,
    /// Latest time that was stated, of a manual clock.
    stated: AtomicU64,
}

impl ChannelClock {
    pub(crate) const fn new(kind: Clock) -> Self {
        Self {
            kind,
            stated: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_manual(&self) -> bool {
        self.kind == Clock::Manual
    }

    pub(crate) fn now(&self) -> u64 {
        match self.kind {
            Clock::Monotonic => clock::nanos(),
            Clock::Manual => self.stated.load(Ordering::Acquire),
        }
    }

    /// Takes a stated time, unless a later one was stated before; returns the time that holds.
    pub(crate) fn state(&self, now: u64) -> u64 {
        self.stated.fetch_max(now, Ordering::AcqRel).max(now)
    }
}

/// Time of one push, read from the clock when it is first needed.
#[derive(Debug)]
pub(crate) struct Now<'c> {
    clock: &'c ChannelClock,
    read: Cell<Option<u64>>,
}

impl<'c> Now<'c> {
    pub(crate) const fn new(clock: &'c ChannelClock) -> Self {
        Self {
            clock,
            read: Cell::new(None),
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.read.get().unwrap_or_else(|| {
            let now = self.clock.now();
            self.read.set(Some(now));
            now
        })
    }
}
