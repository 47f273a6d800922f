//! Listening side of a lane: endpoints, accepted connections, and the threads for both.

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

/// Server side of a lane: endpoints, connections and threads.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) endpoints: Endpoints,
    pub(crate) connections: Arc<Connections>,
    /// Threads that accept, and the thread that watches for upcalls that take long.
    pub(crate) acceptors: ThreadGroup,
    /// Threads that serve one client connection each.
    pub(crate) threads: ThreadGroup,
    /// Threads that receive while a connection's own thread is in an upcall; kept for reuse.
    followers: OnceLock<WorkerPool>,
    /// Maximum number of followers: one for each connection, which may replace the connection's own
    /// thread, and the extra ones.
    max_followers: usize,
    /// Number of follower threads allowed in addition to one for each connection.
    pub(crate) extra_followers: Arc<AtomicUsize>,
    /// Specification of the threads that accept connections and serve their requests.
    spec: ThreadSpec,
}

impl Incoming {
    pub(crate) fn new(config: &OrbConfig, spec: ThreadSpec, lane: Option<LaneId>) -> Self {
        Self {
            endpoints: Endpoints::new(lane),
            connections: Arc::default(),
            acceptors: ThreadGroup::new(usize::MAX),
            // Threads of connections that were asked to close take a moment to end; the real limit
            // is that of `connections`.
            threads: ThreadGroup::new(config.max_connections.saturating_mul(2)),
            followers: OnceLock::new(),
            max_followers: config
                .max_connections
                .saturating_add(config.budgets.threads),
            extra_followers: Arc::default(),
            spec,
        }
    }

    /// Returns the pool of threads that receive while a connection's own thread is in an upcall.
    /// The first connection that may need it starts its first thread, so that no upcall waits for
    /// that.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(crate) fn followers(&self) -> Result<&WorkerPool, SpawnError> {
        if let Some(pool) = self.followers.get() {
            return Ok(pool);
        }
        let pool = WorkerPool::start(WorkerPoolOptions {
            started_ahead: 1,
            max_workers: self.max_followers,
            ..WorkerPoolOptions::new(self.spec.with_name("punctual-conn"))
        })?;
        // If another thread was quicker, its pool stays and this one ends.
        Ok(self.followers.get_or_init(|| pool))
    }

    /// Opens the given endpoints of the configuration, and starts to watch for upcalls that take
    /// long; returns `false` if that was done before.
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
        // Without the watcher, requests wait behind upcalls that take long and quiet connections
        // stay open; all else works.
        if let Err(error) = self.acceptors.spawn(watcher, watches) {
            tracing::warn!("no thread to watch for upcalls that take long: {error}");
        }
        Ok(true)
    }

    /// Opens an additional endpoint for the lane to listen at.
    pub(crate) fn add(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        endpoint: ListenEndpoint,
        accept: &Accept<'_>,
    ) -> Result<ListenEndpoint, SystemException> {
        self.endpoints.add((broker, reactors), endpoint, accept)
    }

    /// Closes an endpoint and the connections accepted there; calls in progress finish. Returns
    /// `false` if the lane does not listen there.
    pub(crate) fn retire(&self, endpoint: &ListenEndpoint) -> bool {
        let is_meant =
            |one: &super::OpenEndpoint| one.endpoint == *endpoint || one.real() == *endpoint;
        let gone = self.endpoints.retire(is_meant);
        self.connections.say_goodbye(|at| gone.contains(&at));
        !gone.is_empty()
    }

    /// Closes every endpoint whose protocol uses the link, messaging protocol or adapter named
    /// `part`, and the connections accepted there; calls in progress finish.
    pub(crate) fn retire_protocols(&self, part: &str) {
        let gone = self.endpoints.retire(|one| one.pair.involves(part));
        self.connections.say_goodbye(|at| gone.contains(&at));
    }

    /// Closes all endpoints and connections; calls in progress finish.
    pub(crate) fn retire_all(&self, reactors: &Reactors) {
        self.endpoints.retire(|_| true);
        self.close(reactors);
    }

    /// Closes all endpoints, and sends CloseConnection to every client.
    pub(crate) fn close(&self, reactors: &Reactors) {
        self.endpoints.close();
        reactors.release();
        self.connections.close();
    }

    /// Lets the lane's idle follower threads end.
    pub(crate) fn release_followers(&self) {
        if let Some(followers) = self.followers.get() {
            // Does not wait for any of them.
            let _ = followers.stop(usize::MAX, Deadline::NEVER);
        }
    }

    /// Waits until the last request in progress has been answered.
    pub(crate) fn wait_until_idle(&self, reactors: &Reactors) {
        // Without a deadline it returns only when all threads have ended.
        let _ = self.acceptors.wait_until_at_most(0, Deadline::NEVER);
        let _ = self.threads.wait_until_at_most(0, Deadline::NEVER);
        if let Some(followers) = self.followers.get() {
            let _ = followers.stop(0, Deadline::NEVER);
        }
        self.connections.wait_until_none();
        reactors.wait_until_ended();
    }
}
