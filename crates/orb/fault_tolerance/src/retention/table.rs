//! Table of kept replies: by client, then by number.

use crate::request::FtRequest;
use punctual_orb::{FaultToleranceSettings, KeptReply, PendingReply};
use slab::Slab;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// Replies of all clients.
#[derive(Default)]
pub(super) struct Table {
    clients: Slab<Client>,
    requests: Slab<Request>,
    /// Places of clients by their ids: clients of one id differ in their identities.
    by_id: HashMap<Box<[u8]>, Vec<usize>>,
    /// Answered requests, by the time at which they expire.
    expiries: BinaryHeap<Reverse<(u64, Place)>>,
    octets: usize,
}

/// Place of a request in the table, and that of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    client: usize,
    request: usize,
}

struct Client {
    id: Box<[u8]>,
    /// What is known for certain about the client's connections.
    identity: Arc<[u8]>,
    /// Places of its requests by their numbers.
    requests: HashMap<i32, usize>,
    octets: usize,
}

struct Request {
    /// Number of the request, unique for its client.
    retention: i32,
    expires: u64,
    state: State,
}

enum State {
    /// The request is in progress; these repeats of it wait.
    Running(Vec<PendingReply>),
    Answered(Arc<KeptReply>),
    /// The request was answered, and its reply was too large to be kept.
    NotKept,
}

/// Result of looking for a request.
pub(super) enum Begun {
    /// The request came for the first time, and is now in progress.
    First(Place),
    Answered(Arc<KeptReply>),
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

/// Repeats that waited for a request, with its reply; `None` if they may be made again.
pub(super) type Ended = (Vec<PendingReply>, Option<Arc<KeptReply>>);

impl Table {
    pub(super) fn counts(&self) -> RetentionCounts {
        RetentionCounts {
            clients: self.clients.len(),
            requests: self.requests.len(),
            bytes: self.octets,
        }
    }

    /// Looks for a request, and begins it if it is not there.
    pub(super) fn begin(
        &mut self,
        (identity, request): (&Arc<[u8]>, &FtRequest<'_>),
        now: u64,
        limits: &FaultToleranceSettings,
    ) -> Begun {
        self.forget_expired(now);
        let known = self.client(identity, request.client);
        let is_full = self.requests.len() >= limits.retained;
        if known.is_none() && is_full {
            return Begun::Refused(Refusal::Full);
        }
        let of_client = known.unwrap_or_else(|| self.add_client(identity, request.client));
        let Some(client) = self.clients.get_mut(of_client) else {
            return Begun::Refused(Refusal::Full);
        };
        let of_this_client = client.requests.len();
        let there = match client.requests.entry(request.retention) {
            Entry::Vacant(_) if of_this_client >= limits.retained_of_client => {
                return Begun::Refused(Refusal::FullForClient);
            }
            Entry::Vacant(_) if is_full => return Begun::Refused(Refusal::Full),
            Entry::Vacant(vacant) => {
                let begun = self.requests.insert(Request {
                    retention: request.retention,
                    expires: request.expires,
                    state: State::Running(Vec::new()),
                });
                vacant.insert(begun);
                return Begun::First(Place {
                    client: of_client,
                    request: begun,
                });
            }
            Entry::Occupied(there) => *there.get(),
        };
        match self.requests.get(there).map(|it| &it.state) {
            Some(State::Answered(reply)) => Begun::Answered(reply.clone()),
            Some(State::NotKept) => Begun::Refused(Refusal::NotKept),
            Some(State::Running(_)) | None => Begun::Running,
        }
    }

    /// Adds a repeat to those that wait for a request. Returns it if the request has been answered meanwhile, with its reply,
    /// or if too many wait.
    pub(super) fn wait(
        &mut self,
        (identity, request): (&Arc<[u8]>, &FtRequest<'_>),
        pending: PendingReply,
        limits: &FaultToleranceSettings,
    ) -> Result<(), (PendingReply, Option<Arc<KeptReply>>)> {
        let known = self.client(identity, request.client);
        let client = known.and_then(|place| self.clients.get(place));
        let there = client.and_then(|client| client.requests.get(&request.retention));
        let there = there.and_then(|there| self.requests.get_mut(*there));
        match there.map(|there| &mut there.state) {
            Some(State::Running(waiting)) if waiting.len() < limits.waiting_repeats => {
                waiting.push(pending);
                Ok(())
            }
            Some(State::Answered(reply)) => Err((pending, Some(reply.clone()))),
            _ => Err((pending, None)),
        }
    }

    /// Ends a request that was in progress. Returns the repeats that have waited for it.
    pub(super) fn end(
        &mut self,
        place: Place,
        reply: Option<KeptReply>,
        now: u64,
        limits: &FaultToleranceSettings,
    ) -> Ended {
        let Some(client) = self.clients.get_mut(place.client) else {
            return (Vec::new(), None);
        };
        let Some(request) = self.requests.get_mut(place.request) else {
            return (Vec::new(), None);
        };
        let waiting = match &mut request.state {
            State::Running(waiting) => std::mem::take(waiting),
            _ => Vec::new(),
        };
        let Some(reply) = reply else {
            self.forget(place);
            return (waiting, None);
        };
        let octets = reply.octets();
        let fits = client.octets.saturating_add(octets) <= limits.retained_bytes_of_client
            && self.octets.saturating_add(octets) <= limits.retained_bytes;
        let reply = Arc::new(reply);
        request.state = match fits {
            true => State::Answered(reply.clone()),
            false => State::NotKept,
        };
        let expires = request.expires;
        if fits {
            client.octets += octets;
            self.octets += octets;
        }
        match expires <= now {
            true => self.forget(place),
            false => self.expiries.push(Reverse((expires, place))),
        }
        // Those that wait now are given even a reply that is not kept.
        (waiting, Some(reply))
    }

    /// Removes the requests that have expired, except those in progress.
    pub(super) fn forget_expired(&mut self, now: u64) {
        while let Some(Reverse((expires, _))) = self.expiries.peek()
            && *expires <= now
        {
            if let Some(Reverse((_, place))) = self.expiries.pop() {
                self.forget(place);
            }
        }
    }

    /// Removes a request, and its client if that has no others.
    fn forget(&mut self, place: Place) {
        let Some(client) = self.clients.get_mut(place.client) else {
            return;
        };
        if let Some(request) = self.requests.try_remove(place.request) {
            client.requests.remove(&request.retention);
            if let State::Answered(reply) = request.state {
                client.octets -= reply.octets();
                self.octets -= reply.octets();
            }
        }
        if client.requests.is_empty() {
            let client = self.clients.remove(place.client);
            if let Some(places) = self.by_id.get_mut(&client.id) {
                places.retain(|other| *other != place.client);
                if places.is_empty() {
                    self.by_id.remove(&client.id);
                }
            }
        }
    }

    fn client(&self, identity: &Arc<[u8]>, id: &[u8]) -> Option<usize> {
        let places = self.by_id.get(id)?;
        let is_it = |place: &&usize| {
            let client = self.clients.get(**place);
            client.is_some_and(|client| client.identity == *identity)
        };
        places.iter().find(is_it).copied()
    }

    fn add_client(&mut self, identity: &Arc<[u8]>, id: &[u8]) -> usize {
        let place = self.clients.insert(Client {
            id: id.into(),
            identity: identity.clone(),
            requests: HashMap::new(),
            octets: 0,
        });
        self.by_id.entry(id.into()).or_default().push(place);
        place
    }
}
