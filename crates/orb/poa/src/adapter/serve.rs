//! Serving of a request by the adapter that its object key names.
//!
//! The fast path is [`Adapter::serve_entry`]: the entry in the key is pinned, the manager is
//! active, the servant is called. All other requests go through [`Adapter::serve`].

#[cfg(feature = "comparison")]
use super::compared::Compared;
use super::measured::answer;
use super::outstanding::OutstandingRequest;
use super::request::{Request, RequestedObject};
use super::request_path::RequestPath;
use super::threads::Threads;
use super::types::{Adapter, ServantManager};
use crate::current::{InsideEntry, UpcallScope};
use crate::object_map::{EntryId, Lookup, Pinned};
use crate::policy::RequestProcessingPolicy;
use punctual_orb::probe::{self, Point};
use punctual_orb::{
    CompletionStatus, DispatchError, Location, SystemException, SystemExceptionKind as Kind, minor,
};

/// Guard that counts a request at the adapter until it is dropped.
pub(super) struct CountedRequest<'a> {
    adapter: &'a Adapter,
    outstanding: Option<OutstandingRequest<'a>>,
}

impl Drop for CountedRequest<'_> {
    fn drop(&mut self) {
        drop(self.outstanding.take());
        if self.adapter.destruction.has_begun() {
            self.adapter.finish_if_empty();
        }
    }
}

impl Adapter {
    /// Serves a request for an object whose id is its map entry.
    #[inline]
    pub(super) fn serve_entry<R: Request>(
        &self,
        entry_id: EntryId,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        probe::begins!(Point::ServerServant);
        if self.dispatch.path == RequestPath::Plain
            && let Some(map) = &self.dispatch.map
            && let Some(pinned) = map.pin(entry_id)
            && pinned.has_no_other_id()
            // The object is pinned first: a thread that changes the manager's state waits for
            // pinned objects.
            && self.manager.admission().is_active()
        {
            let _current = InsideEntry::enter(self.id(), entry_id);
            return answer_pinned(&pinned, || answer(&pinned.servant, request));
        }
        if self.dispatch.path == RequestPath::Surrounded {
            return self.serve_surrounded(entry_id, request);
        }
        self.serve_otherwise(entry_id, request)
    }

    /// Serves a request for an object whose id is its map entry, with the policies that act around
    /// upcalls applied.
    #[inline(never)]
    fn serve_surrounded<R: Request>(
        &self,
        entry_id: EntryId,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        if let Some(map) = &self.dispatch.map
            && let Some(pinned) = map.pin(entry_id)
            && pinned.has_no_other_id()
            && self.manager.admission().is_active()
        {
            let _current = InsideEntry::enter(self.id(), entry_id);
            return answer_pinned(&pinned, || self.upcall(pinned.parts(), request));
        }
        self.serve_otherwise(entry_id, request)
    }

    fn serve_otherwise<R: Request>(
        &self,
        entry_id: EntryId,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        let id = entry_id.octets();
        let entry_id = Some(entry_id);
        self.serve(RequestedObject { id: &id, entry_id }, request)
    }

    /// Serves a request of an adapter with any policies.
    #[inline(never)]
    pub(super) fn serve<R: Request>(
        &self,
        wanted: RequestedObject<'_>,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        match self.dispatch.path {
            // With a map alone only the object counts requests.
            RequestPath::Plain | RequestPath::Surrounded => {
                if let Some(map) = &self.dispatch.map
                    && let Lookup::Pinned(pinned) = map.find(wanted.id, wanted.entry_id)
                    && self.manager.admission().is_active()
                {
                    let _current = UpcallScope::enter(self.id(), wanted.id, None);
                    return answer_pinned(&pinned, || self.upcall(pinned.parts(), request));
                }
            }
            RequestPath::Counted => {}
            #[cfg(feature = "comparison")]
            RequestPath::Compared => {
                return self.serve_counted(wanted, &mut Compared::new(self, request));
            }
        }
        self.serve_counted(wanted, request)
    }

    /// Serves a request that is counted at the adapter until its object has been found, or until
    /// the request ends.
    fn serve_counted<R: Request>(
        &self,
        wanted: RequestedObject<'_>,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        if !self.manager.admission().is_active()
            && let Some(done) = request.outcome_without_wait()
        {
            return Ok(done);
        }
        loop {
            let served = match &self.dispatch.threads {
                Threads::Any => self.serve_now(wanted, request)?,
                // A request that waits for the lock has not passed the manager.
                Threads::One(lock) => {
                    let _locked = lock.lock();
                    self.serve_now(wanted, request)?
                }
                // The request is not counted while it waits for the main thread, as that may be
                // waiting for requests to end.
                Threads::Main => request.serve_by_main_thread(self, wanted)?,
            };
            match served {
                Some(done) => return Ok(done),
                None => self.manager.admit()?,
            }
        }
    }

    /// Serves a request on this thread; returns `None` if the manager is not active.
    pub(crate) fn serve_now<R: Request>(
        &self,
        wanted: RequestedObject<'_>,
        request: &mut R,
    ) -> Result<Option<R::Done>, DispatchError> {
        match self.count_in()? {
            Some(_counted) => self.serve_admitted(wanted, request).map(Some),
            None => Ok(None),
        }
    }

    /// Counts a request as outstanding; returns `None` if the manager is not active.
    fn count_in(&self) -> Result<Option<CountedRequest<'_>>, SystemException> {
        let outstanding = Some(self.outstanding.enter());
        let counted = CountedRequest {
            adapter: self,
            outstanding,
        };
        if self.destruction.has_begun() {
            return Err(destroyed());
        }
        Ok(self.manager.admission().is_active().then_some(counted))
    }

    /// Serves a counted request, on the thread that policies require.
    fn serve_admitted<R: Request>(
        &self,
        wanted: RequestedObject<'_>,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        let Some(map) = &self.dispatch.map else {
            return self.serve_unretained(wanted.id, request);
        };
        loop {
            match request.find(map, wanted) {
                Lookup::Pinned(pinned) => {
                    let _current = UpcallScope::enter(self.id(), wanted.id, None);
                    return answer_pinned(&pinned, || self.upcall(pinned.parts(), request));
                }
                found => match self.policies.processing {
                    RequestProcessingPolicy::ActiveObjectMapOnly => return Err(no_object().into()),
                    RequestProcessingPolicy::DefaultServant => {
                        return self.serve_by_default(wanted.id, request);
                    }
                    RequestProcessingPolicy::ServantManager => {
                        if matches!(found, Lookup::Closing) {
                            self.wait_while_closing(map, wanted.id)?;
                        }
                        self.incarnate(map, wanted.id)?;
                    }
                },
            }
        }
    }

    fn serve_unretained<R: Request>(
        &self,
        id: &[u8],
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        match self.policies.processing {
            RequestProcessingPolicy::ServantManager => self.serve_located(id, request),
            _ => self.serve_by_default(id, request),
        }
    }

    fn serve_by_default<R: Request>(
        &self,
        id: &[u8],
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        let servant = self.default_servant().ok_or_else(no_default_servant)?;
        let own = self.own.remembered(id);
        let _current = UpcallScope::enter(self.id(), id, Some(&servant));
        self.upcall((&servant, own.as_deref()), request)
    }

    /// Returns whether an object is here, unknown, or forwarded elsewhere. Neither activates the
    /// object nor calls a servant manager.
    pub(super) fn locate(&self, id: &[u8], entry_id: Option<EntryId>) -> Location {
        if self.destruction.has_begun() {
            return Location::Unknown;
        }
        let found = self.dispatch.map.as_ref().map(|map| map.find(id, entry_id));
        match found {
            Some(Lookup::Pinned(pinned)) => match pinned.forwarded() {
                Some(to) => Location::Forward(Box::new(to.ior().clone())),
                None => Location::Here,
            },
            // The source of servants may have one for it.
            _ if self.provides_servants() => Location::Here,
            _ => Location::Unknown,
        }
    }

    fn provides_servants(&self) -> bool {
        match self.policies.processing {
            RequestProcessingPolicy::ActiveObjectMapOnly => false,
            RequestProcessingPolicy::DefaultServant => self.default_servant().is_some(),
            RequestProcessingPolicy::ServantManager => {
                let manager = self.servant_manager();
                manager.is_some_and(|manager| match manager {
                    ServantManager::Activator(_) => self.policies.retains(),
                    ServantManager::Locator(_) => !self.policies.retains(),
                })
            }
        }
    }
}

/// Makes the upcall, unless calls of the object are forwarded.
#[inline]
fn answer_pinned<D>(
    pinned: &Pinned<'_>,
    upcall: impl FnOnce() -> Result<D, DispatchError>,
) -> Result<D, DispatchError> {
    if !pinned.is_forwarded() {
        return upcall();
    }
    match pinned.forwarded() {
        Some(to) => Err(DispatchError::forward(&to)),
        None => Err(no_object().into()),
    }
}

/// Returns the error for a request to an adapter that is being destroyed, or whose manager has been
/// deactivated since the request came.
pub(super) fn destroyed() -> SystemException {
    SystemException::new(Kind::Transient, minor::omg(4), CompletionStatus::No)
        .with_detail("the POA is being destroyed")
}

pub(super) fn no_object() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NOT_ACTIVE,
        CompletionStatus::No,
    )
    .with_detail("no active object has this object key")
}

fn no_default_servant() -> SystemException {
    SystemException::new(Kind::ObjAdapter, minor::omg(3), CompletionStatus::No)
        .with_detail("the POA has no default servant")
}
