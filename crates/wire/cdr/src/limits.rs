//! Limits on what a peer may make this process hold.

/// Limits on what is read from a peer. Those on strings and sequences apply to what is sent, too.
///
/// Each is checked before memory is allocated for what it limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest message, in bytes, header included, fragments put together. Default 64 MiB; from 1
    /// KiB up to 4 GiB. A longer one is refused: the receiver answers MessageError and closes the
    /// connection. So is a message in more than 1,024 fragments, if these are also more than one
    /// for each 512 bytes of this limit.
    pub message: usize,
    /// Longest string or wide string, in bytes as encoded (in GIOP 1.1 a wide string's 2-byte
    /// characters), without a terminating NUL. Default 16 MiB, at least 64 in an ORB's
    /// configuration. A longer one raises MARSHAL.
    pub string: usize,
    /// Largest number of elements of one sequence. Default 67,108,864 (64 Mi), at least 64 in an
    /// ORB's configuration. A longer sequence raises MARSHAL. A sequence that announces more
    /// elements than its message has bytes for is refused whatever this limit says.
    pub sequence: usize,
    /// Deepest nesting of values of recursive types, in levels. Default 64; up to 1,000 is safe on
    /// a thread with the usual stack. A deeper value raises MARSHAL.
    pub nesting: u16,
    /// Largest number of values (of valuetypes) in one message. Default 1,048,576 (1 Mi). More
    /// raise MARSHAL. A value may take as little as 4 bytes of a message, and takes some 200 in
    /// memory.
    pub values: usize,
    /// Largest number of unfinished fragmented messages at a time on one connection. Default 32.
    /// One more is an error that closes the connection.
    pub fragments_pending: usize,
    /// Largest number of bytes that the unfinished fragmented messages of one connection may hold
    /// together, including the records of where fragments of GIOP 1.1 begin. Default 128 MiB, at
    /// least 1 KiB in an ORB's configuration. More is an error that closes the connection.
    pub fragments_bytes: usize,
}

impl Limits {
    /// Default limits on messages and values, also usable in constants.
    pub const DEFAULT: Self = Self {
        message: 64 << 20,
        string: 16 << 20,
        sequence: 64 << 20,
        nesting: 64,
        values: 1 << 20,
        fragments_pending: 32,
        fragments_bytes: 128 << 20,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
