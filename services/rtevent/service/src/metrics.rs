//! Metrics of the service.

use crate::federation::{Federation, UdpCounts};
use punctual_host::metrics::Exposition;
use punctual_rtevent::{ChannelStatistics, ConsumerStatistics};

/// Appends what a channel has counted.
pub(crate) fn write(counts: &ChannelStatistics, out: &mut Exposition) {
    let consumers = &counts.consumers;
    let sum = |of: fn(&ConsumerStatistics) -> u64| consumers.iter().map(of).sum::<u64>();
    out.counter(
        "received_events_total",
        "Events that suppliers pushed.",
        counts.received,
    );
    out.counter("timed_events_total", "Events of timers.", counts.timed);
    out.gauge("suppliers", "Connected suppliers.", counts.suppliers as u64);
    out.gauge("consumers", "Connected consumers.", consumers.len() as u64);
    let help = "Combinations of type and source whose consumers are known.";
    out.gauge("routes", help, counts.routes as u64);
    let help = "Events in the queues of consumers.";
    out.gauge("queued_events", help, sum(|it| it.queued as u64));
    let help = "Octets in the queues of consumers.";
    out.gauge("queued_bytes", help, sum(|it| it.queued_bytes as u64));
    let help = "Events that conjunctions have collected.";
    out.gauge("collected_events", help, sum(|it| it.collected as u64));
    let help = "Octets of the events that conjunctions have collected.";
    out.gauge("collected_bytes", help, sum(|it| it.collected_bytes as u64));
    let lag = consumers
        .iter()
        .map(|it| it.lag.as_millis())
        .max()
        .unwrap_or_default();
    let help = "Age of the oldest queued event in milliseconds.";
    out.gauge(
        "lag_milliseconds",
        help,
        u64::try_from(lag).unwrap_or(u64::MAX),
    );
    let help = "Consumers whose last push blocked a thread of their level.";
    out.gauge("slow_consumers", help, sum(|it| u64::from(it.is_slow)));
    let help = "Events pushed to the consumers that are connected now.";
    out.gauge("pushed_events", help, sum(|it| it.pushed));
    let help = "Events that full queues of the consumers that are connected now dropped.";
    out.gauge("dropped_events", help, sum(|it| it.dropped));
    let help = "Events that suspended consumers did not get.";
    out.gauge("suspended_events", help, sum(|it| it.suspended));
    let help = "Events whose push to the consumers that are connected now failed.";
    out.gauge("failed_events", help, sum(|it| it.failed));
}

/// Appends what the links to other channels have counted.
pub(crate) fn write_links(federation: &Federation, out: &mut Exposition) {
    let (udp, remote) = (federation.udp_counts(), federation.remote_counts());
    let sum = |of: fn(&UdpCounts) -> u64| udp.iter().map(|(_, counts)| of(counts)).sum::<u64>();
    out.counter(
        "udp_sent_events_total",
        "Events sent by UDP.",
        sum(|it| it.sent),
    );
    out.counter(
        "udp_unsent_events_total",
        "Events that could not be sent by UDP.",
        sum(|it| it.unsent),
    );
    out.counter(
        "udp_received_events_total",
        "Events received by UDP.",
        sum(|it| it.received),
    );
    let help = "Messages by UDP that were no events in the channel's form.";
    out.counter("udp_unread_messages_total", help, sum(|it| it.unread));
    let help = "Messages by UDP that were given up: gaps in the numbers of their senders.";
    out.counter("udp_lost_messages_total", help, sum(|it| it.datagrams.lost));
    let help =
        "Messages by UDP that are missing among the latest, and lost if they are not on the way.";
    out.gauge("udp_missing_messages", help, sum(|it| it.missing));
    let help = "Datagrams that had arrived before.";
    out.counter(
        "udp_repeated_datagrams_total",
        help,
        sum(|it| it.datagrams.duplicates),
    );
    let help = "Datagrams of messages that had been given up.";
    out.counter(
        "udp_late_datagrams_total",
        help,
        sum(|it| it.datagrams.late),
    );
    let help = "Datagrams that were no fragments of messages.";
    out.counter("udp_bad_datagrams_total", help, sum(|it| it.datagrams.bad));
    let help = "Datagrams for which there was no memory.";
    out.counter(
        "udp_refused_datagrams_total",
        help,
        sum(|it| it.datagrams.no_room),
    );
    let connected = remote
        .iter()
        .filter(|(_, counts)| counts.is_connected)
        .count();
    let help = "Channels of other servers that are connected.";
    out.gauge("connected_channels", help, connected as u64);
    let connections = remote.iter().map(|(_, counts)| counts.connections).sum();
    let help = "Connections to channels of other servers so far.";
    out.counter("channel_connections_total", help, connections);
    let events = remote.iter().map(|(_, counts)| counts.events).sum();
    let help = "Events received from channels of other servers.";
    out.counter("channel_events_total", help, events);
}
