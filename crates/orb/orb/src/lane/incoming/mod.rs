//! What a lane listens at, and the connections that clients have opened there.

mod connections;
mod endpoints;
mod listening;
mod publish;
mod watch;

pub(crate) use connections::Accepted;
pub(crate) use endpoints::{OpenEndpoint, Which};
pub(crate) use listening::Incoming;
