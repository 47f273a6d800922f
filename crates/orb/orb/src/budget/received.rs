//! Octets of long messages that have been received, of all connections of an ORB: messages that are half here, and
//! those whose requests or replies are in progress.
//!
//! A limit on one connection does not bound what thousands of them hold. So each says what it holds beyond a little,
//! and where that is more than fits, the connection goes that holds most of the peer that holds most: one peer never
//! has more than three quarters, and what peers hold whose messages are short is not counted at all.

use crate::sync::{self, Mutex};
use punctual_link::{Address, Link};
use std::collections::HashMap;
use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::{Arc, Weak};

/// What a connection holds without being counted, in octets.
const FREE: usize = 16 * 1024;

/// A connection that can be ended to make room.
pub(crate) trait Evictable: Send + Sync + Debug {
    /// Ends it, without waiting for anybody and without a word to the log; the reason is for people.
    fn evict(&self, reason: &str);

    /// Logs that it was ended.
    fn log_eviction(&self, reason: &str);
}

/// Connections that were ended. Logged when dropped.
#[derive(Debug)]
pub(crate) struct Evicted {
    connections: Vec<Arc<dyn Evictable>>,
    reason: NoRoom,
}

impl Drop for Evicted {
    fn drop(&mut self) {
        for connection in &self.connections {
            connection.log_eviction(&self.reason.to_string());
        }
    }
}

/// Whose connections count together: those of one host, of an IPv6 network of 64 bits, or all of a link whose clients
/// choose their own addresses, as they do where it is local, or by forged datagrams.
pub(crate) fn host_of(link: &dyn Link, peer: &Address) -> Arc<str> {
    let is_asked_back = !link.is_local() && link.guarantees().reliable;
    match peer.host_and_port().filter(|_| is_asked_back) {
        Some((host, _)) => network(host),
        None => peer.link().into(),
    }
}

fn network(host: &str) -> Arc<str> {
    match host.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
        Ok(IpAddr::V6(ip)) => {
            let [a, b, c, d, ..] = ip.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64").into()
        }
        Ok(ip) => ip.to_string().into(),
        Err(_) => host.into(),
    }
}

/// There is no room for what a peer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "what all peers have sent, and this one more than others, does not fit into {limit} octets (limits.received)"
)]
pub(crate) struct NoRoom {
    limit: usize,
}

/// What all connections of an ORB hold.
#[derive(Debug)]
pub(crate) struct Received {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    total: usize,
    next: u64,
    holders: HashMap<u64, Holder>,
    /// Octets by peer.
    peers: HashMap<Arc<str>, usize>,
}

#[derive(Debug)]
struct Holder {
    octets: usize,
    peer: Arc<str>,
    /// What would be ended; `None` for a request or reply in progress.
    connection: Option<Weak<dyn Evictable>>,
    /// Whether it has been.
    evicted: bool,
}

impl Received {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    /// What one connection is to say what it holds to.
    pub(crate) fn account(
        self: &Arc<Self>,
        peer: Arc<str>,
        connection: Weak<dyn Evictable>,
    ) -> Account {
        Account {
            of: self.clone(),
            peer,
            connection,
            hold: None,
            evicted: Vec::new(),
        }
    }

    /// A message of a peer's is to be kept that was received without being counted.
    ///
    /// # Errors
    /// [`NoRoom`]: nothing is ended for it.
    pub(crate) fn keeps(
        self: &Arc<Self>,
        peer: &Arc<str>,
        octets: usize,
    ) -> Result<Option<Hold>, NoRoom> {
        if octets <= FREE {
            return Ok(None);
        }
        let limit = self.limit;
        let number = {
            let mut state = sync::lock(&self.state);
            let of_peer = state.of_peer(peer) + octets;
            if of_peer > limit - limit / 4 || state.total + octets > limit {
                return Err(NoRoom { limit });
            }
            state.begin(peer, None, octets)
        };
        let of = self.clone();
        Ok(Some(Hold { of, number }))
    }

    /// What is held now, as far as it is counted.
    #[cfg(test)]
    fn total(&self) -> usize {
        sync::lock(&self.state).total
    }

    fn begin(
        self: &Arc<Self>,
        peer: &Arc<str>,
        connection: Option<Weak<dyn Evictable>>,
        octets: usize,
    ) -> Hold {
        let number = sync::lock(&self.state).begin(peer, connection, octets);
        Hold {
            of: self.clone(),
            number,
        }
    }
}

impl State {
    fn begin(
        &mut self,
        peer: &Arc<str>,
        connection: Option<Weak<dyn Evictable>>,
        octets: usize,
    ) -> u64 {
        let number = self.next;
        self.next += 1;
        let holder = Holder {
            octets: 0,
            peer: peer.clone(),
            connection,
            evicted: false,
        };
        self.holders.insert(number, holder);
        self.change(number, octets);
        number
    }

    /// Notes what a holder holds now.
    fn change(&mut self, number: u64, octets: usize) {
        let Some(holder) = self.holders.get_mut(&number) else {
            return;
        };
        let before = std::mem::replace(&mut holder.octets, octets);
        self.total = self.total - before + octets;
        let of_peer = self.peers.entry(holder.peer.clone()).or_default();
        *of_peer = *of_peer - before + octets;
        if *of_peer == 0 {
            self.peers.remove(&holder.peer);
        }
    }

    fn of_peer(&self, peer: &Arc<str>) -> usize {
        self.peers.get(peer).copied().unwrap_or_default()
    }

    /// Lets a holder hold so much; those to be evicted for that, or `None` where it is the one that has to go.
    fn grow(
        &mut self,
        limit: usize,
        number: u64,
        octets: usize,
    ) -> Option<Vec<Weak<dyn Evictable>>> {
        let holder = self.holders.get(&number)?;
        if holder.evicted {
            return None;
        }
        let peer = holder.peer.clone();
        let before = holder.octets;
        self.change(number, octets);
        if octets <= before {
            return Some(Vec::new());
        }
        let mut evicted = Vec::new();
        loop {
            let is_over_share = self.of_peer(&peer) > limit - limit / 4;
            if !is_over_share && self.total <= limit {
                return Some(evicted);
            }
            let victim = self.victim(is_over_share.then_some(&peer));
            match victim {
                Some(victim) if victim != number => evicted.extend(self.end(victim)),
                _ => {
                    self.change(number, before);
                    if let Some(holder) = self.holders.get_mut(&number) {
                        holder.evicted = true;
                    }
                    return None;
                }
            }
        }
    }

    /// The largest holder that can go of the peer that holds most, or of this peer.
    fn victim(&self, of: Option<&Arc<str>>) -> Option<u64> {
        let can_go = self.holders.iter().filter(|(_, holder)| {
            holder.connection.is_some()
                && holder.octets > 0
                && of.is_none_or(|peer| holder.peer == *peer)
        });
        let largest = can_go
            .max_by_key(|(number, holder)| (self.of_peer(&holder.peer), holder.octets, **number));
        largest.map(|(&number, _)| number)
    }

    fn end(&mut self, number: u64) -> Option<Weak<dyn Evictable>> {
        self.change(number, 0);
        let holder = self.holders.get_mut(&number)?;
        holder.evicted = true;
        holder.connection.take()
    }
}

/// One connection's account of what it has received.
#[derive(Debug)]
pub(crate) struct Account {
    of: Arc<Received>,
    peer: Arc<str>,
    connection: Weak<dyn Evictable>,
    /// There while it is more than a little.
    hold: Option<Hold>,
    /// Connections that went for this one's sake, and of which nothing has been logged yet.
    evicted: Vec<Evicted>,
}

impl Account {
    /// The connection holds so much now. May end another, to make room.
    ///
    /// # Errors
    /// [`NoRoom`]: this is the one that has to go.
    #[inline]
    pub(crate) fn holds(&mut self, octets: usize) -> Result<(), NoRoom> {
        match octets <= FREE {
            true if self.hold.is_none() => Ok(()),
            true => {
                self.hold = None;
                Ok(())
            }
            false => self.holds_much(octets),
        }
    }

    #[cold]
    fn holds_much(&mut self, octets: usize) -> Result<(), NoRoom> {
        let hold = match &mut self.hold {
            Some(hold) => hold,
            none => {
                let connection = Some(self.connection.clone());
                none.insert(self.of.begin(&self.peer, connection, 0))
            }
        };
        let evicted = hold.set(octets)?;
        if !evicted.connections.is_empty() {
            self.evicted.push(evicted);
        }
        Ok(())
    }

    /// What of others is to be logged, by dropping it: where no lock is held, as a subscriber may call by the very
    /// connection whose account this is.
    #[inline]
    pub(crate) fn take_evicted(&mut self) -> Vec<Evicted> {
        std::mem::take(&mut self.evicted)
    }

    /// A message of so many octets goes from the connection to who serves it; so many are left.
    pub(crate) fn hands_on(&mut self, octets: usize, left: usize) -> Option<Hold> {
        let served = {
            let is_counted = self.hold.is_some() || octets > FREE;
            let mut state = is_counted.then(|| sync::lock(&self.of.state))?;
            if let Some(hold) = &self.hold {
                state.change(hold.number, left);
            }
            (octets > FREE).then(|| state.begin(&self.peer, None, octets))
        };
        if left <= FREE {
            self.hold = None;
        }
        let of = self.of.clone();
        served.map(|number| Hold { of, number })
    }
}

/// Octets that are held, until dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    of: Arc<Received>,
    number: u64,
}

impl Hold {
    fn set(&mut self, octets: usize) -> Result<Evicted, NoRoom> {
        let limit = self.of.limit;
        let evicted = sync::lock(&self.of.state).grow(limit, self.number, octets);
        let reason = NoRoom { limit };
        let evicted = evicted.ok_or(reason)?;
        let connections: Vec<_> = evicted.iter().filter_map(Weak::upgrade).collect();
        for connection in &connections {
            connection.evict(&reason.to_string());
        }
        Ok(Evicted {
            connections,
            reason,
        })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = sync::lock(&self.of.state);
        state.change(self.number, 0);
        state.holders.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_link::diop::Diop;
    use punctual_link::iiop::Iiop;
    use punctual_link::uiop::Uiop;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[derive(Debug, Default)]
    struct Connection(AtomicBool);

    impl Evictable for Connection {
        fn evict(&self, reason: &str) {
            assert!(reason.contains("limits.received"), "{reason}");
            self.0.store(true, Ordering::Relaxed);
        }

        fn log_eviction(&self, _: &str) {}
    }

    impl Connection {
        fn has_gone(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    const MIB: usize = 1 << 20;

    fn peers(received: &Arc<Received>, names: &[&str]) -> Vec<(Arc<Connection>, Account)> {
        let one = |name: &&str| {
            let connection = Arc::new(Connection::default());
            let this: Arc<dyn Evictable> = connection.clone();
            let account = received.account((*name).into(), Arc::downgrade(&this));
            (connection, account)
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn the_peer_that_holds_most_makes_room_and_the_other_is_served() {
        let received = Arc::new(Received::new(8 * MIB));
        let mut peers = peers(&received, &["hostile", "hostile", "hostile", "kind"]);
        for (_, account) in &mut peers[..3] {
            assert_eq!(account.holds(2 * MIB), Ok(()));
        }
        let (kind, account) = &mut peers[3];
        assert_eq!(account.holds(3 * MIB), Ok(()));
        assert!(!kind.has_gone());
        let gone = peers.iter().filter(|(one, _)| one.has_gone()).count();
        assert_eq!(gone, 1);
        // The one that was ended may hold nothing more.
        for (one, account) in &mut peers {
            assert_eq!(account.holds(2 * MIB).is_err(), one.has_gone());
        }
        assert_eq!(received.total(), 6 * MIB);
        drop(peers);
        assert_eq!(received.total(), 0);
        assert!(sync::lock(&received.state).peers.is_empty());
    }

    #[test]
    fn one_peer_has_three_quarters_at_most() {
        let received = Arc::new(Received::new(8 * MIB));
        let mut peers = peers(&received, &["one", "one"]);
        assert_eq!(peers[0].1.holds(5 * MIB), Ok(()));
        // The larger of the two goes.
        assert_eq!(peers[1].1.holds(2 * MIB), Ok(()));
        assert!(peers[0].0.has_gone());
        assert!(peers[1].1.holds(7 * MIB).is_err());
    }

    #[test]
    fn what_is_in_progress_counts_and_stays() {
        let received = Arc::new(Received::new(8 * MIB));
        let mut peers = peers(&received, &["one", "other"]);
        assert_eq!(peers[0].1.holds(5 * MIB), Ok(()));
        let served = peers[0].1.hands_on(5 * MIB, 0);
        assert_eq!(received.total(), 5 * MIB);
        assert!(served.is_some() && peers[0].1.hands_on(FREE, 0).is_none());
        assert!(peers[1].1.holds(4 * MIB).is_err());
        drop(served);
        assert_eq!(peers[0].1.holds(4 * MIB), Ok(()));
    }

    #[test]
    fn clients_that_choose_their_addresses_cannot_pass_for_others() {
        let of = |link: &dyn Link, place| host_of(link, &Address::new(link.name(), place));
        let (tcp, unix) = (Iiop::default(), Uiop::default());
        assert_eq!(&*of(&tcp, "10.0.0.1:7"), "10.0.0.1");
        assert_eq!(&*of(&tcp, "[::ffff:10.0.0.1]:7"), "10.0.0.1");
        assert_eq!(&*of(&tcp, "[2001:db8:1:2:3:4:5:6]:7"), "2001:db8:1:2::/64");
        assert_eq!(&*of(&unix, "x:1"), "uiop");
        assert_eq!(&*of(&Diop::default(), "10.0.0.1:7"), "diop");
    }

    #[test]
    fn short_messages_are_not_counted() {
        let received = Arc::new(Received::new(0));
        let mut peers = peers(&received, &["one"]);
        assert_eq!(peers[0].1.holds(FREE), Ok(()));
        assert!(peers[0].1.holds(FREE + 1).is_err());
    }
}
