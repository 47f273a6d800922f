//! Lanes and the resources that they own.

use super::counters::Counters;
use super::incoming::Incoming;
use super::outgoing::{Binding, ConnectionCache, ConnectionTerms, Endpoint, Flusher, OpenedFor};
use super::pool::{PoolLane, PoolThreads};
use super::reactors::Reactors;
use super::replies::{Continuation, Replies};
use crate::broker::Broker;
use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::lane::OpenEndpoint;
use crate::priority::Priority;
use crate::profile::LaneId;
use punctual_exec::{Deadline, LockProtocol, ThreadGroup, ThreadSpec};
use punctual_link::LinkError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Maximum time for sending buffered requests when the ORB ends.
const FLUSH_AT_END: Duration = Duration::from_secs(1);

/// Maximum number of threads that open additional connections, each one connection at a time.
const OPENERS: usize = 4;

/// Lane: the connections, threads and buffers for calls of one priority.
#[derive(Debug)]
pub(crate) struct Lane {
    broker: Arc<Broker>,
    /// Number that is unique among the lanes of the process.
    number: u64,
    /// Protocol (with or without priority inheritance) of the locks on the send and reply paths of
    /// the lane's connections.
    locks: LockProtocol,
    /// CORBA priority of the lane's threads, and of the threads that call through the lane.
    priority: Option<Priority>,
    /// Specification of the lane's threads, except for their names.
    threads: ThreadSpec,
    /// Description as a lane of a thread pool, if the lane belongs to one.
    pool: Option<PoolLane>,
    /// Counters of the lane's served requests and other events.
    pub(crate) counters: Arc<Counters>,
    outgoing: ConnectionCache,
    pub(crate) flusher: Flusher,
    /// Threads that open additional connections for the lane's calls.
    pub(super) openers: ThreadGroup,
    pub(crate) incoming: Incoming,
    reactors: Reactors,
    /// Thread that reads replies for which no caller waits.
    replies: Arc<Replies>,
}

/// Returns the specification of the threads of a lane of this priority.
///
/// # Errors
/// If threads cannot have this priority.
pub(crate) fn lane_threads(broker: &Broker, priority: Priority) -> Result<ThreadSpec, String> {
    let Some(priorities) = &broker.priorities else {
        let why = "the ORB has no Real-time CORBA: call `RtOrb::extend` on its builder";
        return Err(why.to_owned());
    };
    priorities.thread(priority, ThreadSpec::named("punctual"))
}

impl Lane {
    /// Makes the lane for calls of any priority. Its threads have no CORBA priority, whatever the
    /// priority of the thread that starts them.
    pub(crate) fn new(broker: Arc<Broker>, locks: LockProtocol) -> Self {
        let plain = ThreadSpec::named("punctual");
        let threads = match &broker.priorities {
            Some(priorities) => priorities.thread_without_priority(plain),
            None => plain,
        };
        Self::with_threads((broker, locks), None, threads, None)
    }

    /// Makes a lane for calls of this priority.
    ///
    /// # Errors
    /// If threads cannot have this priority.
    pub(super) fn of_priority(
        broker: Arc<Broker>,
        locks: LockProtocol,
        priority: Priority,
    ) -> Result<Self, String> {
        let threads = lane_threads(&broker, priority)?;
        Ok(Self::with_threads(
            (broker, locks),
            Some(priority),
            threads,
            None,
        ))
    }

    /// Makes a lane that belongs to a thread pool.
    pub(super) fn of_pool(broker: Arc<Broker>, locks: LockProtocol, pool: PoolLane) -> Self {
        let (priority, threads) = (pool.priority, pool.thread.clone());
        Self::with_threads((broker, locks), priority, threads, Some(pool))
    }

    fn with_threads(
        (broker, locks): (Arc<Broker>, LockProtocol),
        priority: Option<Priority>,
        threads: ThreadSpec,
        pool: Option<PoolLane>,
    ) -> Self {
        let id = pool.as_ref().map(|pool| pool.id);
        let counters = Arc::default();
        let served_by = pool
            .as_ref()
            .map(|pool| PoolThreads::of(pool, (&broker, locks), &counters));
        // Relaxed: only a unique number.
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            locks,
            outgoing: ConnectionCache::default(),
            flusher: Flusher::new(threads.clone()),
            openers: ThreadGroup::new(OPENERS),
            incoming: Incoming::new(broker.config(), threads.clone(), id),
            reactors: Reactors::new(threads.clone(), served_by),
            replies: Arc::new(Replies::new(&broker, &threads, priority)),
            counters,
            pool,
            priority,
            threads,
            broker,
        }
    }

    /// Returns the state that all lanes of the ORB share.
    pub(crate) fn broker(&self) -> &Arc<Broker> {
        &self.broker
    }

    /// Returns the lane's number, which is unique in the process.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the protocol of the locks on the send and reply paths of the lane's connections.
    pub(crate) fn lock_protocol(&self) -> LockProtocol {
        self.locks
    }

    /// Returns the CORBA priority of the lane's threads, and of the threads that call through the
    /// lane.
    pub(crate) fn priority(&self) -> Option<Priority> {
        self.priority
    }

    /// Returns the lane's identifier in a thread pool, if it belongs to one.
    pub(super) fn pool_lane(&self) -> Option<LaneId> {
        self.pool.as_ref().map(|pool| pool.id)
    }

    /// Returns the number of requests that wait for one of the lane's threads.
    pub(super) fn buffered_requests(&self) -> usize {
        self.reactors.buffered_requests()
    }

    /// Returns `true` if the lane belongs to the thread pool of this number.
    pub(super) fn is_of_pool(&self, number: u32) -> bool {
        self.pool
            .as_ref()
            .is_some_and(|pool| pool.id.pool == number)
    }

    /// Returns `true` if the lane has stopped listening for connections.
    pub(super) fn is_retired(&self) -> bool {
        self.incoming.endpoints.is_closed()
    }

    /// Returns the specification of a thread of the lane with this name.
    pub(crate) fn thread(&self, name: &'static str) -> ThreadSpec {
        self.threads.with_name(name)
    }

    /// Returns a connection to an endpoint, and opens it if necessary.
    pub(crate) fn bind(
        &self,
        endpoint: &Arc<Endpoint>,
        wanted: ConnectionTerms,
        deadline: Deadline,
    ) -> Result<Binding, LinkError> {
        self.outgoing
            .bind(&self.opened_for(), endpoint, wanted, deadline)
    }

    /// Returns the parts of this lane that connections need.
    pub(super) fn opened_for(&self) -> OpenedFor<'_> {
        OpenedFor {
            broker: &self.broker,
            reactors: &self.reactors,
            priority: self.priority,
            number: self.number,
            locks: self.locks,
        }
    }

    /// Returns `true` if one more connection can be opened within the limit without closing
    /// another.
    pub(super) fn has_room_for_connections(&self) -> bool {
        self.outgoing.len() < self.broker.config().client_connections
    }

    /// Returns the thread that reads replies for which no caller waits.
    pub(crate) fn replies(&self) -> &Arc<Replies> {
        &self.replies
    }

    /// Stops the use of the main thread for continuations: the reply thread runs those that are
    /// left.
    pub(crate) fn stop_using_main_thread(&self) {
        self.replies.stop_using_main_thread();
    }

    /// Submits a continuation to the reply thread, or to the threads that run reply handlers in its
    /// place.
    pub(crate) fn submit(&self, continuation: Arc<dyn Continuation>) {
        self.replies.submit(continuation);
    }

    /// Opens every configured endpoint of the lane's priority; returns `false` if that was done
    /// before. `accept` starts accepting at one endpoint.
    pub(crate) fn listen(
        &self,
        accept: &dyn Fn(&OpenEndpoint) -> Result<(), SystemException>,
    ) -> Result<bool, SystemException> {
        if self.incoming.endpoints.are_opened() {
            return Ok(false);
        }
        let mut endpoints = self.broker.config().endpoints();
        match &self.pool {
            Some(pool) => endpoints = pool.places(endpoints, &self.broker),
            None => endpoints.retain(|endpoint| endpoint.priority() == self.priority),
        }
        let with = (&*self.broker, &self.reactors);
        self.incoming.open(with, endpoints, accept)
    }

    /// Opens one more endpoint, and returns it with its actual address.
    pub(crate) fn listen_at(
        &self,
        endpoint: ListenEndpoint,
        accept: &dyn Fn(&OpenEndpoint) -> Result<(), SystemException>,
    ) -> Result<ListenEndpoint, SystemException> {
        let with = (&*self.broker, &self.reactors);
        self.incoming.add(with, endpoint, accept)
    }

    /// Closes the endpoints and connections whose protocols contain the messaging protocol, link or
    /// link adapter named `part`, each when its last call has ended.
    pub(crate) fn retire(&self, part: &str) {
        self.incoming.retire_protocols(part);
        self.outgoing.retire(part);
    }

    /// Stops listening and closes clients' connections; calls in progress finish.
    pub(crate) fn retire_all(&self) {
        self.incoming.retire_all(&self.reactors);
    }

    /// Closes the lane's endpoints, and sends CloseConnection to every client.
    pub(crate) fn stop_listening(&self) {
        self.incoming.close(&self.reactors);
    }

    /// Waits until the last request in progress has been answered.
    pub(crate) fn wait_until_idle(&self) {
        self.incoming.wait_until_idle(&self.reactors);
    }

    /// Sends the buffered requests on connections to an endpoint.
    pub(crate) fn flush_to(&self, endpoint: &Endpoint, deadline: Deadline) {
        self.outgoing.flush_to(endpoint, deadline);
    }

    /// Sends the buffered one-way requests of all connections of the lane.
    pub(crate) fn flush(&self, deadline: Deadline) {
        self.outgoing.flush(&self.flusher, deadline);
    }

    /// Sends the buffered requests of all outgoing connections, and refuses new calls on them;
    /// those in progress finish.
    pub(crate) fn retire_connections(&self) {
        let deadline = Deadline::after(FLUSH_AT_END);
        self.outgoing.retire_all(&self.flusher, deadline);
    }

    /// Closes every outgoing connection after sending its buffered requests; pending calls on them
    /// fail.
    pub(crate) fn disconnect(&self) {
        self.incoming.release_followers();
        self.flush(Deadline::after(FLUSH_AT_END));
        self.flusher.close();
        self.outgoing.close();
        self.replies.close();
    }
}
