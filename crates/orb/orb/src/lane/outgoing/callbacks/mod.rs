//! Requests that a server sends back over a client's connection (bidirectional GIOP; CORBA 3.3 part
//! 2, §9.8).

mod queue;
mod serve;

pub(in crate::lane::outgoing) use queue::Callbacks;
pub(crate) use queue::ServesRequests;
pub(crate) use serve::{ServesBack, can_serve_back};
