//! Urgency of requests: the order in which requests that wait for a thread are served.
//!
//! A server computes an [`Urgency`] only for requests that are buffered, on the thread that reads them. The policies of
//! the object's adapter determine it first (a priority, with Real-time CORBA); the ORB's [`UrgencyStrategy`] then makes
//! the final decision. Requests of equal urgency are ordered by their clients' QueueOrder policy, and then by arrival.

mod key;
mod strategy;

pub use key::Urgency;
pub(crate) use strategy::Registered;
pub use strategy::{ByPolicies, UrgencyStrategy, WaitingRequest};
