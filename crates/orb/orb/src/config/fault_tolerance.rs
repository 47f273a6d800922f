//! Settings of Fault Tolerant CORBA.

use std::time::Duration;

/// Settings of Fault Tolerant CORBA (`punctual_ft`): those of calls to object groups, and the limits on the replies that a
/// server keeps for repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultToleranceSettings {
    /// Time for which a call to an object group is repeated, and its reply kept, where no policy says otherwise (Request
    /// Duration). Default 10 s; at least 1 ms.
    pub request_duration: Duration,
    /// If true, the server keeps the replies to all requests that ask for it (FT_REQUEST), not only those of members of
    /// object groups. Default false.
    pub retain_all: bool,
    /// Maximum number of replies that are kept for all clients together. Default 250,000.
    pub retained: usize,
    /// Maximum number of replies that are kept for one client. Default 100,000.
    pub retained_of_client: usize,
    /// Maximum number of bytes of the replies that are kept for all clients together. Default 64 MiB.
    pub retained_bytes: usize,
    /// Maximum number of bytes of the replies that are kept for one client. Default 16 MiB.
    pub retained_bytes_of_client: usize,
    /// Longest time for which a client may have a reply kept. Default 5 min; at least 1 ms.
    pub longest_retention: Duration,
    /// Maximum number of repeats of one request that wait for its reply. Default 8.
    pub waiting_repeats: usize,
}

impl Default for FaultToleranceSettings {
    fn default() -> Self {
        Self {
            request_duration: Duration::from_secs(10),
            retain_all: false,
            retained: 250_000,
            retained_of_client: 100_000,
            retained_bytes: 64 << 20,
            retained_bytes_of_client: 16 << 20,
            longest_retention: Duration::from_secs(300),
            waiting_repeats: 8,
        }
    }
}
