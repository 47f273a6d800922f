//! What a peer may make us hold.

/// Limits on what is read from a peer. Those on strings and sequences hold for what is sent, too.
///
/// Each is checked before memory is set aside for what it limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest message, in octets, header included, fragments put together. Default 64 MiB;
    /// from 1 KiB up to 4 GiB. A longer one is refused: the receiver answers MessageError and
    /// closes the connection. So is one in more than 1,024 fragments and more than one for each
    /// 512 octets of this limit.
    pub message: usize,
    /// The longest string or wide string, in octets as encoded (in GIOP 1.1 a wide string's
    /// 2-octet characters), without a terminating NUL. Default 16 MiB, at least 64
    /// in an ORB's configuration. A longer one raises MARSHAL.
    pub string: usize,
    /// The most elements of one sequence. Default 67,108,864 (64 Mi), at least 64 in an
    /// ORB's configuration. A longer sequence raises
    /// MARSHAL. A sequence that announces more elements than its message has octets for is
    /// refused whatever this limit says.
    pub sequence: usize,
    /// How deep values of recursive types may nest, in levels. Default 64; up to 1,000 is safe
    /// on a thread with the usual stack. A deeper value raises MARSHAL.
    pub nesting: u16,
    /// The most values (of valuetypes) in one message. Default 1,048,576 (1 Mi). More raise MARSHAL. A value
    /// may take as little as 4 octets of a message, and takes some 200 in memory.
    pub values: usize,
    /// How many fragmented messages may be unfinished at a time on one connection. Default 32.
    /// One more is an error that closes the connection.
    pub fragments_pending: usize,
    /// How many octets the unfinished fragmented messages of one connection may hold together,
    /// what is noted of where fragments of GIOP 1.1 begin included. Default 128 MiB, at least 1 KiB in an ORB's
    /// configuration. More is an
    /// error that closes the connection.
    pub fragments_bytes: usize,
}

impl Limits {
    /// The defaults, also for constants.
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
