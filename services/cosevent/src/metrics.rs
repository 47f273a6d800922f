//! Metrics of the event service.

use punctual_events::Count;
use punctual_host::metrics::{Exposition, Timed};

/// Counts of the events of all channels, by outcome. An event counts once for each consumer that it is for.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Channels created and destroyed by clients.
    pub(crate) changes: Timed,
    /// Events that suppliers pushed, or that the channel pulled.
    pub(crate) received: Count,
    /// Events that consumers took by push.
    pub(crate) pushed: Count,
    /// Events that consumers pulled.
    pub(crate) pulled: Count,
    /// Events that full queues discarded.
    pub(crate) discarded: Count,
    /// Events that were in the queue of a consumer when it was disconnected, or whose push failed.
    pub(crate) undelivered: Count,
    /// Events that a channel does not pass on, since their type is not that of its filter.
    pub(crate) filtered: Count,
    /// Events that were pulled from suppliers, and that no channel takes: too large ones above all.
    pub(crate) refused: Count,
    /// Connections that the service ended as the peer did not answer, or was gone.
    pub(crate) lost_peers: Count,
}

/// Numbers of what there is at present.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) channels: usize,
    pub(crate) proxies: usize,
}

impl Metrics {
    /// Appends the service's metrics to the exposition.
    pub(crate) fn write(&self, out: &mut Exposition, gauges: Gauges) {
        let help = "Channels created and destroyed by clients.";
        out.timed("change", help, &self.changes);
        for (name, help, count) in [
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
                "undelivered_total",
                "Events in the queues of consumers that were disconnected, and events whose push failed.",
                &self.undelivered,
            ),
            (
                "filtered_total",
                "Events of another type than the channel passes on.",
                &self.filtered,
            ),
            (
                "refused_total",
                "Events that were pulled from suppliers, and are too large or refused by the channel.",
                &self.refused,
            ),
            (
                "lost_peers_total",
                "Connections that the service ended as the peer did not answer.",
                &self.lost_peers,
            ),
        ] {
            out.counter(name, help, count.get());
        }
        out.gauge("channels", "Channels.", gauges.channels as u64);
        out.gauge("proxies", "Proxies of all channels.", gauges.proxies as u64);
    }
}
