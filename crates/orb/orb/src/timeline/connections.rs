//! Connections of a timeline: a request's stages at its client and at its server are recorded by two processes, which
//! name its connection by numbers of their own. Their addresses tell which are the same.

/// Maximum number of connections that a timeline describes: clients may open any number, one after the other.
pub(super) const MOST: usize = 65_536;

/// Side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Requests are sent over it.
    Client,
    /// Requests are received over it.
    Server,
}

/// Connection over which recorded requests have passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedConnection {
    /// Side of the recording process: a bidirectional connection may have both.
    pub side: Side,
    /// Number of the lane, as in the records.
    pub lane: u32,
    /// Number of the connection, as in the records of this side.
    pub connection: u32,
    /// Address of this side, `LINK://PLACE`.
    pub local: String,
    /// Address of the other side.
    pub peer: String,
}
