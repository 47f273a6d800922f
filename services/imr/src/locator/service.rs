//! The repository as a service process runs it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, Poa, RootPoa, SystemException};
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::StoreError;
use punctual_host::{ServeError, Service};
use thiserror::Error;

use super::cluster::{Cluster, EtcdOptions};
use super::engine::{Engine, Stored};
use super::listing::Listings;
use super::repository::{End, Repository, died};
use super::servant::activate;
use super::storage::{self, Contents};
use super::unknown::OfServers;
use crate::access::Access;
use crate::activator::Processes;
use crate::limits::Limits;

/// An Implementation Repository: servers that are registered with it are started when clients call them.
pub struct LocatorService {
    engine: Engine,
    access: Mutex<Access>,
    added_only: Mutex<bool>,
    end: Mutex<Option<End>>,
}

/// Reason why a repository cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the Implementation Repository cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for LocatorService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocatorService")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}

impl LocatorService {
    /// Returns a repository without servers that ends with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(Engine::new(None, Contents::default()))
    }

    /// Opens the repository in a file, which is created if need be.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let (storage, contents) = storage::open(path)?;
        Ok(Self::with(Engine::new(
            Some(Stored::File(storage)),
            contents,
        )))
    }

    /// Opens the repository in a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, OpenError> {
        let (storage, contents) = storage::open_with_faults(path, faults)?;
        Ok(Self::with(Engine::new(
            Some(Stored::File(storage)),
            contents,
        )))
    }

    /// Opens a repository whose servers are in etcd, where others share them. All of them may be called at the same time. It has no
    /// activator in its process.
    ///
    /// # Errors
    /// etcd cannot be reached, or has servers of another format; the certificates for TLS cannot be read.
    pub fn in_etcd(options: &EtcdOptions) -> Result<Self, OpenError> {
        let cluster = Arc::new(Cluster::open(options)?);
        let stored = Some(Stored::Etcd(cluster));
        Ok(Self::with(Engine::new(stored, Contents::default())))
    }

    /// Returns unused pages of the file to the file system. Returns whether there were any.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    pub fn compact(&self) -> Result<bool, OpenError> {
        Ok(self.engine.compact()?)
    }

    fn with(engine: Engine) -> Self {
        Self {
            engine,
            access: Mutex::default(),
            added_only: Mutex::new(false),
            end: Mutex::new(None),
        }
    }

    /// Sets the limits and times.
    pub fn set_limits(&self, limits: Limits) {
        self.engine.with(|state| state.limits = limits);
    }

    /// Sets who may change the repository. Takes effect when it is served.
    pub fn set_access(&self, access: Access) {
        *self.access.lock() = access;
    }

    /// Sets whether only servers that an administrator has added may register. Without it, any server may. Takes effect when
    /// it is served.
    pub fn set_added_only(&self, added_only: bool) {
        *self.added_only.lock() = added_only;
    }

    /// Sets what ends the process of the repository, when an administrator asks for that. Takes effect when it is served.
    pub fn set_end(&self, end: impl Fn() + Send + Sync + 'static) {
        *self.end.lock() = Some(Arc::new(end));
    }

    /// Makes this process an activator, too: processes of servers are started here.
    ///
    /// # Errors
    /// The thread that waits for the ends of processes cannot be started.
    pub fn set_activator(&self, name: &str, by_shell: bool) -> std::io::Result<()> {
        let engine = self.engine.clone();
        let died = move |name: &str, pid| died(&engine, name, Some(pid));
        let processes = Processes::new(by_shell, died)?;
        self.engine.set_own_activator(name.to_owned(), processes);
        Ok(())
    }

    /// Returns the number of registered servers.
    #[must_use]
    pub fn servers(&self) -> usize {
        self.engine.with(|state| state.servers.len())
    }

    /// Returns how many clients have been led to servers since the start.
    #[must_use]
    pub fn forwards(&self) -> u64 {
        self.engine.counts().forwards
    }

    /// Returns how many processes have been started since the start.
    #[must_use]
    pub fn starts(&self) -> u64 {
        self.engine.counts().starts
    }

    /// Activates the object of the repository, and takes the requests for objects of servers.
    fn activate(&self, parent: &Poa) -> Result<ObjectRef, SystemException> {
        let orb = parent.orb();
        self.engine.serve(orb)?;
        let repository = Repository {
            engine: self.engine.clone(),
            access: self.access.lock().clone(),
            added_only: *self.added_only.lock(),
            listings: Listings::of(parent),
            end: self.end.lock().clone(),
        };
        let locator = activate(parent, repository)?;

        let unknown = Arc::new(OfServers(self.engine.clone()));
        orb.ior_table()?.set_unknown_objects(Some(unknown));
        self.engine.start_own(locator.as_object());
        Ok(locator.as_object().clone())
    }
}

impl Service for LocatorService {
    const NAME: &'static str = "imr";
    const INITIAL_REFERENCE: &'static str = "ImplRepoService";

    fn summary(&self) -> Option<String> {
        Some(format!("{} servers", self.engine.known()))
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        self.activate(parent).map_err(ServeError::of::<Self>)
    }

    fn check_alive(&self) {
        // Takes the lock of the state, which a hanging thread may hold.
        let _ = self.servers();
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
