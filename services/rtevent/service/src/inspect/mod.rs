//! What passes through a channel, and what it has counted.

mod counts;
mod traffic;

pub(crate) use counts::counts;
pub use traffic::{Traffic, TrafficCounts, TrafficRow};
