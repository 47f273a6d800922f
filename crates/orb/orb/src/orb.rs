//! The ORB itself: its configuration, its lane, its adapter, its life (CORBA 3.3 part 1, §8.2).

use crate::adapter::ObjectAdapter;
use crate::config::{ConfigError, ListenEndpoint, OrbConfig};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::lane::Lane;
use crate::messaging::{Messaging, Tracer};
use crate::policy::{Managed, PolicyCurrent, PolicyManager};
use crate::profile::ProfileCodec;
use crate::protocol::{
    ProtocolBundle, ProtocolCatalogue, ProtocolError, Protocols, Registry, builtin,
};
use crate::reference::{AsObject, ObjectRef};
use crate::server;
use punctual_cdr::Limits;
use punctual_ior::{Ior, PolicyValue};
use punctual_link::{Adapter, Link};
use punctual_plugin::PluginError;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// An object request broker. Cheap to clone; clones are the same ORB. Any number may live in one
/// process, and none knows of the others. One that listens lives until [`Orb::shutdown`], whether or
/// not anybody still holds it: its threads do.
#[derive(Clone)]
pub struct Orb {
    shared: Arc<Shared>,
}

struct Shared {
    config: OrbConfig,
    limits: Arc<Limits>,
    /// Tells it from every other ORB of the process.
    number: u64,
    protocols: Protocols,
    policies: Managed,
    lane: Lane,
    adapter: OnceLock<Arc<dyn ObjectAdapter>>,
    initial: RwLock<BTreeMap<String, ObjectRef>>,
    life: Mutex<Life>,
    changed: Condvar,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    ShuttingDown,
    Over,
}

/// Why an ORB did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// An option or a key that cannot be obeyed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A protocol that cannot be used: unknown, or its parts do not fit.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    /// A library with a link that cannot be loaded.
    #[error("{0}")]
    Library(#[from] PluginError),
    /// A certificate, a key or an authority that TLS cannot use.
    #[cfg(feature = "tls")]
    #[error("{0}")]
    Tls(#[from] punctual_tls::TlsError),
}

impl Orb {
    /// Starts an ORB, taking its `-ORB…` options out of `arguments`; the rest is handed back, the
    /// program's name included.
    ///
    /// # Errors
    /// [`InitError`] for an option that is unknown or cannot be obeyed.
    pub fn init(
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<(Self, Vec<String>), InitError> {
        let mut config = OrbConfig::default();
        let rest = config.apply_arguments(arguments)?;
        Ok((Self::with_config(config, &ProtocolBundle::new())?, rest))
    }

    /// Starts an ORB from code: its settings first, then a file's, then options'.
    #[must_use]
    pub fn builder() -> OrbBuilder {
        OrbBuilder::default()
    }

    fn with_config(config: OrbConfig, added: &ProtocolBundle) -> Result<Self, InitError> {
        config.check()?;
        let protocols = Protocols::default();
        protocols.add(&builtin(&config))?;
        #[cfg(feature = "tls")]
        if let Some(options) = &config.tls {
            let link = Arc::new(punctual_tls::Ssliop::new(options.clone())?);
            protocols.add(&ProtocolBundle::new().link(link))?;
        }
        for library in &config.libraries {
            let link = punctual_plugin::load(library)?;
            protocols.add(&ProtocolBundle::new().link(link))?;
        }
        protocols.add(added)?;
        check_protocols(&config, &protocols.now())?;
        let shared = Shared {
            limits: Arc::new(config.limits.clone()),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            protocols,
            policies: Managed::default(),
            lane: Lane::new(config.max_connections),
            adapter: OnceLock::new(),
            initial: RwLock::new(BTreeMap::new()),
            life: Mutex::new(Life::Running),
            changed: Condvar::new(),
            config,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// What it was started with.
    #[must_use]
    pub fn config(&self) -> &OrbConfig {
        &self.shared.config
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
    /// Requests are served by threads of the ORB's own, whether or not anybody is in here.
    pub fn run(&self) {
        let mut life = self.life();
        while *life != Life::Over {
            life = self
                .shared
                .changed
                .wait(life)
                .unwrap_or_else(PoisonError::into_inner);
        }
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
        }
        // Clients are told first, so that what is not begun any more is told from what fails.
        self.lane().listening.close();
        if let Some(adapter) = self.shared.adapter.get() {
            adapter.shut_down();
        }
        if wait_for_completion {
            self.lane().listening.wait_until_idle();
        }
        self.shared
            .initial
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        *self.life() = Life::Over;
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
        Ok(ObjectRef::new(self.clone(), ior))
    }

    /// Where the ORB listens: the endpoints with their real ports, once it does.
    #[must_use]
    pub fn endpoints(&self) -> Vec<ListenEndpoint> {
        self.lane().listening.endpoints()
    }

    /// What the protocols of this ORB are made of now.
    #[must_use]
    pub fn protocol_catalogue(&self) -> ProtocolCatalogue {
        self.shared.protocols.now().catalogue()
    }

    /// Whether a protocol can be used: its parts are there, and its link guarantees what its messaging
    /// protocol needs. Says how it is named in references.
    ///
    /// # Errors
    /// [`ProtocolError`], which says what is missing or does not fit.
    pub fn check_protocol(&self, protocol: &str) -> Result<String, ProtocolError> {
        let pair = self.shared.protocols.now().pair(protocol)?;
        Ok(pair.name.into())
    }

    /// Adds protocols while the ORB runs: all of the bundle, or after an error nothing of it.
    ///
    /// # Errors
    /// [`ProtocolError`] for a name that is taken and for pairs that do not fit.
    pub fn add_protocols(&self, bundle: &ProtocolBundle) -> Result<(), ProtocolError> {
        self.shared.protocols.add(bundle)
    }

    /// Retires a link, a messaging protocol or an adapter while the ORB runs. Endpoints that use it
    /// close; calls in progress over it, in either direction, finish; references go on by their other
    /// profiles, if they have any.
    ///
    /// # Errors
    /// [`ProtocolError`] when there is none of that name, and when the configuration's
    /// `client_protocols` name it.
    pub fn retire_protocol(&self, name: &str) -> Result<(), ProtocolError> {
        let config = self.config();
        self.shared.protocols.retire(name, |registry| {
            config.client_protocols.iter().try_for_each(|protocol| {
                let gone = registry.pair(protocol).err();
                gone.map_or(Ok(()), |error| {
                    Err(ProtocolError::InUse(name.to_owned(), error.to_string()))
                })
            })
        })?;
        self.lane().listening.retire_protocols(name);
        self.lane().retire(name);
        Ok(())
    }

    /// Listens at one more endpoint while the ORB runs, and says where that is. References made from
    /// now on name it.
    ///
    /// # Errors
    /// INITIALIZE when it cannot be listened at, BAD_INV_ORDER after a shutdown.
    pub fn add_endpoint(
        &self,
        endpoint: ListenEndpoint,
    ) -> Result<ListenEndpoint, SystemException> {
        self.check_running()?;
        self.lane().listening.add(self, endpoint)
    }

    /// Listens no more at an endpoint, named as it was configured or as [`Orb::endpoints`] has it, and
    /// says goodbye to the clients that came there; their calls in progress finish. `false` when the
    /// ORB does not listen there.
    pub fn retire_endpoint(&self, endpoint: &ListenEndpoint) -> bool {
        self.lane().listening.retire(endpoint)
    }

    /// How many clients are connected.
    #[must_use]
    pub fn client_connections(&self) -> usize {
        self.lane().listening.connections()
    }

    pub(crate) fn adapter(&self) -> Option<&Arc<dyn ObjectAdapter>> {
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

/// Every protocol that a configuration names must be there and fit.
fn check_protocols(config: &OrbConfig, registry: &Registry) -> Result<(), ProtocolError> {
    let listened = config.listen.iter().map(|endpoint| &endpoint.protocol);
    let mut named = config.client_protocols.iter().chain(listened);
    named.try_for_each(|protocol| registry.pair(protocol).map(drop))
}

fn has_shut_down() -> SystemException {
    SystemException::new(
        Kind::BadInvOrder,
        minor::ORB_HAS_SHUT_DOWN,
        CompletionStatus::No,
    )
    .with_detail("the ORB has shut down")
}

/// Starts an ORB from code. Each step overrides the ones before it.
#[derive(Debug, Default)]
pub struct OrbBuilder {
    config: OrbConfig,
    added: ProtocolBundle,
}

impl OrbBuilder {
    /// Changes settings in place.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(&mut OrbConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Listens at one more endpoint.
    #[must_use]
    pub fn listen(mut self, endpoint: ListenEndpoint) -> Self {
        self.config.listen.push(endpoint);
        self
    }

    /// Adds a link, which endpoints and protocols then name by its name.
    #[must_use]
    pub fn link(mut self, link: Arc<dyn Link>) -> Self {
        self.added = self.added.link(link);
        self
    }

    /// Loads a link from a shared library (`punctual_plugin`, paper 000 §4.5: the Component
    /// Configurator). A library is code that runs in this process: name only what you would run.
    #[must_use]
    pub fn library(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.libraries.push(path.into());
        self
    }

    /// Adds a messaging protocol.
    #[must_use]
    pub fn messaging(mut self, messaging: Arc<dyn Messaging>) -> Self {
        self.added = self.added.messaging(messaging);
        self
    }

    /// Adds an adapter.
    #[must_use]
    pub fn adapter(mut self, adapter: Arc<dyn Adapter>) -> Self {
        self.added = self.added.adapter(adapter);
        self
    }

    /// Adds a codec for profiles of a tag, before those that there are.
    #[must_use]
    pub fn profile_codec(mut self, codec: Arc<dyn ProfileCodec>) -> Self {
        self.added = self.added.profile_codec(codec);
        self
    }

    /// Names an initial reference by its text.
    #[must_use]
    pub fn initial_reference(mut self, name: &str, text: &str) -> Self {
        self.config
            .initial_references
            .insert(name.to_owned(), text.to_owned());
        self
    }

    /// Obeys a TOML file.
    ///
    /// # Errors
    /// Those of [`OrbConfig::apply_file`].
    pub fn file(mut self, path: impl Into<PathBuf>) -> Result<Self, InitError> {
        self.config.apply_file(path)?;
        Ok(self)
    }

    /// Obeys `-ORB…` options and hands back the rest of the arguments.
    ///
    /// # Errors
    /// Those of [`OrbConfig::apply_arguments`].
    pub fn arguments(
        mut self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<(Self, Vec<String>), InitError> {
        let rest = self.config.apply_arguments(arguments)?;
        Ok((self, rest))
    }

    /// Starts it.
    ///
    /// # Errors
    /// [`InitError`] for settings that cannot be obeyed.
    pub fn build(self) -> Result<Orb, InitError> {
        Orb::with_config(self.config, &self.added)
    }
}
