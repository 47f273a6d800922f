//! Timers: the clock, and timing wheels.
//!
//! ```text
//! clock  CLOCK_MONOTONIC, or time as it is stated
//! slots  timers, and the lists in which they stand
//! wheel  hierarchical timing wheel
//! lane   the wheel of one level, and the loop of its thread
//! lanes  all levels
//! running  the timers of one subscription
//! ```

mod clock;
mod lane;
mod lanes;
mod running;
mod slots;
mod wheel;

pub(crate) use clock::{ChannelClock, Now};
pub(crate) use lane::Lane;
pub(crate) use lanes::Lanes;
pub(crate) use running::Running;
pub(crate) use wheel::Expired;
