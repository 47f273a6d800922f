//! Sending of messages.

mod gathering;
mod lock;
mod row;
mod send;
mod sender;

pub(in crate::lane::outgoing) use gathering::Gathering;
pub(in crate::lane::outgoing) use lock::LostRequests;
pub(in crate::lane::outgoing) use row::Row;
pub(in crate::lane::outgoing) use send::LOW_PRIORITY_LIMIT;
pub(in crate::lane::outgoing) use sender::Sender;
