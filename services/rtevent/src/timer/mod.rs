//! Timers: the clock, and a timing wheel.

mod clock;

pub(crate) use clock::ChannelClock;
