//! The service as its process runs it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{
    Interface, ObjectId, ObjectRef, Poa, RootPoa, SystemException, SystemExceptionKind,
};
use punctual_groups_client::punctual_groups::Groups;
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::StoreError;
use punctual_host::{NotReady, ServeError, Service, Turn};
use thiserror::Error;

use crate::access::Access;
use crate::engine::Engine;
use crate::fault_notifier::Notifier;
use crate::ft::FaultNotifier;
use crate::history::Change;
use crate::limits::Limits;
use crate::punctual_managers::{Balancing, Replication};
use crate::servant::{Manager, as_load_manager};
use crate::shared::{EtcdOptions, EtcdRecords};
use crate::storage::{self, Contents, Storage};

/// Name of the LoadManager's initial reference and object key.
pub const LOAD_MANAGER: &str = "LoadManager";

/// Name of the FaultNotifier's object key.
pub const FAULT_NOTIFIER: &str = "FaultNotifier";

/// Adapter of the managers.
const ADAPTER: &str = "group-managers";

/// Adapter of the manager for another service in the process.
const ADAPTER_OF_PROCESS: &str = "group-manager-of-process";

/// Object groups with their managers.
pub struct GroupService {
    engine: Engine,
    access: Mutex<Access>,
    check_interval: Mutex<Duration>,
    /// File and records of groups that several servers share, until they are served.
    shared: Mutex<Option<(PathBuf, Arc<EtcdRecords>)>>,
    turn: OnceLock<Arc<EtcdRecords>>,
}

/// Reason why a group service cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the group service cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for GroupService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupService")
            .field("groups", &self.groups())
            .finish_non_exhaustive()
    }
}

impl GroupService {
    /// Returns a service without groups that ends with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(None, storage::fresh())
    }

    /// Opens the groups in a file, which is created if need be.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let (storage, contents): (_, Contents) = storage::open(path)?;
        Ok(Self::with(Some(storage), contents))
    }

    /// Opens the groups in a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, OpenError> {
        let (storage, contents) = storage::open_with_faults(path, faults)?;
        Ok(Self::with(Some(storage), contents))
    }

    /// Makes a service whose groups are in etcd, and shared with other servers, of which one serves at a time. The file is a
    /// copy of them; it is opened when this process has the right to serve ([`Service::turn`]).
    ///
    /// # Errors
    /// The certificates for TLS cannot be read.
    pub fn in_etcd(path: &Path, options: &EtcdOptions) -> Result<Self, OpenError> {
        let service = Self::of(Engine::new());
        let records = Arc::new(EtcdRecords::new(options)?);
        service.engine.set_right(records.clone());
        *service.shared.lock() = Some((path.to_owned(), records.clone()));
        service.turn.get_or_init(|| records);
        Ok(service)
    }

    fn with(storage: Option<Storage>, contents: Contents) -> Self {
        let service = Self::of(Engine::new());
        service.engine.attach(storage, contents);
        service
    }

    fn of(engine: Engine) -> Self {
        Self {
            engine,
            shared: Mutex::new(None),
            turn: OnceLock::new(),
            access: Mutex::default(),
            check_interval: Mutex::new(Duration::from_secs(2)),
        }
    }

    /// Returns unused pages of the file to the file system. Returns whether there were any.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    pub fn compact(&self) -> Result<bool, OpenError> {
        Ok(self.engine.compact()?)
    }

    /// Sets the limits and times.
    pub fn set_limits(&self, limits: Limits) {
        self.engine.notifier().set_time(limits.call);
        self.engine.with(|state| state.limits = limits);
    }

    /// Sets who may change groups. Takes effect when they are served.
    pub fn set_access(&self, access: Access) {
        *self.access.lock() = access;
    }

    /// Sets the time between two questions to each member without a lease. Takes effect when they are served.
    pub fn set_check_interval(&self, interval: Duration) {
        *self.check_interval.lock() = interval;
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.engine.with(|state| state.groups.len())
    }

    /// Returns how many requests were led to members since the start.
    #[must_use]
    pub fn forwards(&self) -> u64 {
        self.engine.counts().forwards
    }

    /// Returns how often a member became primary since the start.
    #[must_use]
    pub fn failovers(&self) -> u64 {
        self.engine.counts().failovers
    }

    /// Returns groups whose numbers are above one, with their members: so many at most, and fewer if they have many members.
    #[must_use]
    pub fn list(&self, after: u64, how_many: usize) -> Groups {
        self.engine.list(after, how_many)
    }

    /// Returns the latest changes of a group's members since the start, the latest first.
    #[must_use]
    pub fn history(&self, group: u64) -> Vec<Change> {
        self.engine.with(|state| state.history.of(group))
    }

    /// Returns a further ReplicationManager of a service that is served, for another service in this process: its callers may
    /// do everything, whatever the access rules say. Its object key is a random number that no client learns.
    ///
    /// # Errors
    /// The adapter cannot be created; the system has no random numbers.
    pub fn manager_for_this_process(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let mut key = [0; 16];
        let filled = getrandom::fill(&mut key);
        filled.map_err(ServeError::of::<Self>)?;
        self.activate_for_this_process(parent, &ObjectId::from(&key))
            .map_err(ServeError::of::<Self>)
    }

    fn activate_for_this_process(
        &self,
        parent: &Poa,
        id: &ObjectId,
    ) -> Result<ObjectRef, SystemException> {
        let policies = [PoaPolicy::IdAssignment(IdAssignmentPolicy::User)];
        let poa = parent.create_poa(ADAPTER_OF_PROCESS, Some(parent.manager()), &policies)?;
        let manager = Manager {
            engine: self.engine.clone(),
            access: Access::default(),
            is_balancing: false,
            notifier: Arc::default(),
        };
        let replication: Replication = poa.activate_with_id(id, manager)?;
        Ok(replication.as_object().clone())
    }

    fn activate(&self, parent: &Poa) -> Result<ObjectRef, SystemException> {
        if let Some((path, records)) = self.shared.lock().take() {
            let opened = storage::open_shared(&path, records);
            let (storage, contents) = opened.map_err(|error| {
                let why = format!("{}: {error}", path.display());
                SystemExceptionKind::PersistStore.because(why)
            })?;
            self.engine.attach(Some(storage), contents);
        }
        self.engine.serve(parent, *self.check_interval.lock())?;
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        ];
        let poa = parent.create_poa(ADAPTER, Some(parent.manager()), &policies)?;
        let access = self.access.lock().clone();
        let notifier = Arc::new(OnceLock::new());
        let manager = |is_balancing| Manager {
            engine: self.engine.clone(),
            access: access.clone(),
            is_balancing,
            notifier: notifier.clone(),
        };
        let id = |name: &str| ObjectId::from(name.as_bytes());
        let faults = Notifier {
            engine: self.engine.clone(),
            access: access.clone(),
        };
        let faults: FaultNotifier = poa.activate_with_id(&id(FAULT_NOTIFIER), faults)?;
        let replication: Replication =
            poa.activate_with_id(&id(Self::INITIAL_REFERENCE), manager(false))?;
        let balancing: Balancing = poa.activate_with_id(&id(LOAD_MANAGER), manager(true))?;
        self.engine.set_balancing(as_load_manager(&balancing));
        let orb = parent.orb();
        for (name, object) in [
            (LOAD_MANAGER, balancing.as_object()),
            (FAULT_NOTIFIER, faults.as_object()),
        ] {
            let bound = orb.ior_table()?.rebind(name, object);
            bound.map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
        }
        orb.register_initial_reference(LOAD_MANAGER, &balancing)?;
        notifier.get_or_init(|| faults);
        Ok(replication.as_object().clone())
    }
}

impl Service for GroupService {
    const NAME: &'static str = "group";
    const INITIAL_REFERENCE: &'static str = "ReplicationManager";

    fn summary(&self) -> Option<String> {
        Some(format!("{} groups", self.engine.known()))
    }

    fn turn(&self) -> Option<Arc<dyn Turn>> {
        let turn = self.turn.get()?.clone();
        Some(turn)
    }

    fn check_ready(&self) -> Result<(), NotReady> {
        let checked = self.engine.check_right();
        checked.map_err(|exception| NotReady(exception.to_string()))
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        self.activate(parent).map_err(ServeError::of::<Self>)
    }

    fn check_alive(&self) {
        // Takes the lock of the groups, which a hanging thread may hold.
        let _ = self.groups();
    }

    fn metrics(&self, out: &mut Exposition) {
        self.engine.write_metrics(out);
    }

    fn end_waiting(&self) {
        self.engine.end_waiting();
    }

    fn stop(&self) {
        self.engine.stop();
    }
}
