//! Options of a reactor.

use std::time::Duration;

/// Options of a reactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReactorOptions {
    /// Upper bound of registrations. Default 65,536; each takes less than 200 bytes while it
    /// exists.
    pub registrations: u32,
    /// Upper bound of the time a thread spins for events before it sleeps. One thread spins at a
    /// time, and for less time while spinning keeps failing. Default none.
    pub spin: Duration,
    /// `true` if real-time threads spin, too, and threads with a single processor. Default off.
    pub spin_always: bool,
    /// Time for which waiting threads poll the queues of network devices before they sleep; nothing changes on kernels that
    /// cannot (before Linux 6.9). Default: the kernel's own (`net.core.busy_poll`).
    pub busy_poll: Option<Duration>,
}

impl Default for ReactorOptions {
    fn default() -> Self {
        Self {
            registrations: 65_536,
            spin: Duration::ZERO,
            spin_always: false,
            busy_poll: None,
        }
    }
}
