//! Budget of received bytes of long messages, over all connections of an ORB: messages that are
//! partly received, and messages whose requests or replies are in progress.
//!
//! A limit on one connection does not bound the total of thousands. So each connection reports its
//! usage beyond a free allowance. If the total exceeds the limit, the largest connection of the
//! largest peer is closed: one peer never has more than three quarters, and peers with short
//! messages only are not counted at all.

use crate::sync::{self, Mutex};
use punctual_link::{Address, Link};
use std::collections::HashMap;
use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::{Arc, Weak};

/// Bytes that a connection may hold without being counted.
const FREE: usize = 16 * 1024;

/// Connection that can be closed to make room.
pub(crate) trait Evictable: Send + Sync + Debug {
    /// Closes the connection, without blocking and without logging; `reason` is human-readable.
    fn evict(&self, reason: &str);

    /// Logs that the connection was closed to make room.
    fn log_eviction(&self, reason: &str);
}

/// Connections that were closed to make room. Dropping this value logs them.
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

/// Returns the name of the group of connections that are counted together: those of one host, of an
/// IPv6 network of 64 bits, or of a whole link whose clients choose their own addresses, such as
/// local links and datagrams, whose sender can be forged.
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

/// Error: there is no room for a peer's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the received data of all peers, of which this one has the largest part, exceeds {limit} bytes (limits.received)"
)]
pub(crate) struct NoRoom {
    limit: usize,
}

/// Usage of all connections of an ORB.
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
    /// Number of bytes by peer.
    peers: HashMap<Arc<str>, usize>,
}

#[derive(Debug)]
struct Holder {
    octets: usize,
    peer: Arc<str>,
    /// Connection to close when this holder is evicted; `None` for a request or reply in progress,
    /// which cannot be.
    connection: Option<Weak<dyn Evictable>>,
    /// True if the connection was closed to make room.
    evicted: bool,
}

impl Received {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    /// Makes the account to which one connection reports its usage.
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

    /// Charges a message of a peer that was received without being counted and is to be kept.
    ///
    /// # Errors
    /// [`NoRoom`]: no connection is closed for it.
    pub(crate) fn charge(
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

    /// Returns the number of counted bytes in use.
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

    /// Sets the number of bytes that a holder uses.
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

    /// Sets the number of bytes that a growing holder uses. Returns the connections to be closed to
    /// make room, or `None` if the holder itself must be closed.
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

    /// Returns the largest closable holder of the peer with the highest usage, or of the given
    /// peer.
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

/// One connection's account of the data that it has received.
#[derive(Debug)]
pub(crate) struct Account {
    of: Arc<Received>,
    peer: Arc<str>,
    connection: Weak<dyn Evictable>,
    /// Charge for the usage; present while it exceeds the free allowance.
    hold: Option<Hold>,
    /// Connections that were closed to make room for this one and are not logged yet.
    evicted: Vec<Evicted>,
}

impl Account {
    /// Sets the connection's usage to `octets` bytes. May close another connection to make room.
    ///
    /// # Errors
    /// [`NoRoom`]: this connection must be closed.
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

    /// Returns the evicted connections; dropping the result logs them. Drop it without holding a
    /// lock, as a log subscriber may make a call over this account's own connection.
    #[inline]
    pub(crate) fn take_evicted(&mut self) -> Vec<Evicted> {
        std::mem::take(&mut self.evicted)
    }

    /// Transfers a message of `octets` bytes from the connection to the code that serves it; `left`
    /// bytes remain.
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

/// Charge of a number of bytes to the budget, released when dropped.
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
        fn count_closed(&self) -> bool {
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
        assert!(!kind.count_closed());
        let gone = peers.iter().filter(|(one, _)| one.count_closed()).count();
        assert_eq!(gone, 1);
        // A closed connection may hold nothing more.
        for (one, account) in &mut peers {
            assert_eq!(account.holds(2 * MIB).is_err(), one.count_closed());
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
        // The larger of the two is closed.
        assert_eq!(peers[1].1.holds(2 * MIB), Ok(()));
        assert!(peers[0].0.count_closed());
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
