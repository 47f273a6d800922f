//! Table of kept replies: by client, then by number.

use super::expiries::Expiries;
use super::requests::Requests;
use crate::request_id::ClientName;
use punctual_orb::{FaultToleranceSettings, KeptReply, PendingReply};
use slab::Slab;
use std::collections::HashMap;
use std::sync::Arc;

/// Replies of all clients.
#[derive(Default)]
pub(super) struct Table {
    clients: Slab<Client>,
    /// Places of the clients. Peers choose the ids: the standard library's hashes are keyed at random, so that they cannot
    /// choose ids of equal hashes.
    by_name: HashMap<Arc<ClientName>, u32>,
    /// Number of the requests of all clients.
    requests: usize,
    /// Answered requests, by the time at which they expire.
    expiries: Expiries,
    octets: usize,
}

/// Key of a request in the table: its client's place, and its number.
#[derive(Clone, Copy)]
struct Key {
    client: u32,
    number: i32,
}

/// Client, and where in the table it was last.
#[derive(Clone)]
pub(super) struct Caller {
    name: Arc<ClientName>,
    place: u32,
}

struct Client {
    name: Arc<ClientName>,
    requests: Requests,
    octets: usize,
}

/// Request of a client.
pub(super) struct Request {
    pub(super) expires: u64,
    pub(super) state: State,
}

pub(super) enum State {
    /// The request is in progress; these repeats of it wait.
    Running(Vec<PendingReply>),
    Answered(KeptReply),
    /// The request was answered, and its reply was too large to be kept.
    NotKept,
}

/// Result of looking for a request.
pub(super) enum Begun {
    /// The request came for the first time, and is now in progress under this key.
    First(u64),
    Answered(KeptReply),
    Running,
    Refused(Refusal),
}

/// Reason why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Full,
    FullForClient,
    NotKept,
}

/// Number of kept replies, and their clients and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetentionCounts {
    /// Clients for which replies are kept.
    pub clients: usize,
    /// Requests in progress, and answered ones that have not expired.
    pub requests: usize,
    /// Bytes of the kept replies.
    pub bytes: usize,
}

impl State {
    /// Replaces the state of a request that was in progress. Returns the repeats that have waited for it.
    #[inline]
    fn take_waiting(&mut self, new: Self) -> Vec<PendingReply> {
        match std::mem::replace(self, new) {
            Self::Running(waiting) => waiting,
            _ => Vec::new(),
        }
    }
}

impl Caller {
    /// Makes a client whose place is not known.
    pub(super) fn new(identity: &Arc<[u8]>, id: &[u8]) -> Self {
        Self {
            name: Arc::new(ClientName {
                identity: identity.clone(),
                id: id.into(),
            }),
            place: u32::MAX,
        }
    }

    /// Returns whether this is known for certain about the client's connection.
    #[inline]
    pub(super) fn has(&self, identity: &Arc<[u8]>) -> bool {
        Arc::ptr_eq(&self.name.identity, identity) || self.name.identity == *identity
    }

    /// Returns the length of the client's id in bytes.
    pub(super) fn id_length(&self) -> usize {
        self.name.id.len()
    }

    /// Returns the client's place in the table.
    #[inline]
    pub(super) fn place(&self) -> u32 {
        self.place
    }

    #[inline]
    pub(super) fn into_name(self) -> Arc<ClientName> {
        self.name
    }
}

impl Key {
    #[inline]
    fn number(self) -> u64 {
        u64::from(self.client) << 32 | u64::from(self.number.cast_unsigned())
    }

    #[inline]
    fn of(number: u64) -> Self {
        Self {
            client: (number >> 32) as u32,
            number: (number as u32).cast_signed(),
        }
    }
}

impl Table {
    pub(super) fn counts(&self) -> RetentionCounts {
        RetentionCounts {
            clients: self.clients.len(),
            requests: self.requests,
            bytes: self.octets,
        }
    }

    /// Looks for a request, and begins it if it is not there. Sets the client's place.
    #[inline]
    pub(super) fn begin(
        &mut self,
        caller: &mut Caller,
        (number, expires): (i32, u64),
        now: u64,
        limits: &FaultToleranceSettings,
    ) -> Begun {
        self.forget_expired(now);
        let is_full = self.requests >= limits.retained;
        if !self.is_at(caller) && !self.find_or_add(caller, is_full) {
            return Begun::Refused(Refusal::Full);
        }
        let Some(client) = self.clients.get_mut(caller.place as usize) else {
            return Begun::Refused(Refusal::Full);
        };
        let key = Key {
            client: caller.place,
            number,
        };
        match client.requests.get_mut(number).map(|it| &it.state) {
            Some(State::Answered(reply)) => return Begun::Answered(reply.clone()),
            Some(State::NotKept) => return Begun::Refused(Refusal::NotKept),
            Some(State::Running(_)) => return Begun::Running,
            None => {}
        }
        if client.requests.len() >= limits.retained_of_client {
            return Begun::Refused(Refusal::FullForClient);
        }
        if is_full {
            return Begun::Refused(Refusal::Full);
        }
        let state = State::Running(Vec::new());
        client.requests.insert(number, Request { expires, state });
        self.requests += 1;
        Begun::First(key.number())
    }

    /// Adds a repeat to those that wait for a request. Returns it if the request has been answered meanwhile, with its reply,
    /// or if too many wait.
    pub(super) fn wait(
        &mut self,
        caller: &mut Caller,
        number: i32,
        pending: PendingReply,
        limits: &FaultToleranceSettings,
    ) -> Result<(), (PendingReply, Option<KeptReply>)> {
        let is_known = self.is_at(caller) || self.find(caller);
        let client = is_known.then(|| self.clients.get_mut(caller.place as usize));
        let request = client
            .flatten()
            .and_then(|client| client.requests.get_mut(number));
        match request.map(|request| &mut request.state) {
            Some(State::Running(waiting)) if waiting.len() < limits.waiting_repeats => {
                waiting.push(pending);
                Ok(())
            }
            Some(State::Answered(reply)) => Err((pending, Some(reply.clone()))),
            _ => Err((pending, None)),
        }
    }

    /// Ends a request that was in progress; without a reply, it may be made again. Returns the repeats that have waited for it,
    /// which are given even a reply that is not kept.
    #[inline]
    pub(super) fn end(
        &mut self,
        key: u64,
        reply: Option<&KeptReply>,
        limits: &FaultToleranceSettings,
    ) -> Vec<PendingReply> {
        let Key { client, number } = Key::of(key);
        let Some(client) = self.clients.get_mut(client as usize) else {
            return Vec::new();
        };
        let Some(request) = client.requests.get_mut(number) else {
            return Vec::new();
        };
        let Some(reply) = reply else {
            let waiting = request.state.take_waiting(State::NotKept);
            self.forget(key);
            return waiting;
        };
        let octets = reply.octets();
        let fits = client.octets.saturating_add(octets) <= limits.retained_bytes_of_client
            && self.octets.saturating_add(octets) <= limits.retained_bytes;
        let waiting = request.state.take_waiting(match fits {
            true => State::Answered(reply.clone()),
            false => State::NotKept,
        });
        if fits {
            client.octets += octets;
            self.octets += octets;
        }
        self.expiries.add(request.expires, key);
        waiting
    }

    /// Removes the requests that have expired, except those in progress.
    #[inline]
    pub(super) fn forget_expired(&mut self, now: u64) {
        while let Some(key) = self.expiries.pop(now) {
            self.forget(key);
        }
    }

    /// Removes a request, and its client if that has no others.
    fn forget(&mut self, key: u64) {
        let Key {
            client: place,
            number,
        } = Key::of(key);
        let Some(client) = self.clients.get_mut(place as usize) else {
            return;
        };
        if let Some(request) = client.requests.remove(number) {
            self.requests -= 1;
            if let State::Answered(reply) = request.state {
                client.octets -= reply.octets();
                self.octets -= reply.octets();
            }
        }
        if client.requests.len() == 0 {
            let client = self.clients.remove(place as usize);
            self.by_name.remove(&client.name);
        }
    }

    /// Returns whether the client is in the table where it was.
    #[inline]
    fn is_at(&self, caller: &Caller) -> bool {
        let there = self.clients.get(caller.place as usize);
        there.is_some_and(|client| Arc::ptr_eq(&client.name, &caller.name))
    }

    /// Looks for a client by its name; returns `true` if it is there.
    fn find(&self, caller: &mut Caller) -> bool {
        let Some((name, place)) = self.by_name.get_key_value(&caller.name) else {
            return false;
        };
        *caller = Caller {
            name: name.clone(),
            place: *place,
        };
        true
    }

    /// Looks for a client by its name, and adds it unless the table is full. Returns `true` if it is there then.
    #[cold]
    fn find_or_add(&mut self, caller: &mut Caller, is_full: bool) -> bool {
        if self.find(caller) {
            return true;
        }
        // The numbers that keys have room for.
        let Ok(place) = u32::try_from(self.clients.vacant_key()) else {
            return false;
        };
        if is_full {
            return false;
        }
        self.clients.insert(Client {
            name: caller.name.clone(),
            requests: Requests::default(),
            octets: 0,
        });
        self.by_name.insert(caller.name.clone(), place);
        caller.place = place;
        true
    }
}
