//! Urgency of requests: the order in which those that wait for a thread are served.
//!
//! A server computes an [`Urgency`] for each request that is buffered, and for no other, on the thread that reads it. An
//! adapter's policies give it first (a priority, with Real-time CORBA); the ORB's [`UrgencyStrategy`] then decides. Among
//! requests of equal urgency, clients decide by their QueueOrder policy, and then arrival does.

mod key;
mod strategy;

pub use key::Urgency;
pub(crate) use strategy::Registered;
pub use strategy::{ByPolicies, UrgencyStrategy, WaitingRequest};
