//! The two ends of a call.

/// Role of an ORB in a run. A client also listens, as its own objects are called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Client: the ORB that makes the calls.
    Client,
    /// Server: the ORB that is called.
    Server,
}
