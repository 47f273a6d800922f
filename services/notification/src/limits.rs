//! Limits of the service.

use std::time::Duration;

use punctual_events::Patience;

use crate::cos_notification::{BEST_EFFORT, PERSISTENT};
use crate::qos::Abilities;

/// Limits of a notification service. Requests that exceed them are refused, and change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of channels. Default: 100.
    pub channels: usize,
    /// Maximum number of administrators of one channel, for consumers and for suppliers each. Default: 1,000.
    pub admins: usize,
    /// Maximum number of proxies of one channel, for consumers and for suppliers each. Default: 10,000.
    pub proxies: usize,
    /// Maximum number of events in the queue of one consumer. Default: 10,000.
    pub queue_events: usize,
    /// Maximum number of bytes of the events in the queue of one consumer. Default: 16 MiB.
    pub queue_bytes: usize,
    /// Maximum number of persistent events of one channel that consumers have yet to take. Default: 10,000,000.
    pub log_events: usize,
    /// Maximum number of bytes of these. Default: 1 GiB.
    pub log_bytes: usize,
    /// Maximum number of bytes of one event, its types included. Default: 1 MiB.
    pub event_bytes: usize,
    /// Maximum number of events in one batch. Default: 1,000.
    pub batch: usize,
    /// Maximum number of event types that one client offers or subscribes to, and of a constraint. Default: 1,000.
    pub types: usize,
    /// Maximum number of filters of the service, and of those attached to one object. Default: 10,000.
    pub filters: usize,
    /// Maximum number of constraints of one filter. Default: 1,000.
    pub constraints: usize,
    /// Maximum number of bytes of the constraints of all filters: texts, types and values. Default: 16 MiB.
    pub constraint_bytes: usize,
    /// Permission to attach filters that are objects of other servers, and to call them. Default: false, as each client could
    /// then have the service send its events to any place.
    pub foreign_filters: bool,
    /// Maximum number of such filters of the service. Each is asked one event at a time. Default: 100.
    pub most_foreign: usize,
    /// Maximum number of such filters of one administrator or proxy, besides its mapping filters. Default: 4.
    pub foreign_per_object: usize,
    /// Time limit of a call to such a filter. Default: 1 s.
    pub filter_timeout: Duration,
    /// Maximum number of calls of `pull` that wait at one proxy. Default: 16.
    pub waiting_pulls: usize,
    /// Interval at which a supplier that had no event is asked again. Default: 1 s.
    pub pull_interval: Duration,
    /// Time limit of each call to a consumer or a supplier. Default: 5 s.
    pub call_timeout: Duration,
    /// Time after which a consumer or supplier that could not be called is called again; each further time is twice as
    /// long. Default: 100 ms.
    pub retry: Duration,
    /// Longest time after which it is called again. Default: 30 s.
    pub longest_retry: Duration,
    /// Time after which a consumer or supplier is disconnected if all calls to it have failed; `None` never does so.
    /// Default: one day.
    pub give_up: Option<Duration>,
    /// Time after which an unconnected proxy is removed. Default: one hour.
    pub connect_within: Duration,
    /// Interval at which connected peers are asked whether they exist; `None` never asks. Default: 60 s.
    pub check: Option<Duration>,
    /// Time after which a proxy without a reference to its peer is removed if nothing called it, and a filter that is attached
    /// to nothing; `None` keeps them.
    /// Default: one day.
    pub idle: Option<Duration>,
    /// Permission to connect a proxy that is connected: the new client takes the place of the one before, which is called no
    /// more. Default: false, as the standard has AlreadyConnected raised.
    pub reconnect: bool,
    /// Maximum number of threads that call consumers and suppliers, and of those that ask whether they exist. Default: 16.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            channels: 100,
            admins: 1_000,
            proxies: 10_000,
            queue_events: 10_000,
            queue_bytes: 16 << 20,
            log_events: 10_000_000,
            log_bytes: 1 << 30,
            event_bytes: 1 << 20,
            batch: 1_000,
            types: 1_000,
            filters: 10_000,
            constraints: 1_000,
            constraint_bytes: 16 << 20,
            foreign_filters: false,
            most_foreign: 100,
            foreign_per_object: 4,
            filter_timeout: Duration::from_secs(1),
            waiting_pulls: 16,
            pull_interval: Duration::from_secs(1),
            call_timeout: Duration::from_secs(5),
            retry: Duration::from_millis(100),
            longest_retry: Duration::from_secs(30),
            give_up: Some(Duration::from_secs(24 * 3600)),
            connect_within: Duration::from_secs(3600),
            check: Some(Duration::from_secs(60)),
            idle: Some(Duration::from_secs(24 * 3600)),
            reconnect: false,
            threads: 16,
        }
    }
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

    /// Returns the time until a call that has failed again is made once more, where it was this long before: twice as long.
    pub(crate) fn next_retry(&self, time: Duration) -> Duration {
        time.saturating_mul(2)
            .min(self.longest_retry.max(self.retry))
    }

    /// Returns the values that properties of quality of service may have, where events and connections have a store or none.
    pub(crate) fn abilities(&self, has_log: bool, is_stored: bool) -> Abilities {
        let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let reliability = |is_stored| if is_stored { PERSISTENT } else { BEST_EFFORT };
        Abilities {
            event_reliability: reliability(has_log),
            connection_reliability: reliability(is_stored),
            queue_events: count(self.queue_events),
            batch: count(self.batch.max(1)),
        }
    }
}
