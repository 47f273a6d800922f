//! The ORB itself: the state that it owns beside its lanes, and its life cycle (CORBA 3.3 part 1,
//! §8.2).

use super::proxies::Proxies;
use super::run_error::RunError;
use crate::adapter::Collocated;
use crate::broker::Broker;
use crate::client::RemoteObject;
use crate::config::OrbConfig;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::lane::{BackChannel, Lane, Lanes};
use crate::measurement;
use crate::policy::{AdapterPolicies, InvalidPolicy, PolicyCurrent, PolicyManager};
use crate::profile::Origin;
use crate::server::{
    AdapterCell, AdapterWrapper, AroundUpcalls, Host, Intercepted, ObjectAdapter, UpcallHook,
};
use crate::timeline;
use crate::upcall;
use punctual_cdr::{Environment, ValueFactory};
use punctual_exec::thread::ThreadSpec;
use punctual_exec::{Deadline, LockProtocol, StopSignals};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

/// Object request broker. Cheap to clone; all clones refer to one ORB. Any number of ORBs can exist
/// in one process, independent of each other. An ORB that listens exists until [`Orb::shutdown`],
/// even if no handle to it remains, as its threads hold one.
#[derive(Clone)]
pub struct Orb {
    shared: Arc<Shared>,
    /// Origin of the messages whose values are decoded with this handle as their environment.
    reads_from: Origin,
    /// Connection over which the messages to decode arrive, if the references in these messages may
    /// be called over it (bidirectional GIOP).
    reads_by: Option<Weak<BackChannel>>,
}

/// Creates decoded references in the ORB that received the message.
impl Environment for Orb {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(self.clone())
    }

    fn value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        self.broker().values.lookup(id)
    }
}

/// Weak handle to an ORB ([`Orb::downgrade`]). For object adapters.
#[derive(Clone)]
pub struct WeakOrb {
    shared: Weak<Shared>,
}

impl WeakOrb {
    /// Returns the ORB, if it still exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<Orb> {
        let shared = self.shared.upgrade()?;
        Some(Orb {
            shared,
            reads_from: Origin::ThisHost,
            reads_by: None,
        })
    }
}

impl fmt::Debug for WeakOrb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakOrb")
    }
}

/// Object reference for calls that bypass the smart proxy.
pub(crate) struct UnproxiedObject {
    pub(crate) orb: Orb,
    pub(crate) object: RemoteObject,
}

/// Function that makes a smart proxy of an object.
pub(crate) type MakeProxy = dyn Fn(UnproxiedObject) -> Arc<dyn Collocated> + Send + Sync;

struct Shared {
    broker: Arc<Broker>,
    lanes: Lanes,
    adapter: Arc<AdapterCell>,
    /// Initial references of the ORB, by name.
    initial: RwLock<BTreeMap<String, Registered>>,
    /// Factory functions of smart proxies, by interface.
    proxies: Proxies<MakeProxy>,
}

/// Guard that wakes the threads waiting for the end of the ORB when it is dropped, even if the
/// release of a servant panics.
struct EndSignal(Arc<Broker>);

impl Drop for EndSignal {
    fn drop(&mut self) {
        self.0.life.notify_end();
    }
}

/// Object registered as an initial reference.
pub(crate) type Registered = Arc<dyn Any + Send + Sync>;

/// Wrappers of the object adapter, the innermost first, stored as an extension of the ORB.
pub(super) struct Wrappers(pub(super) Vec<Arc<dyn AdapterWrapper>>);

/// Hook around upcalls, stored as an extension of the ORB.
pub(super) struct Around(pub(super) Arc<dyn AroundUpcalls>);

impl Orb {
    /// Creates an ORB from settings that have been checked.
    pub(super) fn new(broker: Broker, locks: LockProtocol) -> Self {
        let broker = Arc::new(broker);
        let shared = Shared {
            lanes: Lanes::new(broker.clone(), locks),
            adapter: Arc::default(),
            initial: RwLock::new(BTreeMap::new()),
            proxies: Proxies::default(),
            broker,
        };
        Self {
            shared: Arc::new(shared),
            reads_from: Origin::ThisHost,
            reads_by: None,
        }
    }

    /// Returns a handle to this ORB as the environment for decoding messages of this origin.
    pub(crate) fn for_messages_from(&self, reads_from: Origin) -> Self {
        Self {
            shared: self.shared.clone(),
            reads_from,
            reads_by: None,
        }
    }

    /// Returns the connection of the messages that are decoded with this environment, if calls to
    /// their references may be made over it.
    pub(crate) fn reads_by(&self) -> Option<Weak<BackChannel>> {
        self.reads_by.clone()
    }

    /// Returns the origin of references that are decoded with this environment.
    pub(crate) fn reads_from(&self) -> Origin {
        self.reads_from
    }

    /// Returns a weak handle, which does not keep the ORB alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakOrb {
        WeakOrb {
            shared: Arc::downgrade(&self.shared),
        }
    }

    /// Returns the configuration with which the ORB was started.
    #[must_use]
    pub fn config(&self) -> &OrbConfig {
        self.broker().config()
    }

    /// Returns the server's id; empty if it has none ([`crate::OrbBuilder::server_id`]).
    #[must_use]
    pub fn server_id(&self) -> &str {
        self.broker().ids().server
    }

    /// Returns a name for [`NamedOperation`](crate::NamedOperation). For equal names it returns one
    /// shared string, so that state prepared by earlier calls is found again.
    #[must_use]
    pub fn operation_name(&self, name: &str) -> Arc<str> {
        self.broker().operation_names.name(name)
    }

    /// Returns the hook around the upcalls of an adapter with these policies
    /// ([`crate::OrbBuilder::around_upcalls`]). For object adapters, when they are created.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for a policy that the hook cannot implement.
    pub fn around_upcalls(
        &self,
        policies: &AdapterPolicies,
    ) -> Result<Option<UpcallHook>, InvalidPolicy> {
        match self.extension::<Around>() {
            Some(around) => Ok(around.0.of(policies)?.map(UpcallHook::new)),
            None => policies.check_no_upcall_hook().map(|()| None),
        }
    }

    /// Returns the state that a crate built on this one keeps for the ORB
    /// ([`crate::OrbBuilder::extension`]).
    #[must_use]
    pub fn extension<T: std::any::Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.broker().extensions.get()
    }

    /// Returns access to the policies of this ORB as a whole.
    #[must_use]
    pub fn policy_manager(&self) -> PolicyManager<'_> {
        PolicyManager::new(&self.broker().policies, &self.broker().protocols)
    }

    /// Returns access to the calling thread's policies for calls through this ORB.
    #[must_use]
    pub fn policy_current(&self) -> PolicyCurrent<'_> {
        PolicyCurrent::new(&self.broker().policies, &self.broker().protocols)
    }

    /// Blocks until [`Orb::shutdown`] has been called and has finished: the ORB no longer listens,
    /// and every call that was in progress has been answered (CORBA 3.3 part 1, §8.2.3.3), so that
    /// the process may end. Must not be called in an upcall, as it would wait for that upcall
    /// itself.
    ///
    /// Requests are served by the ORB's own threads, whether or not a thread is in this function.
    /// The exception are POAs whose upcalls run on the main thread, which is the first thread that
    /// calls this function or [`Orb::perform_work`].
    pub fn run(&self) {
        if let Some(adapter) = self.adapter() {
            adapter.warn_before_run();
        }
        self.run_main_thread(Deadline::NEVER);
        self.broker().life.wait_until_over();
    }

    /// Blocks like [`Orb::run`], but at most for `time`, so that a program can do other work in
    /// between. Returns whether the ORB has been shut down and the shutdown has finished.
    pub fn run_for(&self, time: Duration) -> bool {
        let until = Deadline::after(time);
        if let Some(adapter) = self.adapter() {
            adapter.warn_before_run();
        }
        self.run_main_thread(until) && self.broker().life.wait_until_over_or(until)
    }

    /// Blocks like [`Orb::run`] until SIGTERM or SIGINT comes, and then drains the ORB: calls in
    /// progress have `drain` to end, in which they may make calls of their own, and new ones go
    /// elsewhere. Clients that connect are refused; connections are closed with CloseConnection as
    /// soon as no call is in progress on them, upon which clients repeat elsewhere what was not
    /// begun. Returns early if the ORB is shut down.
    ///
    /// A second signal ends the process at once.
    ///
    /// ```no_run
    /// use punctual_orb::{Orb, StopSignals};
    /// use std::time::Duration;
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let signals = StopSignals::install()?;
    ///     let (orb, _arguments) = Orb::init(std::env::args())?;
    ///     // Objects are activated here.
    ///     orb.run_until(signals, Duration::from_secs(10))?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`RunError::StillInProgress`] if calls took longer than `drain`: the process should end now,
    /// and their clients get COMM_FAILURE. [`RunError::NoThread`] if no thread can wait for signals.
    pub fn run_until(&self, signals: StopSignals, drain: Duration) -> Result<(), RunError> {
        if let Some(adapter) = self.adapter() {
            adapter.warn_before_run();
        }
        let signals = Arc::new(signals);
        let (ending, waited_for) = (self.clone(), signals.clone());
        let waiting = ThreadSpec::named("punctual-signal").start(move || {
            // An error of the stream cannot be told from a signal, and must not be missed.
            if waited_for.wait().unwrap_or(true) {
                tracing::info!("a signal ends the process: calls in progress have {drain:?}");
                // It fails only within an upcall, and this is none.
                let _ = ending.shutdown(true);
            }
        });
        waiting.map_err(RunError::NoThread)?;
        self.run_main_thread(Deadline::NEVER);
        let has_ended = self
            .broker()
            .life
            .wait_until_over_or(Deadline::after(drain));
        signals.cancel();
        match has_ended {
            true => Ok(()),
            false => Err(RunError::StillInProgress(drain)),
        }
    }

    /// Runs `work` on the main thread and waits for it; runs it at once if the calling thread is
    /// the main thread. For object adapters.
    ///
    /// # Errors
    /// TRANSIENT if too much work waits for the main thread, or if the ORB no longer uses it.
    pub fn on_main_thread<R: Send>(
        &self,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R, SystemException> {
        upcall::on_main_thread(&self.broker().main_thread, work).map_err(|refused| {
            SystemException::new(Kind::Transient, minor::DISCARDED, CompletionStatus::No)
                .with_detail(refused.to_string())
        })
    }

    /// Returns whether the calling thread is in an upcall of this ORB, for a request or for a call
    /// within the process. For object adapters.
    #[must_use]
    pub fn is_in_upcall(&self) -> bool {
        upcall::in_upcall_of(self.broker().number())
    }

    /// Returns whether the calling thread is the main thread. For object adapters.
    #[must_use]
    pub fn is_main_thread(&self) -> bool {
        self.broker().main_thread.is_main_thread()
    }

    /// Shuts the ORB down: no new connections, no new requests; clients get CloseConnection, so
    /// that requests that were not begun can safely be repeated elsewhere.
    ///
    /// With `wait_for_completion` it returns after the last call in progress has been answered;
    /// otherwise it returns at once, while these calls still finish; [`Orb::run`] waits for them.
    /// When the shutdown has finished, buffered one-ways have been sent, and no further call can be
    /// made (BAD_INV_ORDER), not even in an upcall that is still in progress. A second `shutdown`
    /// with `wait_for_completion` waits for the first one. Without it, and if the first one did not
    /// wait either, it aborts the calls that the first one lets finish.
    ///
    /// # Errors
    /// BAD_INV_ORDER if it would wait for the upcall from which it is called (CORBA 3.3 part 1,
    /// §8.2.3.4).
    pub fn shutdown(&self, wait_for_completion: bool) -> Result<(), SystemException> {
        if wait_for_completion && upcall::in_upcall_of(self.broker().number()) {
            return Err(SystemException::new(
                Kind::BadInvOrder,
                minor::SHUTDOWN_IN_UPCALL,
                CompletionStatus::No,
            )
            .with_detail("shutdown was called within an upcall, and would wait for it"));
        }
        let life = &self.broker().life;
        if !life.begin_shutdown() {
            // Another thread shuts it down already.
            if wait_for_completion {
                self.run();
            } else if !life.calls() {
                self.each_lane(Lane::disconnect);
            }
            return Ok(());
        }
        // Clients are notified first, so that they can distinguish requests not begun from
        // failures.
        self.each_lane(Lane::stop_listening);
        if let Some(adapter) = self.adapter() {
            adapter.shut_down();
        }
        self.broker().main_thread.close();
        self.each_lane(Lane::stop_using_main_thread);
        if wait_for_completion {
            self.wait_until_idle();
            self.initial_references(BTreeMap::clear);
            life.end();
            self.finish();
            return Ok(());
        }
        self.initial_references(BTreeMap::clear);
        life.end();
        self.each_lane(Lane::retire_connections);
        if self.has_no_clients() {
            self.finish();
            return Ok(());
        }
        let orb = self.clone();
        let finishing = ThreadSpec::named("punctual-end").start(move || {
            let _told = EndSignal(orb.shared_broker());
            orb.wait_until_idle();
            orb.let_go();
            // Dropped before the end is signalled: links may have to settle something when the last
            // ORB releases them.
            drop(orb);
        });
        if let Err(error) = finishing {
            tracing::warn!(
                "calls in progress are cut off, as no thread can wait for them: {error}"
            );
            self.finish();
        }
        Ok(())
    }

    /// Returns whether no caller can exist: no client is connected, and the ORB has no object
    /// adapter.
    fn has_no_clients(&self) -> bool {
        let mut lanes = self.lanes().all();
        self.adapter().is_none() && lanes.all(|lane| lane.incoming.connections.len() == 0)
    }

    /// Waits until the last call in progress has been answered.
    fn wait_until_idle(&self) {
        self.each_lane(Lane::wait_until_idle);
        // Calls within the process have no connection.
        if let Some(adapter) = self.adapter() {
            adapter.wait_until_idle();
        }
    }

    /// Releases connections and servants, and wakes the threads that wait for the end.
    fn finish(&self) {
        let _told = EndSignal(self.shared_broker());
        self.let_go();
    }

    fn let_go(&self) {
        self.each_lane(Lane::disconnect);
        if let Some(adapter) = self.adapter() {
            adapter.release();
        }
        self.write_measured();
    }

    /// Writes the measured times of upcalls, and the timeline of requests, to the files that the configuration names.
    fn write_measured(&self) {
        // Without the feature the ORB does not start with such files.
        if cfg!(not(feature = "recordings")) {
            return;
        }
        if let Some(file) = &self.config().record
            && let Err(error) = measurement::write_file(file)
        {
            let file = file.display();
            tracing::error!(%file, "the measured times of upcalls cannot be written: {error}");
        }
        if let Some(file) = &self.config().timeline
            && let Err(error) = timeline::write_file(file)
        {
            let file = file.display();
            tracing::error!(%file, "the timeline of requests cannot be written: {error}");
        }
    }

    /// Returns whether [`Orb::shutdown`] has been called.
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        !self.broker().life.serves()
    }

    /// Sets the ORB's object adapter, or returns the one that is already set. For object adapters.
    pub fn adapter_or_set(
        &self,
        make: impl FnOnce() -> Arc<dyn ObjectAdapter>,
    ) -> &Arc<dyn ObjectAdapter> {
        let broker = &self.shared.broker;
        self.shared.adapter.get_or_set(|| {
            let adapter = Intercepted::around(make(), broker);
            let wrappers = broker.extensions.get::<Wrappers>();
            let wrappers = wrappers.iter().flat_map(|wrappers| &wrappers.0);
            wrappers.fold(adapter, |adapter, wrapper| {
                wrapper.around(adapter, self.config())
            })
        })
    }

    /// Prints a line among the messages that `-ORBTrace giop` prints, if that is enabled. For
    /// object adapters.
    pub fn trace_line(&self, text: std::fmt::Arguments<'_>) {
        self.broker().tracer().say(text);
    }

    /// Returns the ORB's object adapter, if one is set.
    #[must_use]
    pub fn adapter(&self) -> Option<&Arc<dyn ObjectAdapter>> {
        self.shared.adapter.get()
    }

    /// Returns the context in which incoming requests are served.
    pub(super) fn host(&self) -> Host {
        let for_messages_from = |origin| Arc::new(self.for_messages_from(origin));
        let here = for_messages_from(Origin::ThisHost);
        let elsewhere = for_messages_from(Origin::Elsewhere);
        let orb = self.for_messages_from(Origin::ThisHost);
        let by = move |origin, back| -> Arc<dyn Environment> {
            Arc::new(Self {
                reads_by: Some(back),
                ..orb.for_messages_from(origin)
            })
        };
        let adapter = self.shared.adapter.clone();
        Host::new((here, elsewhere), Arc::new(by), adapter)
    }

    #[inline]
    pub(crate) fn broker(&self) -> &Broker {
        &self.shared.broker
    }

    /// Returns the broker, for users that must not keep the ORB alive.
    pub(crate) fn shared_broker(&self) -> Arc<Broker> {
        self.shared.broker.clone()
    }

    #[inline]
    pub(crate) fn lanes(&self) -> &Lanes {
        &self.shared.lanes
    }

    /// Registers the function that makes smart proxies of an interface. It applies to references
    /// whose first call is made after that.
    pub(crate) fn make_proxies(&self, repository_id: &str, make: Arc<MakeProxy>) {
        self.shared.proxies.insert(repository_id, make);
    }

    /// Returns the function that makes smart proxies of an interface, if one is registered.
    pub(crate) fn makes_proxies(&self, repository_id: &str) -> Option<Arc<MakeProxy>> {
        self.shared.proxies.find(repository_id)
    }

    pub(super) fn each_lane(&self, each: impl Fn(&Lane)) {
        self.lanes().all().for_each(|lane| each(&lane));
    }

    /// Calls `with` with the table of the ORB's initial references.
    pub(crate) fn initial_references<R>(
        &self,
        with: impl FnOnce(&mut BTreeMap<String, Registered>) -> R,
    ) -> R {
        let initial = self.shared.initial.write();
        with(&mut initial.unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl fmt::Debug for Orb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orb")
            .field("broker", &self.shared.broker)
            .finish_non_exhaustive()
    }
}
