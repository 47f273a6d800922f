//! Counts of a channel at one moment.

use super::core::Core;
use crate::dispatch::age;
use crate::event::Payload;
use crate::level::Level;
use crate::route::Connection;
use crate::statistics::{ChannelStatistics, ConsumerStatistics};
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the counts of a channel.
pub(super) fn snapshot<P: Payload>(core: &Core<P>) -> ChannelStatistics {
    let consumers = core.table.all();
    let consumers = consumers
        .iter()
        .map(|one| counts(&one.connection, one.level));
    ChannelStatistics {
        received: core.received.load(Ordering::Relaxed),
        timed: core.timed.load(Ordering::Relaxed),
        suppliers: core.suppliers.len(),
        routes: core.table.routes(),
        consumers: consumers.collect(),
    }
}

/// Returns the counts of a consumer.
pub(super) fn counts<P: Payload>(connection: &Connection<P>, level: Level) -> ConsumerStatistics {
    let link = &connection.link;
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let (pushed, pushes) = link.counts.pushed();
    let loads: Vec<_> = connection.all().iter().map(|one| one.load()).collect();
    let oldest = loads.iter().filter_map(|load| load.oldest).min();
    ConsumerStatistics {
        id: link.id,
        level,
        state: link.state(),
        pushed,
        pushes,
        dropped: read(&link.counts.dropped),
        suspended: read(&link.counts.suspended),
        failed: read(&link.counts.failed),
        queued: loads.iter().map(|load| load.events).sum(),
        queued_bytes: loads.iter().map(|load| load.bytes).sum(),
        lag: oldest.map(age).unwrap_or_default(),
        is_slow: link.is_slow(),
    }
}
