//! Concurrency strategies: which threads serve a connection, and how they wait for its peer.
//!
//! [`strategy`] defines the interface; [`per_connection`] and [`reactor`] are the strategies, and
//! [`named`] is an enum of both. Their receiving sides are in [`blocking`] and [`ready`]. The code
//! that serves received messages is common to all ([`super::serve`]).

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
