//! The ORB itself: its configuration, its lane, its adapter, its life (CORBA 3.3 part 1, §8.2).

mod speaking;
mod start;

pub use start::{InitError, OrbBuilder};

use crate::adapter::ObjectAdapter;
use crate::client::Names;
use crate::collocation::Pulse;
use crate::config::OrbConfig;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::lane::Lane;
use crate::messaging::Tracer;
use crate::policy::{Managed, PolicyCurrent, PolicyManager};
use crate::protocol::Protocols;
use crate::reference::{AsObject, ObjectRef};
use crate::server;
use crate::value::ValueFactories;
use punctual_cdr::{Environment, Limits, ValueFactory};
use punctual_exec::MainThreadQueue;
use punctual_ior::{Ior, PolicyValue};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

/// An object request broker. Cheap to clone; clones are the same ORB. Any number may live in one
/// process, and none knows of the others. One that listens lives until [`Orb::shutdown`], whether or
/// not anybody still holds it: its threads do.
#[derive(Clone)]
pub struct Orb {
    shared: Arc<Shared>,
}

/// References that are read belong to the ORB whose message they came in.
impl Environment for Orb {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(self.clone())
    }

    fn value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.lookup_value_factory(id)
    }
}

/// An ORB, held so that it may end ([`Orb::downgrade`]). For adapters.
#[derive(Clone)]
pub struct WeakOrb {
    shared: Weak<Shared>,
}

impl WeakOrb {
    /// The ORB, if anybody holds it still.
    #[must_use]
    pub fn upgrade(&self) -> Option<Orb> {
        let shared = self.shared.upgrade()?;
        Some(Orb { shared })
    }
}

impl fmt::Debug for WeakOrb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakOrb")
    }
}

struct Shared {
    config: OrbConfig,
    limits: Arc<Limits>,
    /// Tells it from every other ORB of the process.
    number: u64,
    protocols: Protocols,
    policies: Managed,
    lane: Lane,
    operation_names: Names,
    values: ValueFactories,
    adapter: OnceLock<Arc<dyn ObjectAdapter>>,
    initial: RwLock<BTreeMap<String, ObjectRef>>,
    life: Mutex<Life>,
    /// The same again, for a glance without the lock.
    pulse: Arc<Pulse>,
    changed: Condvar,
    /// What the main thread is to do.
    errands: MainThreadQueue,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    ShuttingDown,
    Over,
}

impl Orb {
    /// One that has checked what it was told.
    fn new(config: OrbConfig, protocols: Protocols) -> Self {
        let shared = Shared {
            limits: Arc::new(config.limits.clone()),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            protocols,
            policies: Managed::default(),
            lane: Lane::new(config.max_connections),
            operation_names: Names::default(),
            values: ValueFactories::default(),
            adapter: OnceLock::new(),
            initial: RwLock::new(BTreeMap::new()),
            life: Mutex::new(Life::Running),
            pulse: Arc::new(Pulse::default()),
            changed: Condvar::new(),
            errands: MainThreadQueue::default(),
            config,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The same ORB, not kept alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakOrb {
        WeakOrb {
            shared: Arc::downgrade(&self.shared),
        }
    }

    /// What it was started with.
    #[must_use]
    pub fn config(&self) -> &OrbConfig {
        &self.shared.config
    }

    /// A name for [`NamedOperation`](crate::NamedOperation): the same one for the same operation, so that
    /// what calls have prepared for it is found again.
    #[must_use]
    pub fn operation_name(&self, name: &str) -> Arc<str> {
        self.shared.operation_names.name(name)
    }

    /// The policies of this ORB as a whole.
    #[must_use]
    pub fn policy_manager(&self) -> PolicyManager<'_> {
        PolicyManager::new(self)
    }

    /// The calling thread's policies for calls through this ORB.
    #[must_use]
    pub fn policy_current(&self) -> PolicyCurrent<'_> {
        PolicyCurrent::new(self)
    }

    /// Registers an object under a name for [`Orb::resolve_initial_references`] and for
    /// `corbaloc:rir:/name` in this process.
    ///
    /// # Errors
    /// BAD_PARAM for nil.
    pub fn register_initial_reference(
        &self,
        name: &str,
        object: &impl AsObject,
    ) -> Result<(), SystemException> {
        let object = object.object().ok_or_else(|| {
            SystemException::new(Kind::BadParam, minor::NIL_REGISTERED, CompletionStatus::No)
                .with_detail(format!("nil cannot be the initial reference `{name}`"))
        })?;
        let mut initial = self
            .shared
            .initial
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        initial.insert(name.to_owned(), object.clone());
        Ok(())
    }

    /// The names of all initial references, registered or configured.
    #[must_use]
    pub fn list_initial_services(&self) -> Vec<String> {
        let initial = self
            .shared
            .initial
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> = initial.keys().cloned().collect();
        names.extend(self.config().initial_references.keys().cloned());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Blocks until [`Orb::shutdown`] has been called and has finished.
    ///
    /// Requests are served by threads of the ORB's own, whether or not anybody is in here; but for those of
    /// adapters whose upcalls are the main thread's, which is the first that calls this or
    /// [`Orb::perform_work`].
    pub fn run(&self) {
        self.shared.errands.run();
        let mut life = self.life();
        while *life != Life::Over {
            life = self
                .shared
                .changed
                .wait(life)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether an upcall waits for the main thread (CORBA 3.3 part 1, §8.2.3.1).
    #[must_use]
    pub fn work_pending(&self) -> bool {
        self.shared.errands.work_pending()
    }

    /// Makes one upcall that waits for the main thread, if one does and the calling thread is that: for
    /// programs whose main thread has other things to do besides. Tells whether it made one.
    ///
    /// # Errors
    /// BAD_INV_ORDER after a shutdown.
    pub fn perform_work(&self) -> Result<bool, SystemException> {
        self.check_running()?;
        Ok(self.shared.errands.perform_work())
    }

    /// Has the main thread do `work` and waits for it, or does it if the calling thread is that. For adapters.
    ///
    /// # Errors
    /// TRANSIENT when too much waits for that thread, or nobody will be it any more.
    pub fn on_main_thread<R: Send>(
        &self,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R, SystemException> {
        server::on_main_thread(&self.shared.errands, work).map_err(|refused| {
            SystemException::new(Kind::Transient, minor::DISCARDED, CompletionStatus::No)
                .with_detail(refused.to_string())
        })
    }

    /// Whether the calling thread is in an upcall of this ORB, by wire or within the process. For adapters.
    #[must_use]
    pub fn is_in_upcall(&self) -> bool {
        server::in_upcall_of(self)
    }

    /// Whether the calling thread is the main thread. For adapters.
    #[must_use]
    pub fn is_main_thread(&self) -> bool {
        self.shared.errands.is_main_thread()
    }

    /// Ends the ORB: no new connections, no new requests; clients are told by CloseConnection, so
    /// that what was not begun can safely be repeated elsewhere.
    ///
    /// With `wait_for_completion` it returns after the last call in progress has been answered;
    /// otherwise at once, while they still finish. A second call waits for the first, or does nothing.
    ///
    /// # Errors
    /// BAD_INV_ORDER when it would wait for the very call it is made from (CORBA 3.3 part 1, §8.2.3.4).
    pub fn shutdown(&self, wait_for_completion: bool) -> Result<(), SystemException> {
        if wait_for_completion && server::in_upcall_of(self) {
            return Err(SystemException::new(
                Kind::BadInvOrder,
                minor::SHUTDOWN_IN_UPCALL,
                CompletionStatus::No,
            )
            .with_detail("shutdown would wait for the call it is made from"));
        }
        {
            let mut life = self.life();
            if *life != Life::Running {
                drop(life);
                // Somebody else ends it already.
                if wait_for_completion {
                    self.run();
                }
                return Ok(());
            }
            *life = Life::ShuttingDown;
            self.shared.pulse.stops_serving();
        }
        // Clients are told first, so that what is not begun any more is told from what fails.
        self.lane().listening.close();
        if let Some(adapter) = self.shared.adapter.get() {
            adapter.shut_down();
        }
        self.shared.errands.close();
        if wait_for_completion {
            self.lane().listening.wait_until_idle();
            // What was called within the process came by no connection.
            if let Some(adapter) = self.shared.adapter.get() {
                adapter.wait_until_idle();
            }
        }
        self.shared
            .initial
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        *self.life() = Life::Over;
        self.shared.pulse.ends();
        self.lane().disconnect();
        if let Some(adapter) = self.shared.adapter.get() {
            adapter.release();
        }
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Whether [`Orb::shutdown`] has been called.
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        *self.life() != Life::Running
    }

    /// Sets the one object adapter, or returns the one that is set. For adapters.
    pub fn adapter_or_set(
        &self,
        make: impl FnOnce() -> Arc<dyn ObjectAdapter>,
    ) -> &Arc<dyn ObjectAdapter> {
        self.shared.adapter.get_or_init(make)
    }

    /// Listens at the configured endpoints, if it does not yet. For adapters.
    ///
    /// # Errors
    /// INITIALIZE when an endpoint cannot be listened at, BAD_INV_ORDER after a shutdown.
    pub fn listen(&self) -> Result<(), SystemException> {
        self.check_running()?;
        self.lane().listening.open(self)
    }

    /// A reference to an object of this ORB's adapter: its type and its key at every endpoint that
    /// the ORB listens at. For adapters.
    ///
    /// # Errors
    /// Those of [`Orb::listen`].
    pub fn make_reference(
        &self,
        type_id: &str,
        object_key: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        self.make_reference_with_policies(type_id, object_key, &[])
    }

    /// The same, with policies that clients are to know ([`ObjectRef::published_policies`]). Every
    /// profile has them, but those of GIOP 1.0, which have no components. For adapters.
    ///
    /// # Errors
    /// Those of [`Orb::listen`], and MARSHAL for policies that are too long.
    pub fn make_reference_with_policies(
        &self,
        type_id: &str,
        object_key: &[u8],
        policies: &[PolicyValue],
    ) -> Result<ObjectRef, SystemException> {
        self.listen()?;
        let listening = &self.lane().listening;
        let profiles = listening.profiles(self, object_key, policies)?;
        let ior = Ior {
            type_id: type_id.to_owned(),
            profiles,
        };
        Ok(ObjectRef::made_here(self.clone(), ior))
    }

    /// The object adapter, if one is set.
    #[must_use]
    pub fn adapter(&self) -> Option<&Arc<dyn ObjectAdapter>> {
        self.shared.adapter.get()
    }

    /// Objects are activated while the ORB runs.
    pub(crate) fn check_running(&self) -> Result<(), SystemException> {
        if self.is_shut_down() {
            Err(has_shut_down())
        } else {
            Ok(())
        }
    }

    /// Calls are made until it is over: those in progress at its end may need others.
    pub(crate) fn check_not_over(&self) -> Result<(), SystemException> {
        if *self.life() == Life::Over {
            Err(has_shut_down())
        } else {
            Ok(())
        }
    }

    /// Whether it still serves, and calls, for who must not keep it alive.
    pub(crate) fn pulse(&self) -> &Arc<Pulse> {
        &self.shared.pulse
    }

    pub(crate) fn registered(&self, name: &str) -> Option<ObjectRef> {
        self.shared
            .initial
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }

    pub(crate) fn lane(&self) -> &Lane {
        &self.shared.lane
    }

    pub(crate) fn number(&self) -> u64 {
        self.shared.number
    }

    pub(crate) fn managed_policies(&self) -> &Managed {
        &self.shared.policies
    }

    pub(crate) fn protocols(&self) -> &Protocols {
        &self.shared.protocols
    }

    pub(crate) fn value_factories(&self) -> &ValueFactories {
        &self.shared.values
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    pub(crate) fn shared_limits(&self) -> Arc<Limits> {
        self.shared.limits.clone()
    }

    pub(crate) fn tracer(&self) -> Tracer {
        Tracer::new(self.config().trace)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.shared
            .life
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Orb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orb")
            .field("life", &*self.life())
            .finish_non_exhaustive()
    }
}

fn has_shut_down() -> SystemException {
    SystemException::new(
        Kind::BadInvOrder,
        minor::ORB_HAS_SHUT_DOWN,
        CompletionStatus::No,
    )
    .with_detail("the ORB has shut down")
}
