//! The client side: from a reference to a reply.
//!
//! A call is an [`invocation`] that goes through stages, a file each: [`resolve`] finds endpoints
//! in a reference, and [`route`] which of them is tried now; it is bound to a connection of the
//! lane; [`write`](mod@write), [`send`](mod@send), [`complete`]; [`conclude`] decides whether the
//! call is done. A call that repeats an earlier one takes the fast path ([`short`]) through the
//! same stages: [`recent`] holds the paths that a thread remembers, [`remote`] those that
//! references remember. Where an ORB has interceptors, they are called between the stages
//! ([`intercepted`]).

mod attempt;
mod band;
mod call;
mod complete;
mod conclude;
mod connect;
mod contexts;
mod deferred;
mod destination;
mod failure;
mod group;
mod group_call;
mod group_path;
mod heads;
mod heartbeat;
mod intercepted;
mod interception;
mod invocation;
#[cfg(test)]
mod invocation_tests;
mod outcome;
mod path;
mod preference;
mod recent;
mod remote;
mod resolve;
mod route;
mod segment;
mod send;
mod short;
mod start_times;
mod target;
mod write;

pub(crate) use call::{invoke, locate, one_way, relay};
pub(crate) use connect::{connection, inconsistent};
pub(crate) use deferred::{CalledOperation, Deferred, Described, Owner};
pub(crate) use failure::{out_of_place, too_many_forwards};
pub(crate) use outcome::{Body, Results, unlisted};
pub(crate) use remote::{Callee, RemoteObject};
pub(crate) use resolve::announced;
pub(crate) use target::{Identity, Target};
