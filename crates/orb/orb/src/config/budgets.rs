//! Limits on the resources that all peers together may use in this process.

use punctual_sys::quota;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Limits on the resources that an ORB holds for all its peers together, beside those on each
/// message ([`punctual_cdr::Limits`]). The defaults depend on the memory of the machine, or of the
/// process's control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budgets {
    /// Bytes of messages longer than 16 KiB that are arriving, whose requests or replies are in
    /// progress, or that are replies that have not been sent; of requests that servants keep to
    /// answer later (AMH); and of results that servants count
    /// ([`charge_results`](crate::charge_results)). Default a quarter of the memory, at most 4 GiB;
    /// at least 16 KiB. When there are more, the ORB closes the largest connection of the peer that
    /// holds most, or answers NO_RESOURCES if that is a reply that was just made; one peer (a host)
    /// may hold three quarters.
    pub received: usize,
    /// Threads beyond one for each connection (`Concurrency::ThreadPerConnection`): they receive while other threads of their
    /// connection are in upcalls. Default one for each MiB of memory, from 64 to 4,096; 1,048,576 at most. The last quarter is for connections that
    /// have fewer than 8.
    pub threads: usize,
    /// Requests of one connection that may be in upcalls at once, on threads of their own. Default
    /// 256; further requests wait.
    pub requests_per_connection: u32,
    /// Requests of all connections that servants will answer later (AMH). Default one for each 4
    /// KiB of memory, from 16,384 to 1,048,576; further requests are answered with TRANSIENT.
    pub pending_replies: usize,
    /// Requests of one connection that servants will answer later (AMH). Default 131,072, as many
    /// calls as one client of this ORB has in flight on one; at most three quarters of those of all
    /// connections.
    pub pending_replies_per_connection: usize,
    /// Endpoints of a reference that are read, and that one call tries, including those it is
    /// forwarded to. Default
    /// 32.
    pub endpoints: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        // Without information on memory, assumes a small machine.
        Self::for_memory(quota::memory().unwrap_or(256 * MIB))
    }
}

impl Budgets {
    fn for_memory(octets: u64) -> Self {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let pending = (octets / (4 * KIB)).clamp(16 * KIB, MIB);
        Self {
            received: number((octets / 4).min(4096 * MIB)),
            threads: number((octets / MIB).clamp(64, 4096)),
            requests_per_connection: 256,
            pending_replies: number(pending),
            pending_replies_per_connection: number((pending / 4 * 3).min(128 * KIB)),
            endpoints: 32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_follow_the_memory() {
        let small = Budgets::for_memory(128 * MIB);
        assert_eq!((small.received, small.threads), (32 << 20, 128));
        let pending = (small.pending_replies, small.pending_replies_per_connection);
        assert_eq!(pending, (32 << 10, 24 << 10));
        let large = Budgets::for_memory(1 << 40);
        assert_eq!((large.received, large.threads), (4 << 30, 4096));
        let pending = (large.pending_replies, large.pending_replies_per_connection);
        assert_eq!(pending, (1 << 20, 128 << 10));
    }
}
