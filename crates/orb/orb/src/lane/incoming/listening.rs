//! Listening as a whole: endpoints, the connections that came in, and the threads for both.

use super::connections::Connections;
use super::endpoints::{Accept, Endpoints};
use super::watch::watch;
use crate::broker::Broker;
use crate::config::{ListenEndpoint, OrbConfig};
use crate::exception::SystemException;
use crate::lane::reactors::Reactors;
use crate::profile::LaneId;
use punctual_exec::{Deadline, SpawnError, ThreadGroup, ThreadSpec, WorkerPool, WorkerPoolOptions};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

/// All that a lane has of its clients.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) endpoints: Endpoints,
    pub(crate) connections: Arc<Connections>,
    /// Those that accept, and the one that watches for upcalls that take long.
    pub(crate) acceptors: ThreadGroup,
    /// Those that serve one connection each.
    pub(crate) threads: ThreadGroup,
    /// Those that receive while a connection's own thread is in an upcall: kept, and used again.
    followers: OnceLock<WorkerPool>,
    /// How many of them there may be: one for each connection, which may come to receive instead of its own thread, and
    /// those beside.
    max_followers: usize,
    /// Those beyond one for each connection.
    pub(crate) extra_followers: Arc<AtomicUsize>,
    /// How its threads are started.
    spec: ThreadSpec,
}

impl Incoming {
    pub(crate) fn new(config: &OrbConfig, spec: ThreadSpec, lane: Option<LaneId>) -> Self {
        Self {
            endpoints: Endpoints::new(lane),
            connections: Arc::default(),
            acceptors: ThreadGroup::new(usize::MAX),
            // Those of connections that were told to go take a moment to end; `connections` counts.
            threads: ThreadGroup::new(config.max_connections.saturating_mul(2)),
            followers: OnceLock::new(),
            max_followers: config
                .max_connections
                .saturating_add(config.budgets.threads),
            extra_followers: Arc::default(),
            spec,
        }
    }

    /// The threads that receive while a connection's own is in an upcall. The first is started with the first
    /// connection that may need one, so that no upcall waits for that.
    ///
    /// # Errors
    /// What keeps a thread from being started.
    pub(crate) fn followers(&self) -> Result<&WorkerPool, SpawnError> {
        if let Some(pool) = self.followers.get() {
            return Ok(pool);
        }
        let pool = WorkerPool::start(WorkerPoolOptions {
            started_ahead: 1,
            max_workers: self.max_followers,
            ..WorkerPoolOptions::new(self.spec.with_name("punctual-conn"))
        })?;
        // Another thread may have been quicker: its pool stays, and this one ends.
        Ok(self.followers.get_or_init(|| pool))
    }

    /// Listens at these endpoints of the configuration, and watches for upcalls that take long; `false` where it does
    /// already.
    pub(crate) fn open(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        endpoints: Vec<ListenEndpoint>,
        accept: &Accept<'_>,
    ) -> Result<bool, SystemException> {
        if !self.endpoints.open((broker, reactors), endpoints, accept)? {
            return Ok(false);
        }
        let connections = self.connections.clone();
        let timeouts = broker.config().timeouts;
        let watches = move || watch(&connections, timeouts.hand_over, timeouts.idle);
        let watcher = self.spec.with_name("punctual-watch");
        // Without it, requests wait behind upcalls that take long, quiet connections stay, and nothing else is amiss.
        if let Err(error) = self.acceptors.spawn(watcher, watches) {
            tracing::warn!("no thread to watch for upcalls that take long: {error}");
        }
        Ok(true)
    }

    /// Listens at one more endpoint, from now on.
    pub(crate) fn add(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        endpoint: ListenEndpoint,
        accept: &Accept<'_>,
    ) -> Result<ListenEndpoint, SystemException> {
        self.endpoints.add((broker, reactors), endpoint, accept)
    }

    /// Listens no more at an endpoint, and says goodbye to the clients that came there: calls in
    /// progress finish. `false` when it does not listen there.
    pub(crate) fn retire(&self, endpoint: &ListenEndpoint) -> bool {
        let is_meant =
            |one: &super::OpenEndpoint| one.endpoint == *endpoint || one.real() == *endpoint;
        let gone = self.endpoints.retire(is_meant);
        self.connections.say_goodbye(|at| gone.contains(&at));
        !gone.is_empty()
    }

    /// The same for every endpoint of protocols that a link, messaging protocol or adapter of this name
    /// is part of.
    pub(crate) fn retire_protocols(&self, part: &str) {
        let gone = self.endpoints.retire(|one| one.pair.involves(part));
        self.connections.say_goodbye(|at| gone.contains(&at));
    }

    /// Listens no more at all, and says goodbye to the clients: calls in progress finish.
    pub(crate) fn retire_all(&self, reactors: &Reactors) {
        self.endpoints.retire(|_| true);
        self.close(reactors);
    }

    /// Stops listening and says goodbye to every client.
    pub(crate) fn close(&self, reactors: &Reactors) {
        self.endpoints.close();
        reactors.release();
        self.connections.close();
    }

    /// Keeps no thread for later.
    pub(crate) fn let_followers_go(&self) {
        if let Some(followers) = self.followers.get() {
            // Nobody is waited for.
            let _ = followers.stop(usize::MAX, Deadline::NEVER);
        }
    }

    /// Waits until the last request in progress has been answered.
    pub(crate) fn wait_until_idle(&self, reactors: &Reactors) {
        // Without a deadline it returns only when they are gone.
        let _ = self.acceptors.wait_until_at_most(0, Deadline::NEVER);
        let _ = self.threads.wait_until_at_most(0, Deadline::NEVER);
        if let Some(followers) = self.followers.get() {
            let _ = followers.stop(0, Deadline::NEVER);
        }
        self.connections.wait_until_none();
        reactors.wait_until_ended();
    }
}
