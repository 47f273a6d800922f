//! What all peers together may take of this process.

use punctual_sys::quota;

const MIB: u64 = 1 << 20;

/// Limits on what all peers of one ORB together have it hold, beside those on each message
/// ([`punctual_cdr::Limits`]). The defaults depend on the memory that the machine has, or that the process's
/// control group allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budgets {
    /// Octets of messages longer than 16 KiB that have come and are not done with: half received, or their requests or
    /// replies in progress. Default a quarter of the memory, at most 4 GiB. Where more comes, the connection is closed
    /// that holds most of the peer that holds most; one peer (by its host) may hold three quarters.
    pub received: usize,
    /// Threads that receive while others of their connection are in upcalls (`Concurrency::ThreadPerConnection`), beyond
    /// one for each connection. Default one for each MiB of memory, from 64 to 4,096. The last quarter is for
    /// connections that have fewer than 8.
    pub threads: usize,
    /// Requests of one connection that may be in upcalls at once, on threads of their own. Default 256; more wait.
    pub requests_per_connection: u32,
    /// Endpoints of a reference that are read, and that one call tries, those that it is forwarded to included. Default
    /// 32.
    pub endpoints: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        // Where nothing can be read, that of a small machine.
        Self::for_memory(quota::memory().unwrap_or(256 * MIB))
    }
}

impl Budgets {
    fn for_memory(octets: u64) -> Self {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Self {
            received: number((octets / 4).min(4096 * MIB)),
            threads: number((octets / MIB).clamp(64, 4096)),
            requests_per_connection: 256,
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
        let large = Budgets::for_memory(1 << 40);
        assert_eq!((large.received, large.threads), (4 << 30, 4096));
    }
}
