//! Metrics of calls: how many, how many have failed and by what, and how long they took, for each operation, at both ends.
//!
//! Names of operations come from peers, so that their number is bounded ([`Metrics::with_most_operations`]): others count
//! as one operation, `other`, and a name that the object does not know counts there from the beginning. On a call's way
//! nothing is locked once its operation is known.

mod histogram;
mod interceptors;
mod operations;
mod render;

pub use interceptors::Metrics;
