//! Messages onto a connection.

mod gathering;
mod send;
mod sender;

pub(in crate::lane::outgoing) use gathering::Gathering;
pub(in crate::lane::outgoing) use send::AT_LEISURE;
pub(in crate::lane::outgoing) use sender::Sender;
