//! Packets of one message, in the order of their numbers. No packet that has arrived is looked at again until the message
//! is complete: each one that arrives costs a search in the tree.

use crate::miop::packet::Packet;
use std::collections::BTreeMap;
use std::time::Instant;

/// Memory overhead of a packet that waits for others, in bytes.
pub(super) const OVERHEAD: usize = 64;

/// Packets of one message.
#[derive(Debug)]
pub(super) struct Collection {
    /// Number of the message among all that have begun here.
    pub(super) number: u64,
    pub(super) begun: Instant,
    announced: Option<u32>,
    packets: BTreeMap<Number, Box<[u8]>>,
    /// Bytes of the packets, without overhead.
    octets: usize,
}

/// Number of a packet in its message. Tests count how often numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number(u32);

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        #[cfg(test)]
        steps::add(1);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Collection {
    pub(super) fn new(number: u64, begun: Instant) -> Self {
        Self {
            number,
            begun,
            announced: None,
            packets: BTreeMap::new(),
            octets: 0,
        }
    }

    /// Returns the bytes of the packets, without overhead.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// Returns the bytes that the packets take.
    pub(super) fn size(&self) -> usize {
        self.octets + self.packets.len() * OVERHEAD
    }

    /// Returns whether a packet of this number has arrived.
    pub(super) fn has(&self, number: u32) -> bool {
        self.packets.contains_key(&Number(number))
    }

    /// Returns whether a packet says something else of the message than earlier ones.
    pub(super) fn contradicts(&self, packet: &Packet<'_>) -> bool {
        let announced = packet.announced();
        let beyond = self.announced.is_some_and(|count| packet.number >= count);
        let differs =
            matches!((self.announced, announced), (Some(one), Some(other)) if one != other);
        let highest = self.packets.last_key_value().map(|(at, _)| at.0);
        let cuts = announced.is_some_and(|count| highest.is_some_and(|at| at >= count));
        beyond || differs || cuts
    }

    /// Adds a packet, of which there is none yet. Returns the bytes that it takes.
    pub(super) fn add(&mut self, packet: Packet<'_>) -> usize {
        self.announced = self.announced.or(packet.announced());
        self.octets += packet.octets.len();
        self.packets
            .insert(Number(packet.number), packet.octets.into());
        packet.octets.len() + OVERHEAD
    }

    pub(super) fn is_complete(&self) -> bool {
        let count = u32::try_from(self.packets.len()).ok();
        count.is_some() && count == self.announced
    }

    /// Returns the number of packets that are missing: at least one after the last that arrived, if that did not say that it
    /// was the last.
    pub(super) fn missing(&self) -> u64 {
        let arrived = self.packets.len() as u64;
        let highest = self.packets.last_key_value();
        let known = highest.map_or(0, |(highest, _)| u64::from(highest.0) + 1);
        let all = self.announced.map_or(known + 1, u64::from);
        all.saturating_sub(arrived)
    }

    /// Returns the message, which is complete.
    pub(super) fn into_message(self) -> Vec<u8> {
        let mut message = Vec::with_capacity(self.octets);
        for octets in self.packets.into_values() {
            #[cfg(test)]
            steps::add(1);
            message.extend_from_slice(&octets);
        }
        message
    }
}

/// Count of the calling thread's steps, in tests: comparisons of packets' numbers, and packets that were copied.
#[cfg(test)]
pub(super) mod steps {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub(super) fn add(number: u64) {
        STEPS.set(STEPS.get() + number);
    }

    /// Returns the steps since the last call.
    pub(in super::super) fn take() -> u64 {
        STEPS.take()
    }
}
