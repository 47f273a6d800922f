//! The concurrency strategies: whose threads serve a connection, and how they wait for its peer.
//!
//! [`strategy`] says what a strategy decides; [`per_connection`] and [`reactor`] are the strategies, and [`named`] is
//! either of them. How a thread of each receives is in [`blocking`] and [`ready`]. What is done with what comes is the same for all
//! ([`super::serve`]).

mod begin;
mod blocking;
mod named;
mod outbox;
mod per_connection;
mod reactor;
mod ready;
mod serving_thread;
mod strategy;

pub(super) use begin::begin_serving;
pub(super) use named::Strategy;
pub(super) use serving_thread::{ReceiveOutcome, ServingThread};
pub(super) use strategy::ConcurrencyStrategy;
#[cfg(feature = "fuzzing")]
pub(super) use strategy::Followed;
