//! Assembly of messages from packets that any host may send. Without a socket.
//!
//! Every quantity that a sender controls is bounded: the packets that a message announces, its octets, the messages under
//! way from one host and from all, the memory that they take together, and their age. Memory grows with what arrives, not
//! with what is announced. Packets of one message have one sender and one id.

use super::counts::{Counters, add};
use super::options::MiopOptions;
use super::packet::Packet;
use crate::datagram::Intake;
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Memory overhead of a packet that waits for others, in bytes.
const OVERHEAD: usize = 64;
/// Number of messages that are remembered after their end.
const REMEMBERED: usize = 4096;

/// Decides whether a complete message is for this process.
pub type MessageFilter = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Messages under way, of all sources.
pub(super) struct Assembly {
    options: MiopOptions,
    filter: Option<MessageFilter>,
    counters: Arc<Counters>,
    under_way: HashMap<Key, Collection>,
    /// Messages under way, from the oldest on, by their numbers.
    order: BTreeMap<u64, Key>,
    next: u64,
    /// Number of messages under way of each host.
    of_hosts: HashMap<IpAddr, usize>,
    /// Bytes of all messages under way, with the overhead.
    octets: usize,
    ended: Ended,
}

/// Identity of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    source: SocketAddr,
    id: Box<[u8]>,
}

/// Packets of one message.
#[derive(Debug)]
struct Collection {
    number: u64,
    begun: Instant,
    announced: Option<u32>,
    packets: BTreeMap<u32, Box<[u8]>>,
    /// Bytes of the packets, without overhead.
    octets: usize,
}

impl Collection {
    /// Returns the bytes that the packets take.
    fn size(&self) -> usize {
        self.octets + self.packets.len() * OVERHEAD
    }

    fn is_complete(&self) -> bool {
        let count = u32::try_from(self.packets.len()).ok();
        count.is_some() && count == self.announced
    }

    /// Returns the number of packets that are missing: at least one after the last that arrived, if that did not say that it
    /// was the last.
    fn missing(&self) -> u64 {
        let arrived = self.packets.len() as u64;
        let highest = self.packets.keys().next_back();
        let known = highest.map_or(0, |highest| u64::from(*highest) + 1);
        let all = self.announced.map_or(known + 1, u64::from);
        all.saturating_sub(arrived)
    }
}

/// Messages that have ended, so that repeated packets of theirs begin no others. They are remembered by a keyed hash.
#[derive(Debug, Default)]
struct Ended {
    hashes: HashSet<u64>,
    since: VecDeque<(Instant, u64)>,
    key: RandomState,
}

impl Ended {
    fn hash(&self, source: SocketAddr, id: &[u8]) -> u64 {
        self.key.hash_one((source, id))
    }

    fn has(&self, source: SocketAddr, id: &[u8]) -> bool {
        self.hashes.contains(&self.hash(source, id))
    }

    /// Remembers a message; returns `false` if it is known already.
    fn add(&mut self, source: SocketAddr, id: &[u8], now: Instant) -> bool {
        let hash = self.hash(source, id);
        if !self.hashes.insert(hash) {
            return false;
        }
        self.since.push_back((now, hash));
        if self.since.len() > REMEMBERED {
            self.forget_first();
        }
        true
    }

    fn forget_first(&mut self) {
        if let Some((_, hash)) = self.since.pop_front() {
            self.hashes.remove(&hash);
        }
    }

    fn forget_old(&mut self, now: Instant, age: Duration) {
        while let Some((since, _)) = self.since.front()
            && now.saturating_duration_since(*since) >= age
        {
            self.forget_first();
        }
    }
}

impl Assembly {
    pub(super) fn new(
        options: MiopOptions,
        filter: Option<MessageFilter>,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            options,
            filter,
            counters,
            under_way: HashMap::new(),
            order: BTreeMap::new(),
            next: 0,
            of_hosts: HashMap::new(),
            octets: 0,
            ended: Ended::default(),
        }
    }

    /// Returns the number of messages under way and the bytes that they take.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn held(&self) -> (usize, usize) {
        (self.under_way.len(), self.octets)
    }

    fn packet<'d>(
        &mut self,
        from: SocketAddr,
        packet: Packet<'d>,
        now: Instant,
    ) -> Option<Cow<'d, [u8]>> {
        if self.ended.has(from, packet.id) {
            add(&self.counters.repeated, 1);
            return None;
        }
        if packet.announced() == Some(1) && packet.number == 0 {
            return self.whole(from, packet, now);
        }
        let key = Key {
            source: from,
            id: packet.id.into(),
        };
        let (announced, most) = (packet.announced(), self.options.packets);
        if announced.is_some_and(|count| count > most) || packet.number >= most {
            return self.refuse(&key, now);
        }
        let Some(known) = self.under_way.get(&key) else {
            return self.begin(&key, packet, now);
        };
        let contradicts = |known: &Collection| {
            let beyond = known.announced.is_some_and(|count| packet.number >= count);
            let differs =
                matches!((known.announced, announced), (Some(one), Some(other)) if one != other);
            let highest = known.packets.last_key_value().map(|(at, _)| *at);
            let cuts = announced.is_some_and(|count| highest.is_some_and(|at| at >= count));
            beyond || differs || cuts
        };
        if contradicts(known) {
            add(&self.counters.malformed, 1);
            return None;
        }
        if known.packets.contains_key(&packet.number) {
            add(&self.counters.repeated, 1);
            return None;
        }
        self.add(&key, packet, now)
    }

    /// Passes on a message of one packet.
    fn whole<'d>(
        &mut self,
        from: SocketAddr,
        packet: Packet<'d>,
        now: Instant,
    ) -> Option<Cow<'d, [u8]>> {
        let key = Key {
            source: from,
            id: packet.id.into(),
        };
        if self.under_way.contains_key(&key) {
            add(&self.counters.malformed, 1);
            return None;
        }
        if packet.octets.len() > self.options.largest {
            return self.refuse(&key, now);
        }
        self.ended.add(from, packet.id, now);
        self.pass_on(Cow::Borrowed(packet.octets))
    }

    /// Begins a message of several packets, in place of the oldest if there are too many.
    fn begin<'d>(&mut self, key: &Key, packet: Packet<'d>, now: Instant) -> Option<Cow<'d, [u8]>> {
        let host = key.source.ip();
        let of_host = self.of_hosts.get(&host).copied().unwrap_or_default();
        if of_host >= self.options.messages_of_source {
            let oldest = self.order.iter().find(|(_, one)| one.source.ip() == host);
            if let Some(oldest) = oldest.map(|(_, key)| key.clone()) {
                self.give_up(&oldest);
            }
        }
        if self.under_way.len() >= self.options.messages {
            self.give_up_oldest_but(None);
        }
        let number = self.next;
        self.next += 1;
        self.order.insert(number, key.clone());
        *self.of_hosts.entry(host).or_default() += 1;
        let collection = Collection {
            number,
            begun: now,
            announced: None,
            packets: BTreeMap::new(),
            octets: 0,
        };
        self.under_way.insert(key.clone(), collection);
        self.add(key, packet, now)
    }

    /// Adds a packet to a message under way; returns the message if it is complete.
    fn add<'d>(&mut self, key: &Key, packet: Packet<'d>, now: Instant) -> Option<Cow<'d, [u8]>> {
        let known = self.under_way.get_mut(key)?;
        if known.octets + packet.octets.len() > self.options.largest {
            return self.refuse(key, now);
        }
        known.announced = known.announced.or(packet.announced());
        known.octets += packet.octets.len();
        known.packets.insert(packet.number, packet.octets.into());
        self.octets += packet.octets.len() + OVERHEAD;
        if known.is_complete() {
            let complete = self.remove(key)?;
            self.ended.add(key.source, &key.id, now);
            let mut message = Vec::with_capacity(complete.octets);
            for octets in complete.packets.into_values() {
                message.extend_from_slice(&octets);
            }
            return self.pass_on(Cow::Owned(message));
        }
        while self.octets > self.options.memory && self.give_up_oldest_but(Some(key)) {}
        if self.octets > self.options.memory {
            return self.refuse(key, now);
        }
        None
    }

    fn pass_on<'d>(&self, message: Cow<'d, [u8]>) -> Option<Cow<'d, [u8]>> {
        let is_wanted = match &self.filter {
            Some(filter) => filter(&message),
            None => !message.is_empty(),
        };
        match is_wanted {
            true => {
                add(&self.counters.messages, 1);
                Some(message)
            }
            false => {
                add(&self.counters.refused, 1);
                None
            }
        }
    }

    /// Drops a message that is over a limit, and what else arrives of it.
    fn refuse<'d>(&mut self, key: &Key, now: Instant) -> Option<Cow<'d, [u8]>> {
        self.remove(key);
        self.ended.add(key.source, &key.id, now);
        add(&self.counters.too_large, 1);
        None
    }

    /// Gives up the oldest message that is not `kept`; returns `false` if there is none.
    fn give_up_oldest_but(&mut self, kept: Option<&Key>) -> bool {
        let oldest = self.order.values().find(|key| Some(*key) != kept).cloned();
        match oldest {
            Some(oldest) => {
                self.give_up(&oldest);
                true
            }
            None => false,
        }
    }

    fn give_up(&mut self, key: &Key) {
        if let Some(lost) = self.remove(key) {
            add(&self.counters.incomplete, 1);
            add(&self.counters.lost_packets, lost.missing());
        }
    }

    fn remove(&mut self, key: &Key) -> Option<Collection> {
        let removed = self.under_way.remove(key)?;
        self.order.remove(&removed.number);
        self.octets -= removed.size();
        let host = key.source.ip();
        if let Some(count) = self.of_hosts.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                self.of_hosts.remove(&host);
            }
        }
        Some(removed)
    }
}

impl Intake for Assembly {
    fn take<'d>(
        &mut self,
        from: SocketAddr,
        datagram: &'d [u8],
        now: Instant,
    ) -> Option<Cow<'d, [u8]>> {
        add(&self.counters.datagrams, 1);
        let sources = &self.options.sources;
        if !sources.is_empty() && !sources.contains(&from.ip().to_canonical()) {
            add(&self.counters.unwanted, 1);
            return None;
        }
        match Packet::read(datagram) {
            Some(packet) => self.packet(from, packet, now),
            None => {
                add(&self.counters.malformed, 1);
                None
            }
        }
    }

    /// Gives up messages that are too old, and forgets those that ended long ago.
    fn look(&mut self, now: Instant) {
        let age = self.options.age;
        self.ended.forget_old(now, age);
        while let Some(oldest) = self.order.values().next().cloned() {
            let begun = self.under_way.get(&oldest).map(|one| one.begun);
            if begun.is_some_and(|begun| now.saturating_duration_since(begun) < age) {
                return;
            }
            self.give_up(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
