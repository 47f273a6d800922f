//! Usage of the budget, by holder and by peer, and the choice of who makes room.
//!
//! A connection that is closed to make room is *leaving*: its bytes count until the thread that
//! holds them has freed them. Choosing ignores them, so that no more connections are closed than
//! necessary.

use super::evictable::Evictable;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Memory use of all connections and of requests in progress.
#[derive(Debug, Default)]
pub(super) struct AllUsage {
    all: Usage,
    next: u64,
    holders: HashMap<u64, Holder>,
    peers: HashMap<Arc<str>, Usage>,
}

/// Number of bytes in use, in total or by one peer.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    octets: usize,
    /// Part of `octets`, in bytes, that will soon be freed.
    leaving: usize,
}

#[derive(Debug)]
struct Holder {
    octets: usize,
    peer: Arc<str>,
    /// Connection that would be closed; `None` for a request in progress, and once it is closed.
    connection: Option<Weak<dyn Evictable>>,
    /// True if the connection was closed to make room.
    is_leaving: bool,
}

/// Result of a holder's request for more memory.
#[derive(Debug)]
pub(super) enum Growth {
    /// There is room, once the connections that make it, some of which are to be closed now, have
    /// freed their bytes.
    After(Vec<Weak<dyn Evictable>>),
    /// The holder may use the memory at once.
    Granted,
    /// There is none: the holder must free its bytes.
    Refused,
}

impl Usage {
    fn staying(self) -> usize {
        self.octets - self.leaving
    }

    fn change(&mut self, before: usize, after: usize, is_leaving: bool) {
        self.octets = self.octets - before + after;
        if is_leaving {
            self.leaving = self.leaving - before + after;
        }
    }
}

impl AllUsage {
    /// Returns the number of bytes in use by all holders.
    pub(super) fn total(&self) -> usize {
        self.all.octets
    }

    /// Returns whether no memory use is recorded.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.holders.is_empty() && self.peers.is_empty()
    }

    /// Adds a holder, without asking whether there is room.
    pub(super) fn add(
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
            is_leaving: false,
        };
        self.holders.insert(number, holder);
        self.change(number, octets);
        number
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.change(number, 0);
        self.holders.remove(&number);
    }

    /// Sets the number of bytes that the given holder uses.
    pub(super) fn change(&mut self, number: u64, octets: usize) {
        let Some(holder) = self.holders.get_mut(&number) else {
            return;
        };
        let before = std::mem::replace(&mut holder.octets, octets);
        self.all.change(before, octets, holder.is_leaving);
        let of_peer = self.peers.entry(holder.peer.clone()).or_default();
        of_peer.change(before, octets, holder.is_leaving);
        if of_peer.octets == 0 {
            self.peers.remove(&holder.peer);
        }
    }

    /// Returns `true` if `octets` more of a peer fit.
    pub(super) fn has_room(&self, limit: usize, peer: &Arc<str>, octets: usize) -> bool {
        let of_peer = self.of_peer(peer).octets.saturating_add(octets);
        of_peer <= share(limit) && self.all.octets.saturating_add(octets) <= limit
    }

    /// Returns `true` if a holder was closed to make room.
    pub(super) fn is_leaving(&self, number: u64) -> bool {
        let holder = self.holders.get(&number);
        holder.is_none_or(|holder| holder.is_leaving)
    }

    /// Sets the usage of a holder that may grow, and chooses who makes room for it.
    pub(super) fn grow(&mut self, limit: usize, number: u64, octets: usize) -> Growth {
        let Some(holder) = self.holders.get(&number) else {
            return Growth::Refused;
        };
        let (peer, before) = (holder.peer.clone(), holder.octets);
        let was_leaving = holder.is_leaving;
        self.change(number, octets);
        if was_leaving {
            return Growth::Refused;
        }
        if octets <= before {
            return Growth::Granted;
        }
        let mut leaving = Vec::new();
        loop {
            let is_over_share = self.of_peer(&peer).staying() > share(limit);
            if !is_over_share && self.all.staying() <= limit {
                break;
            }
            match self.victim(is_over_share.then_some(&peer), number) {
                Some(victim) if victim != number => leaving.extend(self.leave(victim)),
                _ => {
                    self.leave(number);
                    return Growth::Refused;
                }
            }
        }
        match leaving.is_empty() && self.all.octets <= limit {
            true => Growth::Granted,
            false => Growth::After(leaving),
        }
    }

    /// Records that a holder will soon free its bytes; returns the connection to be closed.
    pub(super) fn leave(&mut self, number: u64) -> Option<Weak<dyn Evictable>> {
        let holder = self.holders.get_mut(&number)?;
        if std::mem::replace(&mut holder.is_leaving, true) {
            return None;
        }
        self.all.leaving += holder.octets;
        if let Some(of_peer) = self.peers.get_mut(&holder.peer) {
            of_peer.leaving += holder.octets;
        }
        holder.connection.take()
    }

    /// Returns the largest holder of the peer with the highest usage, or of the given peer, among
    /// those that can be closed and the one that grows.
    fn victim(&self, of: Option<&Arc<str>>, growing: u64) -> Option<u64> {
        let can_go = self.holders.iter().filter(|(number, holder)| {
            (holder.connection.is_some() || **number == growing)
                && !holder.is_leaving
                && holder.octets > 0
                && of.is_none_or(|peer| holder.peer == *peer)
        });
        let largest = can_go.max_by_key(|(number, holder)| {
            let of_peer = self.of_peer(&holder.peer).staying();
            (of_peer, holder.octets, **number)
        });
        largest.map(|(&number, _)| number)
    }

    fn of_peer(&self, peer: &Arc<str>) -> Usage {
        self.peers.get(peer).copied().unwrap_or_default()
    }
}

/// Returns the part of the budget that one peer may use.
fn share(limit: usize) -> usize {
    limit - limit / 4
}
