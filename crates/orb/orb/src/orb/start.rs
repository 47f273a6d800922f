//! Start of an ORB: its settings, and the parts that are created from them.

use super::handle::{Around, Orb, Wrappers};
use super::initialize::{Adds, Initializers, OrbInitializer};
use crate::broker::{Broker, Extensions, Ids, PrioritySource};
use crate::config::{
    ConfigError, FaultToleranceSettings, ListenEndpoint, OrbConfig, RealTimeSettings,
};
use crate::exception::SystemException;
use crate::fixed_context::{self, RequestContext, RequestContextError};
use crate::groups::{GroupCalls, GroupCallsSource};
use crate::interceptor::{ClientRequestInterceptor, IorInterceptor, ServerRequestInterceptor};
use crate::lane::lane_threads;
use crate::measurement;
use crate::messaging::Messaging;
use crate::policy::{PolicyType, PolicyTypeTaken, PolicyTypes, Security};
use crate::priorities::Priorities;
use crate::priority::Priority;
use crate::profile::{ProfileCodec, PublishedEndpoints};
use crate::protocol::{ProtocolBundle, ProtocolError, Protocols, Registry, builtin};
use crate::server::{AdapterWrapper, AroundUpcalls};
use crate::timeline;
use crate::urgency::{Registered, UrgencyStrategy};
use punctual_exec::LockProtocol;
use punctual_link::{Link, LinkAdapter, LinkError, Properties};
use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reason why an ORB did not start.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// A command-line option or a configuration key is not valid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A property of a table `[link.…]` of the configuration fits no connection or acceptor of that link.
    #[error("`[link.{link}]`: {}", error.cause)]
    LinkProperty {
        /// Name of the link.
        link: String,
        /// The property, and what would fit.
        error: LinkError,
    },
    /// A protocol cannot be used: it is unknown, or its parts are incompatible.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    /// A policy type has the number of another type.
    #[error(transparent)]
    PolicyType(#[from] PolicyTypeTaken),
    /// A service context of fixed size cannot be carried by requests.
    #[error(transparent)]
    RequestContext(#[from] RequestContextError),
    /// An initialiser has raised an exception, for example because the name of an interceptor is
    /// already in use.
    #[error("an initialiser has raised {0}")]
    Initializer(#[from] SystemException),
    /// The threads that serve an endpoint cannot run at the endpoint's priority.
    #[error("the endpoint {endpoint} of priority {priority}: {why}")]
    EndpointPriority {
        /// Endpoint whose priority cannot be used.
        endpoint: ListenEndpoint,
        /// CORBA priority of the endpoint.
        priority: Priority,
        /// Reason why threads cannot have the priority.
        why: String,
    },
    /// The configuration of Real-time CORBA differs from the program's settings, or the ORB has no
    /// component that implements it.
    #[error("the configuration of Real-time CORBA differs from the program's settings: {0}")]
    RealTime(String),
    /// The settings are of Fault Tolerant CORBA, which the program does not use.
    #[error(
        "the table [fault_tolerance] is of no effect: the program has not added fault tolerance (`FaultTolerance::extend`)"
    )]
    FaultTolerance,
    /// A shared library with a link cannot be loaded.
    #[cfg(feature = "plugins")]
    #[error("{0}")]
    Library(#[from] punctual_plugin::PluginError),
    /// The configuration names a shared library, but this program was built without the feature
    /// `plugins`.
    #[error("`{}` cannot be loaded: this program was built without the feature `plugins`", .0.display())]
    WithoutPlugins(PathBuf),
    /// TLS cannot use a certificate, a key or an authority.
    #[cfg(feature = "tls")]
    #[error("`tls.{option}`: {0}", option = .0.option)]
    Tls(#[from] punctual_tls::TlsError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Orb {
    /// Starts an ORB with the `-ORB…` options in `arguments`. Also returns the remaining arguments,
    /// including the program's name.
    ///
    /// # Errors
    /// [`InitError`] for an option that is unknown or invalid.
    pub fn init(
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<(Self, Vec<String>), InitError> {
        Self::builder().init(arguments)
    }

    /// Returns a builder, which starts an ORB with settings from code, from files, and from
    /// command-line options.
    #[must_use]
    pub fn builder() -> OrbBuilder {
        OrbBuilder::default()
    }
}

/// Builder that starts an ORB. Each step overrides the steps before it.
#[derive(Debug, Default)]
pub struct OrbBuilder {
    config: OrbConfig,
    added: ProtocolBundle,
    policy_types: PolicyTypes,
    request_contexts: Vec<Arc<dyn RequestContext>>,
    extensions: Extensions,
    initializers: Initializers,
    ids: Ids,
    /// Arguments that remain after the `-ORB…` options have been removed.
    arguments: Vec<String>,
}

impl OrbBuilder {
    /// Changes the ORB's settings by calling a function with them.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(&mut OrbConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Adds an endpoint for the ORB to listen at.
    #[must_use]
    pub fn listen(mut self, endpoint: ListenEndpoint) -> Self {
        self.config.listen.push(endpoint);
        self
    }

    /// Adds a link. Endpoints and protocols refer to it by its name.
    #[must_use]
    pub fn link(mut self, link: Arc<dyn Link>) -> Self {
        self.added = self.added.link(link);
        self
    }

    /// Loads a link from a shared library (`punctual_plugin`, Schmidt et al. 2001 §4.5: the
    /// Component Configurator). A library is code that runs in this process: load only trusted
    /// ones.
    #[must_use]
    pub fn library(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.libraries.push(path.into());
        self
    }

    /// Adds a messaging protocol to the ORB.
    #[must_use]
    pub fn messaging(mut self, messaging: Arc<dyn Messaging>) -> Self {
        self.added = self.added.messaging(messaging);
        self
    }

    /// Adds a link adapter to the ORB.
    #[must_use]
    pub fn adapter(mut self, adapter: Arc<dyn LinkAdapter>) -> Self {
        self.added = self.added.adapter(adapter);
        self
    }

    /// Adds a codec for profiles with the tag of the codec. It takes precedence over existing
    /// codecs.
    #[must_use]
    pub fn profile_codec(mut self, codec: Arc<dyn ProfileCodec>) -> Self {
        self.added = self.added.profile_codec(codec);
        self
    }

    /// Adds a policy type. Policies of this type may then be set at the type's levels, and are read
    /// from references.
    ///
    /// # Errors
    /// [`InitError::PolicyType`] if another type has its number.
    pub fn policy_type<P: PolicyType>(mut self) -> Result<Self, InitError> {
        self.policy_types.add::<P>()?;
        Ok(self)
    }

    /// Adds a service context to the requests of the ORB.
    #[must_use]
    pub fn request_context(mut self, context: Arc<dyn RequestContext>) -> Self {
        self.request_contexts.push(context);
        self
    }

    /// Adds an initialiser, which is called when the ORB starts, after those that were added
    /// before, and registers interceptors (CORBA 3.3 part 1, §16.9.4: `register_orb_initializer`).
    #[must_use]
    pub fn initializer(mut self, initializer: Arc<dyn OrbInitializer>) -> Self {
        self.initializers.add(initializer);
        self
    }

    /// Adds a client request interceptor, as an initialiser can.
    #[must_use]
    pub fn client_interceptor(self, interceptor: Arc<dyn ClientRequestInterceptor>) -> Self {
        self.initializer(Arc::new(Adds::Client(interceptor)))
    }

    /// Adds a server request interceptor, as an initialiser can.
    #[must_use]
    pub fn server_interceptor(self, interceptor: Arc<dyn ServerRequestInterceptor>) -> Self {
        self.initializer(Arc::new(Adds::Server(interceptor)))
    }

    /// Adds an IOR interceptor, which is called for each new object adapter, as an initialiser can.
    #[must_use]
    pub fn ior_interceptor(self, interceptor: Arc<dyn IorInterceptor>) -> Self {
        self.initializer(Arc::new(Adds::Ior(interceptor)))
    }

    /// Sets the ORB's id for interceptors (`ORBInitInfo::orb_id`, `ServerRequestInfo::orb_id`).
    /// Default: none.
    #[must_use]
    pub fn orb_id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.ids.orb);
        self
    }

    /// Sets the server's id for interceptors (`ServerRequestInfo::server_id`) and for the Implementation Repository.
    /// `server_id` of the configuration (`-ORBServerId`) replaces it. Default: none.
    #[must_use]
    pub fn server_id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.ids.server);
        self
    }

    /// Sets the hook that determines which code runs around the upcalls of each adapter. Only the
    /// last one set applies.
    #[must_use]
    pub fn around_upcalls(self, around: Arc<dyn AroundUpcalls>) -> Self {
        self.extension(Arc::new(Around(around)))
    }

    /// Sets the strategy that orders requests which wait for a thread. Only the last one set
    /// applies. Default: [`ByPolicies`](crate::ByPolicies).
    #[must_use]
    pub fn urgency(self, strategy: Arc<dyn UrgencyStrategy>) -> Self {
        self.extension(Arc::new(Registered(strategy)))
    }

    /// Sets the component that decides on the priorities of lanes and calls. Only the last one set
    /// applies. With it, endpoints may have a priority ([`ListenEndpoint`]), and POAs publish the
    /// protocols that clients should prefer
    /// ([`Policy::ClientProtocols`](crate::Policy::ClientProtocols)), which apply to calls that
    /// have no such policy of their own.
    #[must_use]
    pub fn priorities(mut self, priorities: Arc<dyn Priorities>) -> Self {
        self.policy_types.publish_protocols();
        self.extension(Arc::new(PrioritySource(priorities)))
    }

    /// Sets the source of the terms of calls to object groups. Only the last one set applies. Without one, a reference of a
    /// group is called like any other.
    #[must_use]
    pub fn group_calls(self, groups: Arc<dyn GroupCalls>) -> Self {
        self.extension(Arc::new(GroupCallsSource(groups)))
    }

    /// Adds a wrapper of the ORB's object adapter, around those that were added before.
    #[must_use]
    pub fn adapter_wrapper(self, wrapper: Arc<dyn AdapterWrapper>) -> Self {
        let before = self.extensions.get::<Wrappers>();
        let before = before
            .iter()
            .flat_map(|wrappers| wrappers.0.iter().cloned());
        let wrappers = before.chain([wrapper]).collect();
        self.extension(Arc::new(Wrappers(wrappers)))
    }

    /// Adds state that a crate built on this one keeps for the ORB; [`Orb::extension`] returns it
    /// by its type. For each type, only the last one added is kept.
    #[must_use]
    pub fn extension<T: Any + Send + Sync>(mut self, extension: Arc<T>) -> Self {
        self.extensions.add(extension);
        self
    }

    /// Adds an initial reference, given as a stringified reference or URL.
    #[must_use]
    pub fn initial_reference(mut self, name: &str, text: &str) -> Self {
        self.config
            .initial_references
            .insert(name.to_owned(), text.to_owned());
        self
    }

    /// Applies a TOML file.
    ///
    /// # Errors
    /// Those of [`OrbConfig::apply_file`].
    pub fn file(mut self, path: impl Into<PathBuf>) -> Result<Self, InitError> {
        self.config.apply_file(path)?;
        Ok(self)
    }

    /// Applies `-ORB…` options, and returns the remaining arguments.
    ///
    /// # Errors
    /// Those of [`OrbConfig::apply_arguments`].
    pub fn arguments(
        mut self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<(Self, Vec<String>), InitError> {
        let rest = self.config.apply_arguments(arguments)?;
        self.arguments.clone_from(&rest);
        Ok((self, rest))
    }

    /// Checks the settings as [`OrbBuilder::build`] does, without starting an ORB: reads the files
    /// of TLS, and loads the shared libraries. The settings of Real-time CORBA and the priorities of
    /// endpoints are not checked, as they depend on the program.
    ///
    /// # Errors
    /// [`InitError`] for invalid settings.
    pub fn check(&self) -> Result<(), InitError> {
        self.config.check()?;
        fixed_context::check(&self.request_contexts)?;
        usable_protocols(&self.config, &self.added).map(drop)
    }

    /// Starts the ORB.
    ///
    /// # Errors
    /// [`InitError`] for invalid settings.
    pub fn build(self) -> Result<Orb, InitError> {
        started(self, LockProtocol::Plain)
    }

    /// Starts the ORB with the `-ORB…` options among these arguments, which override earlier
    /// settings. Returns the remaining arguments, including the program's name.
    ///
    /// # Errors
    /// Those of [`OrbBuilder::arguments`] and [`OrbBuilder::build`].
    pub fn init(
        self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<(Orb, Vec<String>), InitError> {
        let (builder, rest) = self.arguments(arguments)?;
        Ok((builder.build()?, rest))
    }
}

/// Starts an ORB with the builder's settings and protocols in addition to the built-in ones;
/// `locks` is the protocol of its connections' locks.
pub(super) fn started(builder: OrbBuilder, locks: LockProtocol) -> Result<Orb, InitError> {
    let OrbBuilder {
        config,
        added,
        mut policy_types,
        request_contexts,
        mut extensions,
        initializers,
        mut ids,
        arguments,
    } = builder;
    if let Some(id) = &config.server_id {
        ids.server.clone_from(id);
    }
    extensions.add(Arc::new(ids));
    config.check()?;
    fixed_context::check(&request_contexts)?;
    policy_types.add::<PublishedEndpoints>()?;
    let protocols = usable_protocols(&config, &added)?;
    let broker = Broker::new(
        config,
        protocols,
        policy_types,
        request_contexts,
        extensions,
    );
    check_real_time(&broker)?;
    check_priorities(&broker)?;
    if broker.groups().is_none()
        && broker.config().fault_tolerance != FaultToleranceSettings::default()
    {
        return Err(InitError::FaultTolerance);
    }
    let locks = match broker.priorities {
        Some(_) => LockProtocol::InheritPriority,
        None => locks,
    };
    if cfg!(feature = "recordings") && broker.config().record.is_some() {
        measurement::start_for_process();
    }
    if cfg!(feature = "recordings") && broker.config().timeline.is_some() {
        timeline::start_for_process();
    }
    let orb = Orb::new(broker, locks);
    orb.serve_back();
    initializers.initialize(&orb, &arguments)?;
    Ok(orb)
}

/// Returns the protocols of the configuration, of its libraries and of the program, if the
/// configuration can be used with them.
fn usable_protocols(config: &OrbConfig, added: &ProtocolBundle) -> Result<Protocols, InitError> {
    let protocols = Protocols::default();
    protocols.add(&builtin(config))?;
    #[cfg(feature = "tls")]
    if let Some(options) = &config.tls {
        let link = Arc::new(punctual_tls::Ssliop::new(options.clone())?);
        protocols.add(&ProtocolBundle::new().link(link))?;
    }
    for library in &config.libraries {
        let link = load(library)?;
        protocols.add(&ProtocolBundle::new().link(link))?;
    }
    protocols.add(added)?;
    check_protocols(config, &protocols.now())?;
    Ok(protocols)
}

/// Checks that a component of the ORB implements the configuration of Real-time CORBA.
fn check_real_time(broker: &Broker) -> Result<(), InitError> {
    let settings = &broker.config().real_time;
    if *settings == RealTimeSettings::default() {
        return Ok(());
    }
    let obeyed = match &broker.priorities {
        Some(priorities) => priorities.check(settings),
        None => Err("the program has not added Real-time CORBA (`RtOrb::extend`)".to_owned()),
    };
    obeyed.map_err(InitError::RealTime)
}

/// Checks that threads can have the priority of each endpoint.
fn check_priorities(broker: &Broker) -> Result<(), InitError> {
    broker.config().listen.iter().try_for_each(|endpoint| {
        let Some(priority) = endpoint.priority() else {
            return Ok(());
        };
        let spec = lane_threads(broker, priority);
        spec.map(drop).map_err(|why| InitError::EndpointPriority {
            endpoint: endpoint.clone(),
            priority,
            why,
        })
    })
}

/// Loads a link from a shared library (plug-in).
#[cfg(feature = "plugins")]
fn load(library: &Path) -> Result<Arc<dyn Link>, InitError> {
    Ok(punctual_plugin::load(library)?)
}

#[cfg(not(feature = "plugins"))]
fn load(library: &Path) -> Result<Arc<dyn Link>, InitError> {
    Err(InitError::WithoutPlugins(library.to_owned()))
}

/// Checks that every protocol in the configuration is registered and its parts are compatible, and
/// that no endpoint is unencrypted if protection is required.
fn check_protocols(config: &OrbConfig, registry: &Registry) -> Result<(), InitError> {
    for protocol in &config.client_protocols {
        registry.pair(protocol)?;
    }
    for endpoint in &config.listen {
        let pair = registry.pair(&endpoint.protocol)?;
        if config.security == Security::Require && pair.is_in_clear() {
            return Err(endpoint.in_clear().into());
        }
    }
    for (link, properties) in &config.link_properties {
        let known = registry.link(&format!("[link.{link}]"), link)?;
        for property in properties {
            let checked = registry.check(known, &Properties::from_iter([property]));
            checked.map_err(|error| InitError::LinkProperty {
                link: link.clone(),
                error,
            })?;
        }
    }
    Ok(())
}

#[cfg(all(test, feature = "tls"))]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_of_tls_is_named_with_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("orb.toml");
        std::fs::write(&file, "[tls]\ntrusted = ['authority.pem']").unwrap();
        let error = Orb::builder().file(&file).unwrap().build();
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("`tls.trusted`: "), "{error}");
        assert!(error.contains("authority.pem: No such file"), "{error}");
    }
}
