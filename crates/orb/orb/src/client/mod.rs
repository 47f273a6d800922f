//! The calling side: from a reference to a reply.
//!
//! A call picks an endpoint of the reference ([`endpoint_select`]), shares the connection to it
//! ([`crate::lane`]), marshals, sends ([`mux`]), waits for its reply ([`wait`]), and follows forwards
//! or repeats where that is safe ([`invocation`]).

mod buffer;
mod callers;
mod delivered;
pub(crate) mod endpoint_select;
mod failure;
mod heads;
mod invocation;
pub(crate) mod mux;
mod on_reactor;
mod operation;
mod quick;
mod relay;
mod reply;
mod reply_table;
#[cfg(test)]
mod reply_table_tests;
mod request;
mod route;
mod slot;
mod wait;

pub use buffer::Buffering;
pub(crate) use delivered::Broken;
pub(crate) use failure::out_of_place;
pub(crate) use invocation::{Call, locate};
pub(crate) use on_reactor::OnReactor;
pub(crate) use operation::Names;
pub use operation::{NamedOperation, Operation};
pub(crate) use reply::{Body, Reply, ReplyOutcome, system_exception, unlisted};
pub(crate) use request::body;
pub(crate) use route::{Path, connection};
