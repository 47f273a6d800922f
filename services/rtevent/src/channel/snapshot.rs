//! Counts of a channel at one moment.

use super::core::Core;
use crate::dispatch::age;
use crate::event::Payload;
use crate::route::{Connection, Subscribed};
use crate::statistics::{ChannelStatistics, ConsumerStatistics};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the counts of a channel.
pub(super) fn snapshot<P: Payload>(core: &Core<P>) -> ChannelStatistics {
    let consumers = core.table.all();
    let consumers = consumers
        .iter()
        .map(|one| counts(&one.connection, Some(one)));
    ChannelStatistics {
        received: core.received.load(Ordering::Relaxed),
        timed: core.timed.load(Ordering::Relaxed),
        suppliers: core.suppliers.len(),
        routes: core.table.routes(),
        consumers: consumers.collect(),
    }
}

/// Returns the counts of a consumer; one that is disconnected has no subscription.
pub(super) fn counts<P: Payload>(
    connection: &Connection<P>,
    subscribed: Option<&Arc<Subscribed<P>>>,
) -> ConsumerStatistics {
    let link = &connection.link;
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let (pushed, pushes) = link.counts.pushed();
    let loads: Vec<_> = connection.all().iter().map(|one| one.load()).collect();
    let (collected, collected_bytes) = subscribed.map(|one| one.collected()).unwrap_or_default();
    let oldest = loads.iter().filter_map(|load| load.oldest).min();
    ConsumerStatistics {
        id: link.id,
        level: subscribed.map(|one| one.level).unwrap_or_default(),
        state: link.state(),
        pushed,
        pushes,
        dropped: read(&link.counts.dropped),
        suspended: read(&link.counts.suspended),
        failed: read(&link.counts.failed),
        queued: loads.iter().map(|load| load.events).sum(),
        queued_bytes: loads.iter().map(|load| load.bytes).sum(),
        collected,
        collected_bytes,
        lag: oldest.map(age).unwrap_or_default(),
        is_slow: link.is_slow(),
    }
}
