//! What comes on a connection, and for which caller it is.

mod receive;

pub(in crate::lane::outgoing) use receive::Step;
