//! One look at a channel, as text and as JSON.

use crate::notify::kinds;
use crate::shown;
use punctual_notification::punctual_notify::{
    ChannelCounts, ConnectionState, ConsumerCounts, ProxyPlace, SupplierCounts,
};
use serde_json::{Value, json};
use std::time::Duration;

/// What one look shows.
pub(super) struct Look<'s> {
    pub(super) now: &'s ChannelCounts,
    /// Counts of the look before, if there was one.
    pub(super) before: Option<&'s ChannelCounts>,
    /// Time between the two.
    pub(super) time: Duration,
}

impl Look<'_> {
    /// Returns the sums of the channel, and the tables of consumers and of suppliers.
    pub(super) fn tables(&self) -> String {
        let now = self.now;
        let mut text = format!(
            "{} events received ({:.1}/s), {} delivered ({:.1}/s), {} held; filters kept out {}, {} rejected\n",
            now.received,
            self.rate(|counts| counts.received),
            now.delivered,
            self.rate(|counts| counts.delivered),
            now.held,
            now.filtered,
            now.rejected,
        );
        text += &format!(
            "lost by consumers: {} discarded, {} expired, {} undelivered\n",
            now.discarded, now.expired, now.undelivered
        );
        text += &consumers(now);
        text += &suppliers(now);
        text + "\n"
    }

    /// Returns the look as an object of JSON on one line.
    pub(super) fn json(&self) -> String {
        let now = self.now;
        let consumers: Vec<_> = now.consumers.iter().map(consumer_json).collect();
        let suppliers: Vec<_> = now.suppliers.iter().map(supplier_json).collect();
        shown::json(json!({
            "received": now.received,
            "received_per_second": self.rate(|counts| counts.received),
            "filtered": now.filtered,
            "rejected": now.rejected,
            "delivered": now.delivered,
            "delivered_per_second": self.rate(|counts| counts.delivered),
            "discarded": now.discarded,
            "expired": now.expired,
            "undelivered": now.undelivered,
            "held": now.held,
            "consumer_count": now.consumer_count,
            "consumers": consumers,
            "supplier_count": now.supplier_count,
            "suppliers": suppliers,
        }))
    }

    /// Returns events a second since the look before; 0 at the first one.
    fn rate(&self, of: impl Fn(&ChannelCounts) -> u64) -> f64 {
        let new = self
            .before
            .map(|before| of(self.now).saturating_sub(of(before)));
        new.unwrap_or_default() as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

fn consumers(channel: &ChannelCounts) -> String {
    let mut text = format!(
        "{:<28} {:>10} {:>10} {:>9} {:>8} {:>11} {:>8} {:>12}  {}\n",
        format!("{} consumers", channel.consumer_count),
        "delivered",
        "discarded",
        "expired",
        "failed",
        "undelivered",
        "queued",
        "lag",
        "connection"
    );
    for one in &channel.consumers {
        text += &format!(
            "{:<28} {:>10} {:>10} {:>9} {:>8} {:>11} {:>8} {:>9.3} ms  {}\n",
            name(&one.place),
            one.delivered,
            one.discarded,
            one.expired,
            one.place.retried,
            one.undelivered,
            one.queued,
            one.lag as f64 / 1e3,
            connection(&one.place),
        );
    }
    text
}

fn suppliers(channel: &ChannelCounts) -> String {
    let mut text = format!(
        "{:<28} {:>10} {:>10} {:>9} {:>8}  {}\n",
        format!("{} suppliers", channel.supplier_count),
        "received",
        "filtered",
        "rejected",
        "failed",
        "connection"
    );
    for one in &channel.suppliers {
        text += &format!(
            "{:<28} {:>10} {:>10} {:>9} {:>8}  {}\n",
            name(&one.place),
            one.received,
            one.filtered,
            one.rejected,
            one.place.retried,
            connection(&one.place),
        );
    }
    text
}

/// Returns administrator and proxy with its kind: `0/3 push structured`.
fn name(place: &ProxyPlace) -> String {
    format!("{}/{} {}", place.admin, place.id, kinds::name(place.kind))
}

fn connection(place: &ProxyPlace) -> String {
    let peer = match place.peer.is_empty() {
        true => String::new(),
        false => format!(" at {}", place.peer),
    };
    let reason = match place.last_failure.is_empty() {
        true => String::new(),
        false => format!("; last failure: {}", place.last_failure),
    };
    shown::exception(format_args!("{}{peer}{reason}", state(place.state)))
}

const fn state(state: ConnectionState) -> &'static str {
    match state {
        ConnectionState::Unconnected => "not connected",
        ConnectionState::Connected => "connected",
        ConnectionState::Suspended => "suspended",
        ConnectionState::Failing => "failing",
    }
}

fn place_json(place: &ProxyPlace) -> Value {
    json!({
        "admin": place.admin,
        "proxy": place.id,
        "kind": kinds::name(place.kind),
        "state": state(place.state),
        "peer": place.peer,
        "failed_calls": place.retried,
        "last_failure": place.last_failure,
    })
}

fn consumer_json(one: &ConsumerCounts) -> Value {
    let counts = json!({
        "delivered": one.delivered,
        "discarded": one.discarded,
        "expired": one.expired,
        "undelivered": one.undelivered,
        "queued": one.queued,
        "queued_octets": one.queued_octets,
        "lag_seconds": one.lag as f64 / 1e6,
    });
    joined(place_json(&one.place), counts)
}

fn supplier_json(one: &SupplierCounts) -> Value {
    let counts = json!({
        "received": one.received,
        "filtered": one.filtered,
        "rejected": one.rejected,
    });
    joined(place_json(&one.place), counts)
}

/// Returns an object with the members of both.
fn joined(mut one: Value, other: Value) -> Value {
    if let (Some(members), Value::Object(others)) = (one.as_object_mut(), other) {
        members.extend(others);
    }
    one
}
