//! Messages that each host has under way, and the ids of those that have ended, so that repeated packets of theirs begin no
//! others.
//!
//! Each host has a window of ids of its own: messages of one, however many, do not make those of another be forgotten. A
//! host of which nothing is remembered and nothing is under way takes no memory.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Number of ended messages of one host that are remembered.
pub(super) const IDS: usize = 1024;
/// Number of hosts of which ended messages are remembered. One more takes the place of that with the fewest ids.
pub(super) const HOSTS: usize = 128;

/// All hosts, by their addresses.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    table: HashMap<IpAddr, Host>,
    /// Number of hosts of which ended messages are remembered.
    remembered: usize,
    /// Key of the hashes of ids, of which forged ones could be made otherwise.
    key: RandomState,
}

/// One host.
#[derive(Debug, Default)]
struct Host {
    /// Numbers of the messages under way, the oldest first.
    under_way: BTreeSet<u64>,
    /// Bytes of those messages, with overhead.
    octets: usize,
    ended: Ended,
}

/// Messages that have ended, by a keyed hash of their port and id.
#[derive(Debug, Default)]
struct Ended {
    hashes: HashSet<u64>,
    since: VecDeque<(Instant, u64)>,
}

impl Host {
    fn is_unused(&self) -> bool {
        self.under_way.is_empty() && self.ended.since.is_empty()
    }
}

impl Ended {
    fn add(&mut self, hash: u64, now: Instant) {
        if self.hashes.insert(hash) {
            self.since.push_back((now, hash));
            if self.since.len() > IDS {
                self.forget_first();
            }
        }
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

impl Hosts {
    /// Returns the number of messages that a host has under way, and the bytes that they take.
    pub(super) fn under_way(&self, host: IpAddr) -> (usize, usize) {
        let known = self.table.get(&host);
        known.map_or((0, 0), |known| (known.under_way.len(), known.octets))
    }

    /// Returns the number of a host's oldest message under way that is not `kept`.
    pub(super) fn oldest_but(&self, host: IpAddr, kept: Option<u64>) -> Option<u64> {
        let mut from_oldest = self.table.get(&host)?.under_way.iter().copied();
        from_oldest.find(|number| Some(*number) != kept)
    }

    /// Counts a message that has begun.
    pub(super) fn begin(&mut self, host: IpAddr, number: u64) {
        self.table.entry(host).or_default().under_way.insert(number);
    }

    /// Counts bytes of a host's messages under way.
    pub(super) fn charge(&mut self, host: IpAddr, octets: usize) {
        if let Some(known) = self.table.get_mut(&host) {
            known.octets += octets;
        }
    }

    /// Counts a message, which took these bytes, as no longer under way.
    pub(super) fn end(&mut self, host: IpAddr, number: u64, octets: usize) {
        if let Some(known) = self.table.get_mut(&host) {
            known.under_way.remove(&number);
            known.octets -= octets;
            if known.is_unused() {
                self.table.remove(&host);
            }
        }
    }

    fn hash(&self, source: SocketAddr, id: &[u8]) -> u64 {
        self.key.hash_one((source.port(), id))
    }

    /// Returns whether a message is known to have ended.
    pub(super) fn has_ended(&self, source: SocketAddr, id: &[u8]) -> bool {
        let known = self.table.get(&source.ip());
        known.is_some_and(|known| known.ended.hashes.contains(&self.hash(source, id)))
    }

    /// Remembers that a message has ended.
    pub(super) fn remember(&mut self, source: SocketAddr, id: &[u8], now: Instant) {
        let (host, hash) = (source.ip(), self.hash(source, id));
        let remembered = |known: &Host| !known.ended.since.is_empty();
        if !self.table.get(&host).is_some_and(remembered) {
            if self.remembered >= HOSTS {
                self.forget_the_host_with_the_fewest();
            }
            self.remembered += 1;
        }
        self.table.entry(host).or_default().ended.add(hash, now);
    }

    /// Forgets the ended messages of the host that has the fewest; of hosts with as few, of that whose last one is the oldest.
    /// Hosts that send much are so not displaced by many that have sent one message.
    fn forget_the_host_with_the_fewest(&mut self) {
        let ended = self.table.iter().filter_map(|(host, known)| {
            let (last, _) = known.ended.since.back()?;
            Some((known.ended.since.len(), *last, *host))
        });
        let Some((_, _, host)) = ended.min_by_key(|(number, last, _)| (*number, *last)) else {
            return;
        };
        if let Some(known) = self.table.get_mut(&host) {
            known.ended = Ended::default();
            if known.is_unused() {
                self.table.remove(&host);
            }
        }
        self.remembered -= 1;
    }

    /// Forgets messages that ended longer ago than `age`.
    pub(super) fn forget_old(&mut self, now: Instant, age: Duration) {
        let mut remembered = 0;
        self.table.retain(|_, known| {
            known.ended.forget_old(now, age);
            remembered += usize::from(!known.ended.since.is_empty());
            !known.is_unused()
        });
        self.remembered = remembered;
    }

    /// Returns the number of hosts, and of the messages that are remembered.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn held(&self) -> (usize, usize) {
        let ended = self.table.values().map(|known| known.ended.since.len());
        (self.table.len(), ended.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(host: u32, port: u16) -> SocketAddr {
        (host.to_be_bytes(), port).into()
    }

    #[test]
    fn one_hosts_messages_do_not_make_those_of_another_be_forgotten() {
        let (mut hosts, now) = (Hosts::default(), Instant::now());
        hosts.remember(of(1, 1), b"own", now);
        for id in 0..5000u32 {
            hosts.remember(of(2, (id % 60_000) as u16), &id.to_ne_bytes(), now);
        }
        assert!(hosts.has_ended(of(1, 1), b"own"));
        assert!(!hosts.has_ended(of(1, 2), b"own") && !hosts.has_ended(of(2, 1), b"own"));
        assert_eq!(hosts.held(), (2, 1 + IDS));
        // The host's own oldest have made room.
        let has = |id: u32| hosts.has_ended(of(2, id as u16), &id.to_ne_bytes());
        assert!(has(4999) && has(5000 - IDS as u32) && !has(4999 - IDS as u32));
    }

    #[test]
    fn hosts_are_bounded_and_those_with_few_messages_make_room() {
        let (mut hosts, now) = (Hosts::default(), Instant::now());
        for id in [b"a", b"b"] {
            hosts.remember(of(1, 1), id, now);
        }
        for host in 2..5000 {
            hosts.remember(of(host, 1), b"one", now);
            assert!(hosts.held().0 <= HOSTS);
        }
        assert!(hosts.has_ended(of(1, 1), b"a"));
        assert_eq!(hosts.held(), (HOSTS, 2 + HOSTS - 1));
        let age = Duration::from_secs(1);
        hosts.forget_old(now + age / 2, age);
        assert_eq!(hosts.held().0, HOSTS);
        hosts.forget_old(now + age, age);
        assert_eq!((hosts.held(), hosts.remembered), ((0, 0), 0));
    }
}
