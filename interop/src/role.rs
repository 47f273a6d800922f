//! The two ends of a call.

/// What an ORB is there for. A client, too, listens, for objects of its own that are called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It calls.
    Client,
    /// It is called.
    Server,
}
