//! Counts of a channel as clients read them (`PunctualEvents::Channel::counts`).

use crate::punctual_events::{ChannelCounts, ConnectionState, ConsumerCounts};
use punctual_rtevent::{
    ChannelStatistics, ConnectionState as State, ConsumerId, ConsumerStatistics,
};
use std::cmp::Reverse;

/// Maximum number of consumers in one answer.
const MOST_CONSUMERS: usize = 1_000;

/// Makes the counts from a channel's statistics and the addresses of its peers. `lost` and `refused` are zero.
pub(crate) fn counts(
    channel: &ChannelStatistics,
    most_consumers: usize,
    peer: impl Fn(ConsumerId) -> String,
) -> ChannelCounts {
    let mut consumers: Vec<_> = channel.consumers.iter().collect();
    consumers.sort_by_key(|one| (Reverse(one.lag), Reverse(one.queued)));
    consumers.truncate(most_consumers.min(MOST_CONSUMERS));
    let consumers = consumers.into_iter();
    ChannelCounts {
        received: channel.received,
        timed: channel.timed,
        suppliers: channel.suppliers as u64,
        consumer_count: channel.consumers.len() as u64,
        consumers: consumers
            .map(|one| of_consumer(one, peer(one.id)))
            .collect(),
        ..ChannelCounts::default()
    }
}

fn of_consumer(one: &ConsumerStatistics, peer: String) -> ConsumerCounts {
    ConsumerCounts {
        number: one.id.number(),
        peer,
        group: one.level.preemption_group.into(),
        priority: one.level.priority,
        state: state(one.state),
        pushed: one.pushed,
        dropped: one.dropped,
        not_delivered: one.suspended,
        failed: one.failed,
        queued: one.queued as u64,
        queued_octets: one.queued_bytes as u64,
        lag: u64::try_from(one.lag.as_micros()).unwrap_or(u64::MAX),
    }
}

const fn state(state: State) -> ConnectionState {
    match state {
        State::Connected => ConnectionState::Connected,
        State::Suspended => ConnectionState::Suspended,
        State::Disconnected => ConnectionState::Ended,
    }
}
