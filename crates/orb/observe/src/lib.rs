#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! What is seen of calls, as interceptors of an ORB: traces that go on from a client to its server (feature
//! `trace-context`), and metrics (feature `metrics`).
//!
//! Both are initialisers ([`punctual_orb::OrbInitializer`]) that an application names when it builds an ORB; one that it
//! does not name costs nothing. What they keep of a call between two of its points stands on a stack of the thread, as a
//! call begins and ends on one thread, and those within it between; what they keep of a request that is served stands under
//! its id, as another thread may answer it.

#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(any(feature = "metrics", feature = "trace-context"))]
mod served;
#[cfg(feature = "trace-context")]
pub mod trace;
