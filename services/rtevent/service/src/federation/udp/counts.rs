//! Counts of a link over UDP.

use super::super::datagram::Counts;

/// Counts of a link over UDP at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpCounts {
    /// Events sent.
    pub sent: u64,
    /// Events that could not be sent.
    pub unsent: u64,
    /// Events received.
    pub received: u64,
    /// Messages received that were no events in the channel's form.
    pub unread: u64,
    /// Messages that are missing among the latest of all sources, as gaps in their numbers show: they are lost if
    /// they are not on the way any more. Those that were given up are among `datagrams.lost`.
    pub missing: u64,
    /// Datagrams and messages of a receiver.
    pub datagrams: Counts,
}
