//! Limits of the service, and of each channel.

use std::time::Duration;

use punctual_events::Patience;

/// Events that a full queue gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discard {
    /// The oldest ones make room for the new one, as in omniEvents.
    #[default]
    Oldest,
    /// The new one is discarded.
    Newest,
}

/// Operation by which suppliers are pulled from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pulling {
    /// `try_pull`, again after an interval when there was no event.
    #[default]
    Try,
    /// `pull`, which the supplier answers when it has an event. No thread of the service waits for it, and it has no time
    /// limit, as an event that is answered later would be lost.
    Wait,
}

/// Limits of an event service. Requests that exceed them are refused, and change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of channels that clients create. Default: 100.
    pub channels: usize,
    /// Maximum number of proxies of one channel. Default: 10,000.
    pub proxies: usize,
    /// Maximum number of events in the queue of one consumer. Default: 1,023, as in omniEvents.
    pub queue_events: usize,
    /// Maximum number of bytes of the events in the queue of one consumer. Default: 16 MiB.
    pub queue_bytes: usize,
    /// Events that a full queue gives up. Default: the oldest.
    pub discard: Discard,
    /// Maximum number of bytes of one event, its type included. Default: 1 MiB.
    pub event_bytes: usize,
    /// Maximum number of calls of `pull`, and of each `pull_…` of typed events, that wait at one proxy. Default: 16.
    pub waiting_pulls: usize,
    /// Interval at which a supplier that had no event is asked again. Default: 1 s.
    pub pull_interval: Duration,
    /// Operation by which suppliers are pulled from. Default: `try_pull`.
    pub pulling: Pulling,
    /// Time limit of each call to a consumer or a supplier. Default: 5 s.
    pub call_timeout: Duration,
    /// Number of calls to a peer that fail in succession until it is disconnected. Default: 4.
    pub failures: u32,
    /// Time after which an unconnected proxy is removed. Default: 60 s.
    pub connect_within: Duration,
    /// Interval at which connected peers are asked whether they exist; `None` never asks. Default: 60 s.
    pub check: Option<Duration>,
    /// Time after which a proxy without a reference to its peer is removed if nothing called it; `None` keeps it.
    /// Default: one day.
    pub idle: Option<Duration>,
    /// Maximum number of threads that push to consumers, of those that pull from suppliers, and of those that ask whether
    /// peers exist. Default: 64.
    pub threads: usize,
}

impl Limits {
    /// Returns the times after which proxies are removed.
    pub(crate) const fn patience(&self) -> Patience {
        Patience {
            connect_within: self.connect_within,
            idle: self.idle,
            check: self.check,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            channels: 100,
            proxies: 10_000,
            queue_events: 1_023,
            queue_bytes: 16 << 20,
            discard: Discard::Oldest,
            event_bytes: 1 << 20,
            waiting_pulls: 16,
            pull_interval: Duration::from_secs(1),
            pulling: Pulling::Try,
            call_timeout: Duration::from_secs(5),
            failures: 4,
            connect_within: Duration::from_secs(60),
            check: Some(Duration::from_secs(60)),
            idle: Some(Duration::from_secs(24 * 3600)),
            threads: 64,
        }
    }
}
