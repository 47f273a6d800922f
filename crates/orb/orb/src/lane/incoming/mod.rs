//! Server side of a lane: its endpoints, and the connections that clients have opened there.

mod connections;
mod endpoints;
mod listening;
mod publish;
mod watch;

pub(crate) use connections::Accepted;
pub(crate) use endpoints::OpenEndpoint;
pub(crate) use listening::Incoming;
pub(super) use publish::{Named, none_to_publish};
