//! Adapters of an ORB, and the search from an object key to an adapter.

use super::own_factory::OwnFactory;
use super::request::{Request, RequestedObject};
use super::serve::no_object;
use super::table::Tables;
use super::types::{Adapter, OrbAdapters, Parts, ROOT, Registry as _};
use crate::ior_table::IorTable;
use crate::key::{AdapterName, Key, Nonce};
use crate::manager::PoaManagerFactory;
use crate::object_map::EntryId;
use crate::policy::Policies;
use crate::repository::Repository;
use parking_lot::Mutex;
use punctual_orb::probe::{self, Point};
use punctual_orb::{
    CompletionStatus, DispatchError, Location, Orb, SystemException, SystemExceptionKind as Kind,
    Urgency, UrgencyStrategy, WaitingRequest, minor,
};
use std::sync::{Arc, OnceLock, Weak};

/// Root POA of an ORB, together with all its descendants.
pub(crate) struct Root {
    me: Weak<Root>,
    pub(crate) common: Arc<OrbAdapters>,
    pub(crate) nonce: Nonce,
    pub(super) tables: Tables,
    /// Names of persistent adapters by path: the keys of their objects have the path instead of an
    /// adapter name. The map frees removed entries late, so that they must not hold adapters.
    pub(super) by_path: papaya::HashMap<Box<[u8]>, AdapterName>,
    pub(crate) ior_table: IorTable,
    adapter: OnceLock<Arc<Adapter>>,
}

/// Adapters of every ORB of the process, by the ORB's nonce.
static ROOTS: Mutex<Vec<(Nonce, Weak<Root>)>> = Mutex::new(Vec::new());

/// Returns the adapters of the ORB with this nonce.
pub(crate) fn root_named(nonce: Nonce) -> Option<Arc<Root>> {
    let roots = ROOTS.lock();
    let (_, root) = roots.iter().find(|(other, _)| *other == nonce)?;
    root.upgrade()
}

impl Root {
    /// Makes the root POA of an ORB that has no adapters yet.
    ///
    /// # Errors
    /// INITIALIZE if no random numbers are available.
    pub(crate) fn new(orb: &Orb) -> Result<Arc<Self>, SystemException> {
        let nonce = Nonce::random()
            .map_err(|error| initialize(&format!("no random numbers for object keys: {error}")))?;
        let root = Arc::new_cyclic(|me| Self {
            me: me.clone(),
            common: Arc::new(OrbAdapters {
                orb: orb.downgrade(),
                managers: PoaManagerFactory::new(orb.downgrade(), nonce),
                repository: Repository::of(orb),
                registry: me.clone(),
            }),
            nonce,
            tables: Tables::new(),
            by_path: papaya::HashMap::new(),
            ior_table: IorTable::default(),
            adapter: OnceLock::new(),
        });
        let invalid = |invalid| initialize(&format!("the root POA: {invalid}"));
        let defined = orb.adapter_policies(&[]).map_err(invalid)?;
        let around = orb.around_upcalls(&defined).map_err(invalid)?;
        let manager = root.common.managers.create_for("RootPOAManager");
        let own = Arc::new(OwnFactory::default());
        let names = [ROOT.to_owned()];
        let (defined, factory) =
            orb.establish_components(defined, &names, manager.seen(), own.clone())?;
        let parts = Parts {
            name: ROOT.to_owned(),
            parent: None,
            policies: Policies::of_root(),
            defined,
            factory,
            around,
            manager,
        };
        let adapter = root.add(parts)?;
        own.set_adapter(&adapter);
        root.adapter.get_or_init(|| adapter);
        let mut roots = ROOTS.lock();
        roots.retain(|(_, root)| root.strong_count() > 0);
        roots.push((nonce, root.me()));
        Ok(root)
    }

    pub(super) fn me(&self) -> Weak<Self> {
        self.me.clone()
    }

    /// Returns the root POA.
    pub(crate) fn adapter(&self) -> Arc<Adapter> {
        match self.adapter.get() {
            Some(adapter) => adapter.clone(),
            None => unreachable!("made with the root itself"),
        }
    }

    /// Returns the adapter with a name, unless its destruction has begun.
    pub(crate) fn named(&self, name: AdapterName) -> Option<Arc<Adapter>> {
        self.tables.find(name)
    }

    /// Returns the priority of a request with these service contexts while it waits for a free
    /// thread; `None` if its adapter does not exist.
    pub(crate) fn urgency_of(
        &self,
        object_key: &[u8],
        request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Option<Urgency> {
        let octets;
        let (adapter, wanted) = match Key::read(self.nonce, object_key) {
            Key::Entry(name, entry_id) => {
                octets = entry_id.octets();
                let (id, entry_id) = (&octets[..], Some(entry_id));
                (self.named(name)?, RequestedObject { id, entry_id })
            }
            Key::Named {
                adapter,
                entry_id,
                id,
            } => (self.named(adapter)?, RequestedObject { id, entry_id }),
            Key::Persistent { path, id } => {
                let adapter = self.existing_at(path)?;
                (adapter, RequestedObject { id, entry_id: None })
            }
            Key::Foreign => return None,
        };
        Some(adapter.urgency(wanted, request, strategy))
    }

    /// Returns the persistent adapter with this path, if it exists and its destruction has not begun.
    pub(super) fn existing_at(&self, path: &[u8]) -> Option<Arc<Adapter>> {
        let name = *self.by_path.pin().get(path)?;
        self.named(name)
    }

    /// Returns the adapter that an object key names, if it exists.
    pub(crate) fn adapter_of(&self, object_key: &[u8]) -> Option<Arc<Adapter>> {
        match Key::read(self.nonce, object_key) {
            Key::Entry(name, _) => self.named(name),
            Key::Named { adapter, .. } => self.named(adapter),
            Key::Persistent { path, .. } => self.existing_at(path),
            Key::Foreign => None,
        }
    }

    /// Passes a request to the adapter that its object key names.
    #[inline]
    pub(crate) fn route<R: Request>(
        &self,
        object_key: &[u8],
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        probe::begins!(Point::ServerObjectKey);
        let key = Key::read(self.nonce, object_key);
        if let Key::Entry(name, entry_id) = key {
            let known = |adapter: &Arc<Adapter>| adapter.serve_entry(entry_id, request);
            if let Some(done) = self.tables.with_known(name, known) {
                return done;
            }
        }
        self.route_elsewhere(object_key, key, request)
    }

    #[inline(never)]
    fn route_elsewhere<R: Request>(
        &self,
        object_key: &[u8],
        key: Key<'_>,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        probe::begins!(Point::ServerServant);
        match key {
            Key::Entry(name, entry_id) => {
                let adapter = self.named(name).ok_or_else(no_adapter)?;
                let (id, entry_id) = (entry_id.octets(), Some(entry_id));
                adapter.serve(RequestedObject { id: &id, entry_id }, request)
            }
            Key::Foreign => {
                let root = self.adapter();
                let manager = &root.manager;
                let mut to = self.ior_table.forward(object_key)?;
                if to.is_none() && !manager.admission().was_active() {
                    // The program is still starting, and may be about to bind the key: clients of a
                    // restarted server must not get OBJECT_NOT_EXIST.
                    if let Some(done) = request.outcome_without_wait() {
                        return Ok(done);
                    }
                    manager.admit()?;
                    to = self.ior_table.forward(object_key)?;
                }
                match to {
                    Some(to) => Err(DispatchError::forward(&to)),
                    None => self.answer_unknown(object_key, request),
                }
            }
            Key::Named {
                adapter,
                entry_id,
                id,
            } => {
                let wanted = RequestedObject { id, entry_id };
                let known = |adapter: &Arc<Adapter>| adapter.serve(wanted, request);
                if let Some(done) = self.tables.with_known(adapter, known) {
                    return done;
                }
                let adapter = self.named(adapter).ok_or_else(no_adapter)?;
                adapter.serve(wanted, request)
            }
            Key::Persistent { path, id } => {
                let wanted = RequestedObject { id, entry_id: None };
                let known = |adapter: &Arc<Adapter>| adapter.serve(wanted, request);
                let name = self.by_path.pin().get(path).copied();
                if let Some(done) = name.and_then(|name| self.tables.with_known(name, known)) {
                    return done;
                }
                match self.at(path)? {
                    Some(adapter) => adapter.serve(wanted, request),
                    None => match self.ior_table.unknown_objects() {
                        Some(unknown) => request.answer_unknown(&*unknown, object_key),
                        None => Err(no_adapter().into()),
                    },
                }
            }
        }
    }

    /// Answers a request for an object that no adapter has.
    fn answer_unknown<R: Request>(
        &self,
        object_key: &[u8],
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        match self.ior_table.unknown_objects() {
            Some(unknown) => request.answer_unknown(&*unknown, object_key),
            None => Err(no_object().into()),
        }
    }

    fn locate_at(&self, name: AdapterName, id: &[u8], entry_id: Option<EntryId>) -> Location {
        match self.named(name) {
            Some(adapter) => adapter.locate(id, entry_id),
            None => Location::Unknown,
        }
    }

    /// Returns whether the object with a key is here, unknown, or forwarded elsewhere. `elsewhere` is asked for one that no adapter has.
    pub(crate) fn find(
        &self,
        object_key: &[u8],
        elsewhere: impl FnOnce(&IorTable) -> Option<Location>,
    ) -> Option<Location> {
        let location = match Key::read(self.nonce, object_key) {
            Key::Entry(name, entry_id) => self.locate_at(name, &entry_id.octets(), Some(entry_id)),
            Key::Named {
                adapter,
                entry_id,
                id,
            } => self.locate_at(adapter, id, entry_id),
            Key::Persistent { path, id } => match self.at(path) {
                Ok(Some(adapter)) => adapter.locate(id, None),
                _ => return elsewhere(&self.ior_table),
            },
            Key::Foreign => match self.ior_table.forward(object_key) {
                Ok(Some(to)) => Location::Forward(Box::new(to.ior().clone())),
                // Requests for it wait; see `route_elsewhere`.
                Ok(None) if !self.adapter().manager.admission().was_active() => Location::Here,
                _ => return elsewhere(&self.ior_table),
            },
        };
        Some(location)
    }
}

pub(crate) fn initialize(why: &str) -> SystemException {
    SystemException::new(
        Kind::Initialize,
        minor::BROKEN_INVARIANT,
        CompletionStatus::No,
    )
    .with_detail(why)
}

/// Returns the error for an object key whose adapter does not exist.
fn no_adapter() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NO_ADAPTER,
        CompletionStatus::No,
    )
    .with_detail("the POA that the object key names does not exist")
}
