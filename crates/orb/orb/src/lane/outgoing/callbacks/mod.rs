//! Requests that a server sends back by a client's connection (bidirectional GIOP; CORBA 3.3 part 2, §9.8).

mod requests;
mod serves;

pub(crate) use requests::{ServesBack, can_serve_back};
pub(crate) use serves::ServesRequests;
