//! Metrics of calls: their number, their failures by exception, and their times, for each
//! operation, at both ends.
//!
//! Names of operations come from peers, so the number of names counted separately is bounded
//! ([`Metrics::with_most_operations`]). Further names are counted together as the operation
//! `other`, and so is any name that the object does not know. Counting takes no lock once the
//! operation has been counted before. While a recording runs ([`punctual_orb::measurement`]), its
//! times and the violations of its plan are among the metrics.

mod interceptors;
mod measured;
mod operations;
mod render;

pub use interceptors::Metrics;
