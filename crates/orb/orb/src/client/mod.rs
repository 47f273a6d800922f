//! The calling side: from a reference to a reply.
//!
//! A call picks an endpoint of the reference ([`endpoint_select`]), shares the connection to it
//! ([`crate::lane`]), marshals, sends ([`mux`]), waits for its reply ([`wait`]), and follows forwards
//! or repeats where that is safe ([`invocation`]).

pub(crate) mod endpoint_select;
mod invocation;
pub(crate) mod mux;
mod reply;
mod reply_table;
mod wait;

pub use invocation::Operation;
pub(crate) use invocation::{Binding, Call, body, locate, out_of_place, unreachable};
pub(crate) use reply::{ReplyOutcome, unlisted};
pub(crate) use reply_table::Broken;
