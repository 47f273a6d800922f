//! Metrics of the service.

use punctual_host::metrics::Exposition;
use punctual_rtevent::{ChannelStatistics, ConsumerStatistics};

/// Appends what a channel has counted.
pub(crate) fn write(counts: &ChannelStatistics, out: &mut Exposition) {
    let consumers = &counts.consumers;
    let sum = |of: fn(&ConsumerStatistics) -> u64| consumers.iter().map(of).sum::<u64>();
    out.counter(
        "received_events",
        "Events that suppliers pushed.",
        counts.received,
    );
    out.counter("timed_events", "Events of timers.", counts.timed);
    out.gauge("suppliers", "Connected suppliers.", counts.suppliers as u64);
    out.gauge("consumers", "Connected consumers.", consumers.len() as u64);
    let help = "Combinations of type and source whose consumers are known.";
    out.gauge("routes", help, counts.routes as u64);
    let help = "Events in the queues of consumers.";
    out.gauge("queued_events", help, sum(|it| it.queued as u64));
    let help = "Octets in the queues of consumers.";
    out.gauge("queued_bytes", help, sum(|it| it.queued_bytes as u64));
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
    let help = "Events pushed to the consumers that are connected now.";
    out.gauge("pushed_events", help, sum(|it| it.pushed));
    let help = "Events that full queues of the consumers that are connected now dropped.";
    out.gauge("dropped_events", help, sum(|it| it.dropped));
    let help = "Events that suspended consumers did not get.";
    out.gauge("suspended_events", help, sum(|it| it.suspended));
    let help = "Events whose push to the consumers that are connected now failed.";
    out.gauge("failed_events", help, sum(|it| it.failed));
}
