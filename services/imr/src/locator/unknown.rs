//! Requests of clients for objects of servers: they are kept until the server runs, and then forwarded.

use punctual::poa::{
    DispatchError, Dispatched, LocateRequest, Location, ServerCall, UnknownObjects,
};
use punctual::{CompletionStatus, SystemException, SystemExceptionKind, minor};

use super::engine::Engine;
use super::outcome::By;
use super::waiter::Waiter;
use crate::key::KeyNames;

/// Servant of the objects of all servers.
#[derive(Debug)]
pub(super) struct OfServers(pub(super) Engine);

impl OfServers {
    fn server(&self, key: &[u8]) -> Result<String, SystemException> {
        let names = KeyNames::of(key);
        let found = self.0.with(|state| state.named_in(&names));
        found.ok_or_else(|| {
            let Some(name) = names.names.first() else {
                let kind = SystemExceptionKind::ObjectNotExist;
                return SystemException::new(kind, minor::NO_ADAPTER, CompletionStatus::No)
                    .with_detail("the object key names no server");
            };
            super::outcome::Failure::unknown(name).exception()
        })
    }
}

impl UnknownObjects for OfServers {
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let name = self.server(object_key)?;
        // The state answers in time.
        let (pending, dispatched) = call.answer_within(None)?;
        let waiter = Waiter::Client {
            pending,
            key: object_key.to_vec(),
        };
        self.0
            .event(|state, now| state.requested(&name, waiter, By::Client, now));
        Ok(dispatched)
    }

    fn locate(&self, object_key: &[u8]) -> Location {
        match self.server(object_key) {
            // The request that follows is forwarded.
            Ok(_) => Location::Here,
            Err(_) => Location::Unknown,
        }
    }

    /// The server runs, or is started, before it is answered: a client whose repository ends meanwhile knows that nothing was
    /// run, and goes on at another repository of its reference.
    fn locate_or_later(&self, object_key: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        let Ok(name) = self.server(object_key) else {
            return Some(Location::Unknown);
        };
        // Where too many wait, the request that follows is refused for it.
        let Ok(pending) = request.answer_later() else {
            return Some(Location::Here);
        };
        let waiter = Waiter::Locating {
            pending,
            key: object_key.to_vec(),
        };
        self.0
            .event(|state, now| state.requested(&name, waiter, By::Client, now));
        None
    }
}
