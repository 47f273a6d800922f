//! Table of kept replies: by client, then by number.

use crate::request::FtRequest;
use punctual_orb::{FaultToleranceSettings, KeptReply, PendingReply};
use slab::Slab;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// Replies of all clients.
#[derive(Default)]
pub(super) struct Table {
    clients: Slab<Client>,
    /// Places of clients by their ids: clients of one id differ in their identities.
    by_id: HashMap<Box<[u8]>, Vec<usize>>,
    /// Answered requests, by the time at which they expire.
    expiries: BinaryHeap<Reverse<(u64, Place)>>,
    requests: usize,
    octets: usize,
}

/// Place of a request in the table: that of its client, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    client: usize,
    retention: i32,
}

struct Client {
    id: Box<[u8]>,
    /// What is known for certain about the client's connections.
    identity: Arc<[u8]>,
    requests: HashMap<i32, Request>,
    octets: usize,
}

struct Request {
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
            requests: self.requests,
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
        let client = known.and_then(|place| self.clients.get(place));
        if let Some(client) = client {
            match client.requests.get(&request.retention).map(|it| &it.state) {
                Some(State::Answered(reply)) => return Begun::Answered(reply.clone()),
                Some(State::Running(_)) => return Begun::Running,
                Some(State::NotKept) => return Begun::Refused(Refusal::NotKept),
                None if client.requests.len() >= limits.retained_of_client => {
                    return Begun::Refused(Refusal::FullForClient);
                }
                None => {}
            }
        }
        if self.requests >= limits.retained {
            return Begun::Refused(Refusal::Full);
        }
        let place = Place {
            client: known.unwrap_or_else(|| self.add_client(identity, request.client)),
            retention: request.retention,
        };
        if let Some(client) = self.clients.get_mut(place.client) {
            let begun = Request {
                expires: request.expires,
                state: State::Running(Vec::new()),
            };
            client.requests.insert(place.retention, begun);
            self.requests += 1;
        }
        Begun::First(place)
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
        let client = known.and_then(|place| self.clients.get_mut(place));
        let there = client.and_then(|client| client.requests.get_mut(&request.retention));
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
        let Some(request) = client.requests.get_mut(&place.retention) else {
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
        if let Some(request) = client.requests.remove(&place.retention) {
            self.requests -= 1;
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
