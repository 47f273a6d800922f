#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Observation of calls, by interceptors of an ORB: traces that continue from a client to its
//! server (feature `trace-context`), and metrics (feature `metrics`).
//!
//! Both are initialisers ([`punctual_orb::OrbInitializer`]) that an application names when it
//! builds an ORB; without them, calls bear no cost. The state of a client's call between two
//! interception points is kept on a per-thread stack, as a call begins and ends on one thread, with
//! nested calls in between. The state of a served request is kept in a map by its request id, as
//! another thread may answer it.

pub mod exposition;
pub mod histogram;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(any(feature = "metrics", feature = "trace-context"))]
mod served;
#[cfg(feature = "trace-context")]
pub mod trace;
