//! What a channel has counted, for tools (`PunctualNotify::Channel`).

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::core::Channel;
use crate::inlet::Inlet;
use crate::outcome::Outcome;
use crate::outlet::Outlet;
use crate::proxy::Proxy;
use crate::punctual_notify::{
    ChannelCounts, ConnectionState, ConsumerCounts, ProxyPlace, SupplierCounts,
};

/// Most consumers, and most suppliers, in one answer.
const MOST: usize = 1_000;

impl Channel {
    /// Returns the counts, with those of at most so many consumers and suppliers, and of no more than 1,000.
    pub(crate) fn counted(&self, most: u32) -> ChannelCounts {
        let most = usize::try_from(most).unwrap_or(MOST).min(MOST);
        let (outlets, inlets) = (self.outlets(), self.inlets());
        let of = |outcome| self.counts.of(outcome);
        ChannelCounts {
            received: of(Outcome::Received),
            filtered: of(Outcome::Filtered),
            rejected: of(Outcome::Rejected),
            delivered: of(Outcome::Pushed) + of(Outcome::Pulled),
            discarded: of(Outcome::Discarded),
            expired: of(Outcome::Expired),
            undelivered: of(Outcome::Undelivered),
            // Relaxed: a count of its own, which orders no other access.
            held: self.events.load(Ordering::Relaxed) as u64,
            supplier_count: inlets.len() as u64,
            consumer_count: outlets.len() as u64,
            consumers: consumers(&outlets, most),
            suppliers: suppliers(&inlets, most),
        }
    }
}

fn consumers(outlets: &[Arc<Outlet>], most: usize) -> Vec<ConsumerCounts> {
    let now = Instant::now();
    let mut waiting: Vec<_> = outlets.iter().map(|one| (one.backlog(now), one)).collect();
    waiting.sort_by_key(|(waiting, _)| (Reverse(waiting.lag), Reverse(waiting.queued)));
    let consumers = waiting.into_iter().take(most);
    consumers
        .map(|(waiting, outlet)| {
            let of = |outcome| outlet.base.tally.of(outcome);
            ConsumerCounts {
                place: place(&outlet.base, outlet.group.id),
                delivered: of(Outcome::Pushed) + of(Outcome::Pulled),
                discarded: of(Outcome::Discarded),
                expired: of(Outcome::Expired),
                undelivered: of(Outcome::Undelivered),
                queued: waiting.queued as u64,
                queued_octets: waiting.bytes as u64,
                lag: u64::try_from(waiting.lag.as_micros()).unwrap_or(u64::MAX),
            }
        })
        .collect()
}

fn suppliers(inlets: &[Arc<Inlet>], most: usize) -> Vec<SupplierCounts> {
    let received = |inlet: &Inlet| inlet.base.tally.of(Outcome::Received);
    let mut inlets: Vec<_> = inlets.iter().map(|one| (received(one), one)).collect();
    inlets.sort_by_key(|(received, _)| Reverse(*received));
    let suppliers = inlets.into_iter().take(most);
    suppliers
        .map(|(received, inlet)| SupplierCounts {
            place: place(&inlet.base, inlet.group.id),
            received,
            filtered: inlet.base.tally.of(Outcome::Filtered),
            rejected: inlet.base.tally.of(Outcome::Rejected),
        })
        .collect()
}

fn place(proxy: &Proxy, admin: i32) -> ProxyPlace {
    let peer = proxy.connection.peer();
    ProxyPlace {
        admin,
        id: proxy.id,
        kind: proxy.proxy_type(),
        state: state(proxy),
        peer: peer.and_then(|peer| peer.endpoint()).unwrap_or_default(),
        retried: proxy.tally.of(Outcome::Retried),
        last_failure: proxy.tally.last_failure(),
    }
}

fn state(proxy: &Proxy) -> ConnectionState {
    match proxy.connection.is_connected() {
        false => ConnectionState::Unconnected,
        true if proxy.is_failing() => ConnectionState::Failing,
        true if proxy.stated.is_suspended() => ConnectionState::Suspended,
        true => ConnectionState::Connected,
    }
}
