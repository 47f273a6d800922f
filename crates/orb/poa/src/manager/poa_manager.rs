//! POA manager.

use super::admission::Admission;
use super::state::{AdapterInactive, ManagerState};
use crate::current;
use crate::key::Nonce;
use parking_lot::Mutex;
use punctual_orb::{
    AdapterState, CompletionStatus, SystemException, SystemExceptionKind as Kind, WeakOrb, minor,
};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// Error of changing a manager's state, or of waiting for requests to end.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// The POA manager is inactive.
    #[error(transparent)]
    AdapterInactive(#[from] AdapterInactive),
    /// The wait was refused: BAD_INV_ORDER for a thread in an upcall, which would wait for itself.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Formats the error as its `Display` text, so that it is also readable when `main` returns it.
impl fmt::Debug for ManagerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Manager that decides for its adapters whether requests are served. Cheap to clone; clones are
/// the same manager.
#[derive(Clone)]
pub struct PoaManager {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    id: String,
    /// Number of the manager for interceptors, unique in the process.
    number: u32,
    orb: WeakOrb,
    nonce: Nonce,
    admission: Admission,
    warnings: Warnings,
    adapters: Mutex<Vec<Weak<dyn Managed>>>,
}

/// Flags of warnings about a manager that was never activated: each is logged once. Relaxed, as
/// nothing depends on them.
#[derive(Default)]
struct Warnings {
    at_run: AtomicBool,
    at_request: AtomicBool,
}

/// Operations of an object adapter that its POA manager calls.
pub(crate) trait Managed: Send + Sync {
    /// Returns whether the adapter has active objects, a servant manager or a default servant.
    fn has_objects(&self) -> bool;

    /// Gives all servants back to the adapter's servant activator, if it has one.
    fn etherealize_all(&self);

    /// Waits until no request is in progress, or until `useless` returns `true`. A thread that
    /// changes the result of `useless` calls [`Managed::wake_waiting`].
    fn wait_until_idle_or(&self, useless: &dyn Fn() -> bool);

    /// Wakes the threads that wait in the adapter, so that they re-check their condition.
    fn wake_waiting(&self);

    /// Called when the manager has become active, or is active when the adapter is made.
    fn activated(&self);
}

impl PoaManager {
    pub(crate) fn new(id: &str, orb: WeakOrb, nonce: Nonce) -> Self {
        static NUMBERS: AtomicU32 = AtomicU32::new(1);
        let shared = Shared {
            id: id.to_owned(),
            // Relaxed: the number orders nothing else.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            orb,
            nonce,
            admission: Admission::default(),
            warnings: Warnings::default(),
            adapters: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns the manager's id, which is unique in the ORB. That of the root POA's manager is
    /// `RootPOAManager`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Returns the current state of the POA manager.
    #[must_use]
    pub fn state(&self) -> ManagerState {
        self.shared.admission.state()
    }

    /// Serves requests, including those that were held. Persistent POAs of an ORB that uses an Implementation Repository
    /// register there; if that fails, it is logged and tried again.
    ///
    /// # Errors
    /// [`AdapterInactive`] after [`PoaManager::deactivate`].
    pub fn activate(&self) -> Result<(), AdapterInactive> {
        self.shared.admission.change(ManagerState::Active)?;
        self.wake_waiting();
        self.tell_interceptors();
        for adapter in self.adapters() {
            adapter.activated();
        }
        Ok(())
    }

    /// Lets requests wait, up to a limit, and refuses further ones with TRANSIENT. Requests in
    /// progress continue; with `wait_for_completion` this returns when they have ended, or when the
    /// state has changed again.
    ///
    /// # Errors
    /// [`ManagerError::AdapterInactive`] after [`PoaManager::deactivate`]; BAD_INV_ORDER if it
    /// would wait for the upcall that it is called from.
    pub fn hold_requests(&self, wait_for_completion: bool) -> Result<(), ManagerError> {
        self.change_and_wait(ManagerState::Holding, wait_for_completion)
    }

    /// Refuses requests with TRANSIENT, including those that are held. Requests in progress
    /// continue, and are waited for as by [`PoaManager::hold_requests`].
    ///
    /// # Errors
    /// Those of [`PoaManager::hold_requests`].
    pub fn discard_requests(&self, wait_for_completion: bool) -> Result<(), ManagerError> {
        self.change_and_wait(ManagerState::Discarding, wait_for_completion)
    }

    /// Refuses requests permanently. Requests in progress continue, and are waited for as by
    /// [`PoaManager::hold_requests`]. With `etherealize_objects`, servant activators get all
    /// servants back, each when its last call has ended.
    ///
    /// # Errors
    /// Those of [`PoaManager::hold_requests`], except that an inactive manager is no error.
    pub fn deactivate(
        &self,
        etherealize_objects: bool,
        wait_for_completion: bool,
    ) -> Result<(), ManagerError> {
        self.check_may_wait(wait_for_completion)?;
        let first = self.shared.admission.deactivate();
        self.wake_waiting();
        if first {
            self.tell_interceptors();
        }
        if first && etherealize_objects {
            for adapter in self.adapters() {
                adapter.etherealize_all();
            }
        }
        if wait_for_completion {
            self.wait_until_idle(ManagerState::Inactive);
        }
        Ok(())
    }

    fn change_and_wait(&self, to: ManagerState, wait: bool) -> Result<(), ManagerError> {
        self.check_may_wait(wait)?;
        self.shared.admission.change(to)?;
        self.wake_waiting();
        self.tell_interceptors();
        if wait {
            self.wait_until_idle(to);
        }
        Ok(())
    }

    /// Returns the manager's number and state in the form that interceptors get.
    pub(crate) fn seen(&self) -> (u32, AdapterState) {
        let state = match self.state() {
            ManagerState::Holding => AdapterState::Holding,
            ManagerState::Active => AdapterState::Active,
            ManagerState::Discarding => AdapterState::Discarding,
            ManagerState::Inactive => AdapterState::Inactive,
        };
        (self.shared.number, state)
    }

    fn tell_interceptors(&self) {
        if let Some(orb) = self.shared.orb.upgrade() {
            let (number, state) = self.seen();
            orb.adapter_manager_has_changed(number, state);
        }
    }

    /// Waits until no request is in progress, or the manager's state is no longer `state`.
    fn wait_until_idle(&self, state: ManagerState) {
        for adapter in self.adapters() {
            adapter.wait_until_idle_or(&|| self.state() != state);
        }
    }

    /// Wakes the threads that wait for requests to end, after a change of the state.
    fn wake_waiting(&self) {
        for adapter in self.adapters() {
            adapter.wake_waiting();
        }
    }

    fn check_may_wait(&self, wait: bool) -> Result<(), SystemException> {
        let shared = &*self.shared;
        if wait && current::is_in_upcall_of(shared.orb.upgrade().as_ref(), shared.nonce) {
            return Err(would_wait_for_itself());
        }
        Ok(())
    }

    /// Waits with a request while requests are held, as [`Admission::admit`] does; traces the
    /// reason, and logs a warning if the application seems to have forgotten to activate the
    /// manager.
    #[cold]
    pub(crate) fn admit(&self) -> Result<(), SystemException> {
        let shared = &*self.shared;
        if self.state() == ManagerState::Holding {
            let why = match shared.admission.was_active() {
                true => "holds requests",
                false => "has never been activated",
            };
            if let Some(orb) = shared.orb.upgrade() {
                orb.trace_line(format_args!(
                    "the request waits: the POA manager `{}` {why}",
                    shared.id
                ));
            }
            self.warn_once(&shared.warnings.at_request, "a request waits for it");
        }
        shared.admission.admit()
    }

    /// Called when the application runs the ORB: logs a warning if the manager was never activated
    /// and has objects, which then get no requests.
    pub(crate) fn warn_before_run(&self) {
        if self.adapters().iter().any(|adapter| adapter.has_objects()) {
            self.warn_once(&self.shared.warnings.at_run, "its objects get no requests");
        }
    }

    fn warn_once(&self, warned: &AtomicBool, what: &str) {
        let forgotten =
            self.state() == ManagerState::Holding && !self.shared.admission.was_active();
        if forgotten && !warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                manager = %self.shared.id,
                "the POA manager has never been activated, and {what}: call `activate` on it"
            );
        }
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.shared.admission
    }

    pub(crate) fn set_adapter(&self, nonce: Nonce) -> bool {
        self.shared.nonce == nonce
    }

    pub(crate) fn add(&self, adapter: Weak<dyn Managed>) {
        let mut adapters = self.shared.adapters.lock();
        adapters.retain(|one| one.strong_count() > 0);
        adapters.push(adapter);
    }

    fn adapters(&self) -> Vec<Arc<dyn Managed>> {
        let adapters = self.shared.adapters.lock();
        adapters.iter().filter_map(Weak::upgrade).collect()
    }
}

impl PartialEq for PoaManager {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for PoaManager {}

impl fmt::Debug for PoaManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoaManager")
            .field("id", &self.id())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// Returns the standard's BAD_INV_ORDER for a wait from within an upcall (§15.3.2.4 and §15.3.9.4).
pub(crate) fn would_wait_for_itself() -> SystemException {
    SystemException::new(
        Kind::BadInvOrder,
        minor::SHUTDOWN_IN_UPCALL,
        CompletionStatus::No,
    )
    .with_detail("wait_for_completion in an upcall would wait for that very upcall")
}
