//! Collocated calls: like requests, through the manager and the map, or directly to the servant.

use super::request::{CalledServant, Request, RequestedObject};
use super::root::Root;
use super::threads::Threads;
use super::types::Adapter;
use crate::current::Current;
use crate::ior_table::UnknownObjects;
use crate::key::Key;
use crate::object_map::{EntryId, Lookup, Pinned};
use crate::served::ServedObjectInfo;
use punctual_orb::measurement::is_recording;
use punctual_orb::{
    Collocated, DispatchError, LocalRequest, Provided, ServedObject, SystemException, UpcallHook,
    Went,
};
use std::sync::{Arc, Weak};

/// Object of this process, as a reference to it identifies it.
pub(crate) struct CollocatedObject {
    root: Weak<Root>,
    key: Box<[u8]>,
    /// Adapter, if it was found from the key already; it may have been destroyed since.
    adapter: Option<Arc<Adapter>>,
    object: Object,
}

enum Object {
    Entry(EntryId),
    Named(Box<[u8]>, Option<EntryId>),
}

impl Root {
    /// Returns the object that a key of this ORB names; `None` for a key from another process.
    pub(crate) fn here(&self, object_key: &[u8]) -> Option<CollocatedObject> {
        let (adapter, object) = match Key::read(self.nonce, object_key) {
            Key::Entry(name, entry_id) => (self.named(name), Object::Entry(entry_id)),
            Key::Named {
                adapter,
                entry_id,
                id,
            } => (self.named(adapter), Object::Named(id.into(), entry_id)),
            Key::Persistent { path, id } => {
                let adapter = self.existing_at(path);
                (adapter, Object::Named(id.into(), None))
            }
            Key::Foreign => return None,
        };
        Some(CollocatedObject {
            root: self.me(),
            key: object_key.into(),
            adapter,
            object,
        })
    }
}

impl CollocatedObject {
    fn adapter(&self) -> Option<&Adapter> {
        let known = self.adapter.as_deref();
        known.filter(|adapter| !adapter.is_destroyed())
    }
}

impl Collocated for CollocatedObject {
    fn through_adapter(
        &self,
        request: &LocalRequest<'_>,
        run: &mut dyn FnMut(&Provided<'_>),
    ) -> Result<Went, DispatchError> {
        let mut call = LocalCall { request, run };
        match (self.adapter(), &self.object) {
            (Some(adapter), Object::Entry(entry_id)) => adapter.serve_entry(*entry_id, &mut call),
            (Some(adapter), Object::Named(id, entry_id)) => {
                let (id, entry_id) = (&**id, *entry_id);
                adapter.serve(RequestedObject { id, entry_id }, &mut call)
            }
            (None, _) => match self.root.upgrade() {
                Some(root) => root.route(&self.key, &mut call),
                None => Ok(Went::ByWire),
            },
        }
    }

    fn serving(&self) -> Option<Box<dyn ServedObject>> {
        ServedObjectInfo::now(&Current.servant().ok()?)
    }

    fn direct(&self, run: &mut dyn FnMut(&Provided<'_>)) -> Went {
        let Some(adapter) = self.adapter() else {
            return Went::ByWire;
        };
        // Upcalls that are serialised, bound to a thread, surrounded by policies, or measured cannot
        // bypass the adapter.
        let dispatch = &adapter.dispatch;
        if !matches!(dispatch.threads, Threads::Any) || dispatch.around.is_some() || is_recording()
        {
            return Went::ByWire;
        }
        let Some(map) = adapter.map() else {
            return Went::ByWire;
        };
        match &self.object {
            Object::Entry(entry_id) => map.pin(*entry_id).map_or(Went::ByWire, |it| call(&it, run)),
            Object::Named(id, entry_id) => match map.find(id, *entry_id) {
                Lookup::Pinned(pinned) => call(&pinned, run),
                _ => Went::ByWire,
            },
        }
    }
}

/// Calls an object's servant in this process, unless calls of the object are forwarded.
#[inline]
fn call(pinned: &Pinned<'_>, run: &mut dyn FnMut(&Provided<'_>)) -> Went {
    if pinned.is_forwarded() {
        return Went::ByWire;
    }
    run(&pinned.servant.provide());
    Went::Here
}

/// Collocated call on its way to the servant, as a [`Request`].
struct LocalCall<'c, 'r> {
    request: &'c LocalRequest<'r>,
    run: &'c mut dyn FnMut(&Provided<'_>),
}

impl Request for LocalCall<'_, '_> {
    type Done = Went;

    fn operation(&self) -> &str {
        self.request.operation()
    }

    fn is_in_timeline(&self) -> bool {
        false
    }

    fn enter(&mut self, around: &UpcallHook) -> Result<u64, SystemException> {
        around.enter_here()
    }

    #[inline]
    fn answer(&mut self, servant: CalledServant<'_>) -> Result<Went, DispatchError> {
        (self.run)(&servant.provide());
        Ok(Went::Here)
    }

    fn answer_unknown(
        &mut self,
        _unknown: &dyn UnknownObjects,
        _object_key: &[u8],
    ) -> Result<Went, DispatchError> {
        // A request is sent instead.
        Ok(Went::ByWire)
    }

    fn serve_by_main_thread(
        &mut self,
        adapter: &Adapter,
        wanted: RequestedObject<'_>,
    ) -> Result<Option<Went>, DispatchError> {
        match adapter.common.orb.upgrade() {
            Some(orb) if orb.is_main_thread() => adapter.serve_now(wanted, self),
            // The stub's closure must stay on its own thread, so the call goes to the other thread
            // as a request.
            _ => Ok(Some(Went::ByWire)),
        }
    }

    fn outcome_without_wait(&self) -> Option<Went> {
        (!self.request.can_be_held()).then_some(Went::ByWire)
    }
}
