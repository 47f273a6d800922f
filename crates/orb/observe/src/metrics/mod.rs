//! Metrics of calls: their number, their failures by exception, and their times, for each
//! operation, at both ends.
//!
//! Names of operations come from peers, so that their number is bounded
//! ([`Metrics::with_most_operations`]): others count as one operation, `other`, and a name that the
//! object does not know counts there from the beginning. Calls take no lock once their operation is
//! known.

mod interceptors;
mod operations;
mod render;

pub use interceptors::Metrics;
