//! Assembly of messages from packets that any host may send. Without a socket.
//!
//! Every quantity that a sender controls is bounded: the packets that a message announces, its octets, the messages under
//! way from one host and from all, the memory that they take by host and together, and their age. Memory grows with what
//! arrives, not with what is announced. Packets of one message have one sender and one id.

mod collection;
mod hosts;

use super::counts::{Counters, add};
use super::options::MiopOptions;
use super::packet::Packet;
use crate::datagram::Intake;
use collection::Collection;
use hosts::Hosts;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

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
    hosts: Hosts,
    /// Bytes of all messages under way, with the overhead.
    octets: usize,
}

/// Identity of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    source: SocketAddr,
    id: Box<[u8]>,
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
            hosts: Hosts::default(),
            octets: 0,
        }
    }

    /// Returns the number of messages under way and the bytes that they take.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn held(&self) -> (usize, usize) {
        (self.under_way.len(), self.octets)
    }

    /// Returns the number of hosts of which something is kept, and of their messages that are remembered.
    #[cfg(feature = "fuzzing")]
    pub(super) fn remembered(&self) -> (usize, usize) {
        self.hosts.held()
    }

    fn packet<'d>(
        &mut self,
        from: SocketAddr,
        packet: Packet<'d>,
        now: Instant,
    ) -> Option<Cow<'d, [u8]>> {
        if self.hosts.has_ended(from, packet.id) {
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
        if known.contradicts(&packet) {
            add(&self.counters.malformed, 1);
            return None;
        }
        if known.has(packet.number) {
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
        self.hosts.remember(from, packet.id, now);
        self.pass_on(Cow::Borrowed(packet.octets))
    }

    /// Begins a message of several packets, in place of the oldest if there are too many.
    fn begin<'d>(&mut self, key: &Key, packet: Packet<'d>, now: Instant) -> Option<Cow<'d, [u8]>> {
        let host = key.source.ip();
        if self.hosts.under_way(host).0 >= self.options.messages_of_source {
            let oldest = self.hosts.oldest_but(host, None);
            self.displace(oldest, now);
        }
        if self.under_way.len() >= self.options.messages {
            self.displace(self.oldest_but(None), now);
        }
        let number = self.next;
        self.next += 1;
        self.order.insert(number, key.clone());
        self.hosts.begin(host, number);
        let collection = Collection::new(number, now);
        self.under_way.insert(key.clone(), collection);
        add(&self.counters.under_way, 1);
        self.add(key, packet, now)
    }

    /// Adds a packet to a message under way; returns the message if it is complete.
    fn add<'d>(&mut self, key: &Key, packet: Packet<'d>, now: Instant) -> Option<Cow<'d, [u8]>> {
        let known = self.under_way.get_mut(key)?;
        if known.octets() + packet.octets.len() > self.options.largest {
            return self.refuse(key, now);
        }
        let (octets, number, host) = (known.add(packet), known.number, key.source.ip());
        let is_complete = known.is_complete();
        self.octets += octets;
        self.hosts.charge(host, octets);
        add(&self.counters.under_way_octets, octets as u64);
        if is_complete {
            let complete = self.remove(key)?;
            self.hosts.remember(key.source, &key.id, now);
            return self.pass_on(Cow::Owned(complete.into_message()));
        }
        let (memory, of_source) = (self.options.memory, self.options.memory_of_source);
        while self.hosts.under_way(host).1 > of_source
            && self.displace(self.hosts.oldest_but(host, Some(number)), now)
        {}
        while self.octets > memory && self.displace(self.oldest_but(Some(number)), now) {}
        if self.octets > memory || self.hosts.under_way(host).1 > of_source {
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
        self.hosts.remember(key.source, &key.id, now);
        add(&self.counters.too_large, 1);
        None
    }

    /// Returns the number of the oldest message under way that is not `kept`.
    fn oldest_but(&self, kept: Option<u64>) -> Option<u64> {
        let mut from_oldest = self.order.keys().copied();
        from_oldest.find(|number| Some(*number) != kept)
    }

    /// Gives up the message of a number, for which there is no room, and what else arrives of it; returns `false` if there is
    /// none.
    fn displace(&mut self, number: Option<u64>, now: Instant) -> bool {
        let Some(key) = number.and_then(|number| self.order.get(&number)).cloned() else {
            return false;
        };
        let Some(displaced) = self.remove(&key) else {
            return false;
        };
        self.hosts.remember(key.source, &key.id, now);
        add(&self.counters.displaced, 1);
        add(&self.counters.lost_packets, displaced.missing());
        true
    }

    /// Gives up a message that is too old, and what else arrives of it.
    fn give_up(&mut self, key: &Key, now: Instant) {
        if let Some(lost) = self.remove(key) {
            self.hosts.remember(key.source, &key.id, now);
            add(&self.counters.incomplete, 1);
            add(&self.counters.lost_packets, lost.missing());
        }
    }

    fn remove(&mut self, key: &Key) -> Option<Collection> {
        let removed = self.under_way.remove(key)?;
        self.order.remove(&removed.number);
        let octets = removed.size();
        self.octets -= octets;
        self.hosts.end(key.source.ip(), removed.number, octets);
        self.no_longer_under_way(1, octets);
        Some(removed)
    }

    fn no_longer_under_way(&self, messages: usize, octets: usize) {
        let counters = &self.counters;
        let (messages, octets) = (messages as u64, octets as u64);
        counters.under_way.fetch_sub(messages, Ordering::Relaxed);
        counters
            .under_way_octets
            .fetch_sub(octets, Ordering::Relaxed);
    }
}

impl Drop for Assembly {
    /// The counters are those of all acceptors of the link.
    fn drop(&mut self) {
        self.no_longer_under_way(self.under_way.len(), self.octets);
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
        self.hosts.forget_old(now, age);
        while let Some(oldest) = self.order.values().next().cloned() {
            let begun = self.under_way.get(&oldest).map(|one| one.begun);
            if begun.is_some_and(|begun| now.saturating_duration_since(begun) < age) {
                return;
            }
            self.give_up(&oldest, now);
        }
    }
}

#[cfg(test)]
mod tests;
