//! One look at a channel, as text and as JSON.

use crate::shown;
use punctual_rtevent_service::inspect::{TrafficCounts, TrafficRow};
use punctual_rtevent_service::punctual_events::{ChannelCounts, ConnectionState, ConsumerCounts};
use serde_json::{Value, json};
use std::time::Duration;

/// What one look shows.
pub(super) struct Shown<'s> {
    /// Events since the last look.
    pub(super) now: &'s TrafficCounts,
    pub(super) total: &'s TrafficCounts,
    pub(super) time: Duration,
    pub(super) is_connected: bool,
    pub(super) connections: u64,
    /// Counts of the channel, if it tells them.
    pub(super) queues: Option<ChannelCounts>,
}

impl Shown<'_> {
    /// Returns the tables of events and of consumers.
    pub(super) fn tables(&self) -> String {
        let state = match self.is_connected {
            true => "connected",
            false => "not connected",
        };
        let mut text = format!("{state}, {} connections so far\n", self.connections);
        text += &format!(
            "{:>11} {:>11} {:>12} {:>12} {:>14} {:>14}\n",
            "type", "source", "events", "events/s", "octets/s", "longest in it"
        );
        for (kind, source, now, total) in self.rows() {
            let (events, octets) = (self.rate(now.events), self.rate(now.octets));
            let longest = match now.longest {
                0 => "-".to_owned(),
                longest => format!("{:.3} ms", longest as f64 / 10_000.0),
            };
            text += &format!(
                "{kind:>11} {source:>11} {:>12} {events:>12.1} {octets:>14.1} {longest:>14}\n",
                total.events
            );
        }
        if let Some(queues) = &self.queues {
            text += &consumers(queues);
        }
        text + "\n"
    }

    /// Returns the look as an object of JSON on one line.
    pub(super) fn json(&self) -> String {
        let rows = self.rows().map(|(kind, source, now, total)| {
            json!({
                "type": kind,
                "source": source,
                "events": total.events,
                "events_per_second": self.rate(now.events),
                "octets_per_second": self.rate(now.octets),
                "longest_seconds": now.longest as f64 / 1e7,
            })
        });
        let rows: Vec<_> = rows.collect();
        shown::json(json!({
            "is_connected": self.is_connected,
            "connections": self.connections,
            "events": rows,
            "channel": self.queues.as_ref().map(channel_json),
        }))
    }

    fn rows(&self) -> impl Iterator<Item = (String, String, TrafficRow, TrafficRow)> {
        let rows = self.total.rows.iter().map(|((kind, source), total)| {
            let now = self.now.rows.get(&(*kind, *source)).copied();
            (
                kind.to_string(),
                source.to_string(),
                now.unwrap_or_default(),
                *total,
            )
        });
        let others = (self.total.others.events > 0).then(|| {
            let name = || "others".to_owned();
            (name(), name(), self.now.others, self.total.others)
        });
        rows.chain(others)
    }

    fn rate(&self, count: u64) -> f64 {
        count as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Returns the table of consumers, and what the channel has lost.
fn consumers(channel: &ChannelCounts) -> String {
    let mut text = format!(
        "{} events received, {} lost by consumers; {} suppliers, {} consumers\n",
        channel.received, channel.lost, channel.suppliers, channel.consumer_count
    );
    text += &format!(
        "{:>9} {:<28} {:>10} {:>11} {:>10} {:>9} {:>9} {:>10} {:>12}\n",
        "consumer", "at", "level", "pushed", "dropped", "lost", "failed", "queued", "behind"
    );
    for one in &channel.consumers {
        text += &format!(
            "{:>9} {:<28} {:>10} {:>11} {:>10} {:>9} {:>9} {:>10} {:>9.3} ms{}\n",
            one.number,
            place(one),
            format!("{}/{}", one.group, one.priority),
            one.pushed,
            one.dropped,
            one.not_delivered,
            one.failed,
            one.queued,
            one.lag as f64 / 1e3,
            match one.state {
                ConnectionState::Connected => "",
                ConnectionState::Suspended => " suspended",
                ConnectionState::Ended => " ended",
            }
        );
    }
    text
}

fn place(one: &ConsumerCounts) -> &str {
    match one.peer.is_empty() {
        true => "inside the channel's process",
        false => &one.peer,
    }
}

fn channel_json(channel: &ChannelCounts) -> Value {
    let consumers: Vec<_> = channel.consumers.iter().map(consumer_json).collect();
    json!({
        "received": channel.received,
        "timed": channel.timed,
        "lost": channel.lost,
        "refused_pushes": channel.refused,
        "suppliers": channel.suppliers,
        "consumer_count": channel.consumer_count,
        "consumers": consumers,
    })
}

fn consumer_json(one: &ConsumerCounts) -> Value {
    json!({
        "number": one.number,
        "peer": one.peer,
        "preemption_group": one.group,
        "priority": one.priority,
        "state": match one.state {
            ConnectionState::Connected => "connected",
            ConnectionState::Suspended => "suspended",
            ConnectionState::Ended => "ended",
        },
        "pushed": one.pushed,
        "dropped": one.dropped,
        "lost_while_suspended": one.not_delivered,
        "failed": one.failed,
        "queued": one.queued,
        "queued_octets": one.queued_octets,
        "lag_seconds": one.lag as f64 / 1e6,
    })
}
