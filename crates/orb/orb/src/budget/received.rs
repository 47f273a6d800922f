//! Budget of the bytes of long messages, over all connections of an ORB: messages received in part,
//! those whose requests or replies are in progress, and replies that have not been sent.
//!
//! A limit on one connection does not bound the total of thousands. So each connection reports its
//! usage beyond a free allowance. If the total exceeds the limit, the largest connection of the
//! largest peer is closed: one peer never has more than three quarters, and peers with short
//! messages only are not counted at all. The bytes of a closed connection count until its thread
//! has freed them, and a thread that needs the room waits for that.

use super::evictable::Evictable;
use super::usage::{AllUsage, Growth};
use crate::sync::{self, Mutex};
use std::fmt::Debug;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Number of bytes that each connection may hold without being counted.
pub(crate) const FREE: usize = 16 * 1024;
/// Maximum time for closed connections to free their bytes. Only a thread that gets no processor
/// takes long.
const FREED_WITHIN: Duration = Duration::from_secs(10);

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

/// Error: there is no room for a peer's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the received data and unsent replies of all peers, of which this one has the largest part, exceed {limit} bytes (limits.received)"
)]
pub(crate) struct NoRoom {
    limit: usize,
}

/// Memory used for received data and unsent replies by all connections of an ORB.
#[derive(Debug)]
pub(crate) struct Received {
    limit: usize,
    usage: Mutex<AllUsage>,
    /// Notified when bytes are freed, and when a connection is closed to free some.
    freed: sync::Condvar,
}

impl Received {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            usage: Mutex::default(),
            freed: sync::Condvar::new(),
        }
    }

    /// Makes the account to which one connection reports its usage. With `waits`, the thread that
    /// reports waits until there is room.
    pub(crate) fn account(
        self: &Arc<Self>,
        peer: Arc<str>,
        connection: Weak<dyn Evictable>,
        waits: bool,
    ) -> Account {
        Account {
            of: self.clone(),
            peer,
            connection,
            waits,
            hold: None,
            evicted: Vec::new(),
        }
    }

    /// Charges bytes of a peer that are to be kept.
    ///
    /// # Errors
    /// [`NoRoom`]: no connection is closed for it.
    pub(crate) fn charge(self: &Arc<Self>, peer: &Arc<str>, octets: usize) -> Result<Hold, NoRoom> {
        let limit = self.limit;
        let mut usage = sync::lock(&self.usage);
        if !usage.has_room(limit, peer, octets) {
            return Err(NoRoom { limit });
        }
        let number = usage.add(peer, None, octets);
        drop(usage);
        let of = self.clone();
        Ok(Hold { of, number })
    }

    /// Charges bytes that a connection frees when it is closed. May close others to make room, and
    /// then waits until these have freed their bytes. If there is no room, the bytes must be freed
    /// before the charge is dropped. To be called without a lock.
    pub(crate) fn charge_closable(
        self: &Arc<Self>,
        peer: &Arc<str>,
        connection: Weak<dyn Evictable>,
        octets: usize,
    ) -> (Hold, Result<(), NoRoom>) {
        let hold = self.begin(peer, Some(connection), 0);
        // Logged here: the caller holds no lock.
        let granted = hold.set(octets, true).map(drop);
        (hold, granted)
    }

    /// Begins a charge for what an upcall makes, of 0 bytes.
    pub(crate) fn charge_results(self: &Arc<Self>, peer: &Arc<str>) -> Hold {
        self.begin(peer, None, 0)
    }

    /// Returns the number of counted bytes that the connections hold.
    #[cfg(test)]
    pub(crate) fn total(&self) -> usize {
        sync::lock(&self.usage).total()
    }

    /// Returns `true` if no holder and no peer is recorded.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        sync::lock(&self.usage).is_empty()
    }

    fn begin(
        self: &Arc<Self>,
        peer: &Arc<str>,
        connection: Option<Weak<dyn Evictable>>,
        octets: usize,
    ) -> Hold {
        let number = sync::lock(&self.usage).add(peer, connection, octets);
        Hold {
            of: self.clone(),
            number,
        }
    }

    /// Waits until closed connections have freed their bytes, so that a holder's growth fits.
    ///
    /// # Errors
    /// [`NoRoom`] if the holder itself is closed meanwhile, or they take too long.
    fn wait_for_room(&self, number: u64) -> Result<(), NoRoom> {
        let until = Instant::now() + FREED_WITHIN;
        let mut usage = sync::lock(&self.usage);
        while !usage.is_leaving(number) {
            if usage.total() <= self.limit {
                return Ok(());
            }
            if self.freed.wait_until(&mut usage, until).timed_out() {
                usage.leave(number);
            }
        }
        Err(NoRoom { limit: self.limit })
    }
}

/// One connection's account of the data that it holds.
#[derive(Debug)]
pub(crate) struct Account {
    of: Arc<Received>,
    peer: Arc<str>,
    connection: Weak<dyn Evictable>,
    /// True if the thread that reports may wait for room.
    waits: bool,
    /// Present while the connection holds more than the free allowance.
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
        let evicted = hold.set(octets, self.waits)?;
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
            let mut usage = is_counted.then(|| sync::lock(&self.of.usage))?;
            if let Some(hold) = &self.hold {
                usage.change(hold.number, left);
            }
            (octets > FREE).then(|| usage.add(&self.peer, None, octets))
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
    /// Sets the number of bytes; `waits` as in [`Received::account`].
    fn set(&self, octets: usize, waits: bool) -> Result<Evicted, NoRoom> {
        let limit = self.of.limit;
        let reason = NoRoom { limit };
        let growth = sync::lock(&self.of.usage).grow(limit, self.number, octets);
        let connections: Vec<_> = match &growth {
            Growth::Granted => Vec::new(),
            Growth::Refused => return Err(reason),
            Growth::After(leaving) => leaving.iter().filter_map(Weak::upgrade).collect(),
        };
        for connection in &connections {
            connection.evict(&reason.to_string());
        }
        if !connections.is_empty() {
            // They may wait for room themselves, in vain.
            self.of.freed.notify_all();
        }
        if waits && matches!(growth, Growth::After(_)) {
            self.of.wait_for_room(self.number)?;
        }
        Ok(Evicted {
            connections,
            reason,
        })
    }

    /// Sets the number of bytes. May close connections to make room, and then waits until these have
    /// freed their bytes. To be called without a lock.
    ///
    /// # Errors
    /// [`NoRoom`]: the bytes must be freed.
    pub(crate) fn grow(&self, octets: usize) -> Result<(), NoRoom> {
        self.set(octets, true).map(drop)
    }

    /// Sets the number of bytes, if there is room; no connection is closed for it.
    ///
    /// # Errors
    /// [`NoRoom`]: the number is unchanged.
    pub(crate) fn try_set(&self, peer: &Arc<str>, from: usize, to: usize) -> Result<(), NoRoom> {
        let limit = self.of.limit;
        let mut usage = sync::lock(&self.of.usage);
        if to > from && !usage.has_room(limit, peer, to - from) {
            return Err(NoRoom { limit });
        }
        usage.change(self.number, to);
        drop(usage);
        self.of.freed.notify_all();
        Ok(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        sync::lock(&self.of.usage).remove(self.number);
        self.of.freed.notify_all();
    }
}
