//! Identity of a request that its client may repeat, for servants that keep answers with their state.

use crate::time;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Client of a member: its id, and what is known for certain about its connection. All requests of a client share one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClientName {
    pub(crate) identity: Arc<[u8]>,
    pub(crate) id: Box<[u8]>,
}

/// Computes the hash of the id alone: clients of one id and different identities are few, and a certificate is long.
impl Hash for ClientName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// Identity of a request that its client may repeat (FT_REQUEST): the same in all repeats, at all members of the group. It has
/// what is known for certain about the client's connection, too, so that no client gets the answer to another one's request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    pub(crate) client: Arc<ClientName>,
    pub(crate) retention: i32,
    pub(crate) expires: u64,
}

thread_local! {
    /// Identity of the request that the calling thread serves.
    static CURRENT: RefCell<Option<RequestId>> = const { RefCell::new(None) };
}

impl RequestId {
    /// Returns the identity of the request that the calling thread serves: for objects that are members of groups, and with
    /// `fault_tolerance.retain_all` for all. `None` outside an upcall, and if the client does not repeat requests.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT
            .try_with(|current| current.borrow().clone())
            .ok()
            .flatten()
    }

    /// Returns whether the request has expired: its client does not repeat it any more.
    #[must_use]
    pub fn has_expired(&self) -> bool {
        self.expires <= time::now()
    }

    /// Returns what tells the request from all others, as bytes: equal for its repeats only.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in [&*self.client.identity, &*self.client.id] {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part);
        }
        bytes.extend(self.retention.to_be_bytes());
        bytes
    }

    /// Returns the time at which the request expires, as a TimeT (hundreds of nanoseconds since 15 October 1582).
    #[must_use]
    pub fn expires(&self) -> u64 {
        self.expires
    }

    /// Returns the time of day as a TimeT.
    #[must_use]
    pub fn now() -> u64 {
        time::now()
    }

    /// Calls a function that serves the request on this thread.
    #[inline]
    pub(crate) fn during<R>(self, serve: impl FnOnce() -> R) -> R {
        let _ended = Serving(replace(Some(self)));
        serve()
    }
}

/// Request that the thread served before, until this is dropped.
struct Serving(Option<RequestId>);

impl Drop for Serving {
    #[inline]
    fn drop(&mut self) {
        replace(self.0.take());
    }
}

#[inline]
fn replace(request: Option<RequestId>) -> Option<RequestId> {
    let replaced = CURRENT.try_with(|current| current.replace(request));
    replaced.ok().flatten()
}
