//! Counts of what is sent to groups, and of what arrives for them.

use crate::LinkCount;
use crate::datagram::Tally;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of what a link has sent to groups and received for them, and has not passed on, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MiopCounts {
    /// Messages that were sent, with all their packets.
    pub sent_messages: u64,
    /// Packets that were sent.
    pub sent_packets: u64,
    /// Datagrams that arrived.
    pub datagrams: u64,
    /// Messages that were complete and passed on.
    pub messages: u64,
    /// Datagrams that were no packets, or contradicted earlier ones.
    pub malformed: u64,
    /// Packets that had arrived before.
    pub repeated: u64,
    /// Datagrams of hosts that are not among the sources.
    pub unwanted: u64,
    /// Messages that were over a limit of their size.
    pub too_large: u64,
    /// Messages that were given up as packets were missing for too long.
    pub incomplete: u64,
    /// Messages that were given up before they were complete, as others needed the room.
    pub displaced: u64,
    /// Packets that those messages lacked, by the numbers of their packets.
    pub lost_packets: u64,
    /// Complete messages that were not for this process.
    pub refused: u64,
    /// Messages that were dropped because earlier ones of their source had not been served.
    pub dropped: u64,
    /// Messages that are not complete, now.
    pub under_way: u64,
    /// Bytes that those take, now, with the overhead of each packet.
    pub under_way_octets: u64,
    /// Bytes of complete messages that wait for their upcalls, now, with the overhead of each message.
    pub waiting_octets: u64,
}

impl MiopCounts {
    /// Returns all counts by their names.
    pub(super) fn named(&self) -> Vec<LinkCount> {
        let totals = [
            ("sent_messages", self.sent_messages),
            ("sent_packets", self.sent_packets),
            ("datagrams", self.datagrams),
            ("messages", self.messages),
            ("malformed", self.malformed),
            ("repeated", self.repeated),
            ("unwanted", self.unwanted),
            ("too_large", self.too_large),
            ("incomplete", self.incomplete),
            ("displaced", self.displaced),
            ("lost_packets", self.lost_packets),
            ("refused", self.refused),
            ("dropped", self.dropped),
        ];
        let levels = [
            ("under_way", self.under_way),
            ("under_way_octets", self.under_way_octets),
            ("waiting_octets", self.waiting_octets),
        ];
        let totals = totals.map(|(name, value)| LinkCount::total(name, value));
        let levels = levels.map(|(name, value)| LinkCount::level(name, value));
        totals.into_iter().chain(levels).collect()
    }
}

/// Counters that threads share.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) sent_messages: AtomicU64,
    pub(super) sent_packets: AtomicU64,
    pub(super) datagrams: AtomicU64,
    pub(super) messages: AtomicU64,
    pub(super) malformed: AtomicU64,
    pub(super) repeated: AtomicU64,
    pub(super) unwanted: AtomicU64,
    pub(super) too_large: AtomicU64,
    pub(super) incomplete: AtomicU64,
    pub(super) displaced: AtomicU64,
    pub(super) lost_packets: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) under_way: AtomicU64,
    pub(super) under_way_octets: AtomicU64,
}

impl Counters {
    pub(super) fn read(&self, tally: &Tally) -> MiopCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        MiopCounts {
            sent_messages: read(&self.sent_messages),
            sent_packets: read(&self.sent_packets),
            datagrams: read(&self.datagrams),
            messages: read(&self.messages),
            malformed: read(&self.malformed),
            repeated: read(&self.repeated),
            unwanted: read(&self.unwanted),
            too_large: read(&self.too_large),
            incomplete: read(&self.incomplete),
            displaced: read(&self.displaced),
            lost_packets: read(&self.lost_packets),
            refused: read(&self.refused),
            dropped: read(&tally.dropped),
            under_way: read(&self.under_way),
            under_way_octets: read(&self.under_way_octets),
            waiting_octets: read(&tally.waiting),
        }
    }
}

/// Adds to a counter, on which no other memory depends.
pub(super) fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}
