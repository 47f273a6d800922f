//! State that all lanes and all calls of one ORB share: its configuration, its protocols, its
//! policies, and the stage of its life. Calls do not change it.

mod extensions;
mod life;

pub(crate) use extensions::Extensions;
pub(crate) use life::Life;

use crate::budget::Received;
use crate::config::{NetworkDirection, OrbConfig};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::fixed_context::RequestContext;
use crate::groups::{self, GroupCalls, GroupCallsSource};
use crate::interceptor::Interceptors;
use crate::messaging::Tracer;
use crate::operation::Names;
use crate::policy::{Managed, PolicyTypes};
use crate::priorities::Priorities;
use crate::priority::Priority;
use crate::protocol::Protocols;
use crate::urgency::{Registered, UrgencyStrategy};
use crate::value::ValueFactories;
use punctual_cdr::Limits;
use punctual_exec::MainThreadQueue;
use punctual_link::Connection;
use punctual_sys::dscp::Dscp;
use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Shared state of an ORB. An ORB has one; its lanes hold it.
pub(crate) struct Broker {
    config: OrbConfig,
    limits: Arc<Limits>,
    /// Budget of the data received from all peers and still in use.
    pub(crate) received: Arc<Received>,
    /// Number that is unique among the ORBs of the process.
    number: u64,
    pub(crate) protocols: Protocols,
    pub(crate) policies: Managed,
    pub(crate) operation_names: Names,
    pub(crate) values: ValueFactories,
    /// Service contexts that the ORB's requests carry.
    pub(crate) request_contexts: Vec<Arc<dyn RequestContext>>,
    pub(crate) extensions: Extensions,
    /// Source of the priorities of lanes and calls; `None` without Real-time CORBA.
    pub(crate) priorities: Option<Arc<dyn Priorities>>,
    /// Source of the terms of calls to object groups; `None` without fault tolerance.
    groups: Option<Arc<dyn GroupCalls>>,
    /// Order in which requests wait for a thread; `None` for the order that their policies define.
    pub(crate) urgency: Option<Arc<dyn UrgencyStrategy>>,
    pub(crate) life: Life,
    /// Queue of work that the ORB's main thread has to do.
    pub(crate) main_thread: MainThreadQueue,
    /// Number of requests that servants will answer later, over all connections.
    pub(crate) pending_replies: AtomicUsize,
    /// Factory of the dispatchers for requests that arrive over outgoing connections
    /// (`lane/back.rs`); set once.
    pub(crate) back: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Request interceptors of the ORB.
    pub(crate) interceptors: Interceptors,
    ids: Option<Arc<Ids>>,
}

/// Configured names of an ORB (such as its id and server id), stored as an extension.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pub(crate) orb: String,
    pub(crate) server: String,
}

/// Borrowed view of the names configured for an ORB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdsOf<'b> {
    pub(crate) orb: &'b str,
    pub(crate) server: &'b str,
}

/// Extension of an ORB that holds its source of priorities.
pub(crate) struct PrioritySource(pub(crate) Arc<dyn Priorities>);

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Broker {
    /// Gives a connection's packets the DSCP that Real-time CORBA has for a priority; if it has none, the one with which the
    /// connection was opened, whatever an earlier priority has made of it. A connection whose packets cannot be marked
    /// serves all the same, after a warning.
    pub(crate) fn mark(
        &self,
        link: &dyn Connection,
        priority: Priority,
        direction: NetworkDirection,
    ) {
        let Some(priorities) = &self.priorities else {
            return;
        };
        let dscp = priorities.dscp(priority, direction);
        if let Err(error) = link.set_dscp(dscp) {
            let peer = link.peer();
            let dscp = dscp.map(Dscp::get);
            tracing::warn!(%peer, dscp, "the packets of a connection cannot be marked: {error}");
        }
    }

    /// Makes the state from a configuration that has been checked.
    pub(crate) fn new(
        config: OrbConfig,
        protocols: Protocols,
        policy_types: PolicyTypes,
        request_contexts: Vec<Arc<dyn RequestContext>>,
        extensions: Extensions,
    ) -> Self {
        // Relaxed: only a unique number.
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let of_connections = protocols.now().of_connections(&config.link_properties);
        let defaults = config.policy_defaults(of_connections);
        Self {
            limits: Arc::new(config.limits.clone()),
            received: Arc::new(Received::new(config.budgets.received)),
            number,
            protocols,
            policies: Managed::new(number, policy_types, defaults),
            operation_names: Names::default(),
            values: ValueFactories::default(),
            request_contexts,
            priorities: extensions
                .get::<PrioritySource>()
                .map(|told| told.0.clone()),
            groups: extensions
                .get::<GroupCallsSource>()
                .map(|told| told.0.clone()),
            urgency: extensions.get::<Registered>().map(|one| one.0.clone()),
            ids: extensions.get(),
            extensions,
            life: Life::default(),
            main_thread: MainThreadQueue::default(),
            pending_replies: AtomicUsize::new(0),
            back: OnceLock::new(),
            interceptors: Interceptors::default(),
            config,
        }
    }

    /// Makes the state of an ORB without configuration, whose requests carry these contexts.
    #[cfg(test)]
    pub(crate) fn for_tests(request_contexts: Vec<Arc<dyn RequestContext>>) -> Arc<Self> {
        let config = OrbConfig::default();
        let protocols = Protocols::default();
        let builtin = crate::protocol::builtin(&config);
        protocols
            .add(&builtin)
            .expect("built-in protocols are valid");
        let types = PolicyTypes::default();
        let extensions = Extensions::default();
        let this = Self::new(config, protocols, types, request_contexts, extensions);
        this.interceptors
            .settle(crate::interceptor::Registered::default());
        Arc::new(this)
    }

    pub(crate) fn config(&self) -> &OrbConfig {
        &self.config
    }

    /// Returns the ORB's configured names; they are empty by default.
    pub(crate) fn ids(&self) -> IdsOf<'_> {
        let ids = self.ids.as_deref();
        IdsOf {
            orb: ids.map_or("", |ids| &ids.orb),
            server: ids.map_or("", |ids| &ids.server),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn shared_limits(&self) -> Arc<Limits> {
        self.limits.clone()
    }

    /// Returns the ORB's number, which is unique in the process and never 0.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the source of the terms of calls to object groups, if the ORB calls groups.
    pub(crate) fn groups(&self) -> Option<&Arc<dyn GroupCalls>> {
        self.groups.as_ref().filter(|_| groups::ARE_BUILT_IN)
    }

    pub(crate) fn tracer(&self) -> Tracer {
        Tracer::new(self.config.trace)
    }

    /// Checks that the ORB is running, which the activation of objects requires.
    pub(crate) fn check_running(&self) -> Result<(), SystemException> {
        if self.life.serves() {
            Ok(())
        } else {
            Err(shut_down_error())
        }
    }

    /// Checks that the ORB has not ended, which calls require; during a shutdown, requests in
    /// progress may still need further calls.
    pub(crate) fn check_not_over(&self) -> Result<(), SystemException> {
        if self.life.calls() {
            Ok(())
        } else {
            Err(shut_down_error())
        }
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker")
            .field("number", &self.number)
            .field("life", &self.life)
            .finish_non_exhaustive()
    }
}

fn shut_down_error() -> SystemException {
    SystemException::new(
        Kind::BadInvOrder,
        minor::ORB_HAS_SHUT_DOWN,
        CompletionStatus::No,
    )
    .with_detail("the ORB has shut down")
}
