//! Metrics of the notification service.

use punctual_events::Count;
use punctual_host::metrics::{Exposition, Timed};

use crate::outcome::Outcome;

/// Counts of events and of what became of them. An event counts once for each consumer that it is for.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Channels created by clients.
    pub(crate) changes: Timed,
    /// Events that suppliers pushed, or that were pulled from them.
    pub(crate) received: Count,
    /// Events that consumers took by push.
    pub(crate) pushed: Count,
    /// Events that consumers pulled.
    pub(crate) pulled: Count,
    /// Events that full queues discarded.
    pub(crate) discarded: Count,
    /// Events whose life ended in a queue.
    pub(crate) expired: Count,
    /// Events that the filters of suppliers did not let in.
    pub(crate) filtered: Count,
    /// Events refused as they were too large, or as the channel or its log was full.
    pub(crate) rejected: Count,
    /// Events that were in the queue of a consumer when it was disconnected, or whose push failed.
    pub(crate) undelivered: Count,
    /// Calls to consumers that failed, and are made again.
    pub(crate) retried: Count,
    /// Events that a foreign filter has not judged, which count as not matched.
    pub(crate) filter_failures: Count,
    /// Connections that the service ended as the peer did not answer, or was gone.
    pub(crate) lost_peers: Count,
}

/// Numbers of what there is at present.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) channels: usize,
    pub(crate) proxies: usize,
    pub(crate) filters: usize,
    pub(crate) queued: usize,
}

impl Metrics {
    /// Returns the counter of an outcome.
    pub(crate) const fn of(&self, outcome: Outcome) -> &Count {
        match outcome {
            Outcome::Received => &self.received,
            Outcome::Filtered => &self.filtered,
            Outcome::Rejected => &self.rejected,
            Outcome::Pushed => &self.pushed,
            Outcome::Pulled => &self.pulled,
            Outcome::Discarded => &self.discarded,
            Outcome::Expired => &self.expired,
            Outcome::Undelivered => &self.undelivered,
            Outcome::Retried => &self.retried,
        }
    }

    /// Appends the service's metrics to the exposition.
    pub(crate) fn write(&self, out: &mut Exposition, gauges: Gauges) {
        out.timed("change", "Channels created by clients.", &self.changes);
        for (name, help, count) in self.counts() {
            out.counter(name, help, count.get());
        }
        for (name, help, value) in [
            ("channels", "Channels.", gauges.channels),
            ("proxies", "Proxies of all channels.", gauges.proxies),
            (
                "filters",
                "Filters and mapping filters, attached or not, of which there may be `most-filters`.",
                gauges.filters,
            ),
            (
                "queued",
                "Events that wait for consumers: in their queues, for foreign filters, for their StartTime, and in calls that have not returned.",
                gauges.queued,
            ),
        ] {
            out.gauge(name, help, value as u64);
        }
    }

    fn counts(&self) -> [(&'static str, &'static str, &Count); 11] {
        [
            (
                "received_total",
                "Events that suppliers pushed, or that were pulled from them.",
                &self.received,
            ),
            (
                "pushed_total",
                "Events that consumers took by push.",
                &self.pushed,
            ),
            (
                "pulled_total",
                "Events that consumers pulled.",
                &self.pulled,
            ),
            (
                "discarded_total",
                "Events that full queues of consumers discarded.",
                &self.discarded,
            ),
            (
                "expired_total",
                "Events whose life ended in the queue of a consumer.",
                &self.expired,
            ),
            (
                "filtered_total",
                "Events that the filters of suppliers did not let in.",
                &self.filtered,
            ),
            (
                "rejected_total",
                "Events refused as they were too large, or as the channel held as many as its MaxQueueLength says, or its log as many as it may.",
                &self.rejected,
            ),
            (
                "undelivered_total",
                "Events in the queues of consumers that were disconnected, and events whose push failed.",
                &self.undelivered,
            ),
            (
                "retried_total",
                "Calls to consumers and suppliers that failed, and are made again.",
                &self.retried,
            ),
            (
                "filter_failures_total",
                "Events about which a foreign filter raised an exception, did not answer, or was not asked as it had not answered.",
                &self.filter_failures,
            ),
            (
                "lost_peers_total",
                "Connections that the service ended as the peer did not answer.",
                &self.lost_peers,
            ),
        ]
    }
}
