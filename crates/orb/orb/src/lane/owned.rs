//! What a lane owns.

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
use crate::timeline::{self, RequestId, Stage};
use punctual_exec::{Deadline, LockProtocol, ThreadGroup, ThreadSpec};
use punctual_link::LinkError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long buffered requests may take to be sent when the ORB ends.
const FLUSH_AT_END: Duration = Duration::from_secs(1);

/// Endpoints to which connections are opened beside others at a time, each by a thread.
const OPENERS: usize = 4;

/// One lane.
#[derive(Debug)]
pub(crate) struct Lane {
    broker: Arc<Broker>,
    /// Tells it from every other lane of the process.
    number: u64,
    /// What the locks of its connections' send and reply paths do for the threads that have them.
    locks: LockProtocol,
    /// The CORBA priority of its threads, and of those that call by it.
    priority: Option<Priority>,
    /// How its threads are started, but for their names.
    threads: ThreadSpec,
    /// Which lane of a thread pool it is, if it is one.
    pool: Option<PoolLane>,
    /// What it has done.
    pub(crate) counters: Arc<Counters>,
    outgoing: ConnectionCache,
    pub(crate) flusher: Flusher,
    /// Threads that open connections beside others.
    pub(super) openers: ThreadGroup,
    pub(crate) incoming: Incoming,
    reactors: Reactors,
    /// Who reads replies that no thread waits for.
    replies: Arc<Replies>,
}

/// How the threads of a lane of this priority are started.
///
/// # Errors
/// Why there are none.
pub(crate) fn lane_threads(broker: &Broker, priority: Priority) -> Result<ThreadSpec, String> {
    let Some(priorities) = &broker.priorities else {
        let why = "the ORB has no Real-time CORBA: `RtOrb::extend` gives it to its builder";
        return Err(why.to_owned());
    };
    priorities.thread(priority, ThreadSpec::named("punctual"))
}

impl Lane {
    /// One for calls of whatever priority. In an ORB that knows priorities its threads have none, whoever starts them.
    pub(crate) fn new(broker: Arc<Broker>, locks: LockProtocol) -> Self {
        let plain = ThreadSpec::named("punctual");
        let threads = match &broker.priorities {
            Some(priorities) => priorities.thread_without_priority(plain),
            None => plain,
        };
        Self::with_threads((broker, locks), None, threads, None)
    }

    /// One for calls of this priority.
    ///
    /// # Errors
    /// Why no threads can have it.
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

    /// One of a thread pool.
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
        // Relaxed: a number, and no more.
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

    /// What it shares with the other lanes of its ORB.
    pub(crate) fn broker(&self) -> &Arc<Broker> {
        &self.broker
    }

    /// Tells it from every other lane of the process.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// What the locks of its connections' send and reply paths do for the threads that have them.
    pub(crate) fn lock_protocol(&self) -> LockProtocol {
        self.locks
    }

    /// One of its calls comes to a stage of a timeline.
    #[cold]
    #[inline(never)]
    pub(crate) fn calls_come_to(&self, stage: Stage, request: u32) {
        let request = RequestId {
            lane: u32::try_from(self.number).unwrap_or(u32::MAX),
            connection: 0,
            request,
        };
        timeline::comes_to(stage, request, Priority::of_thread());
    }

    /// The CORBA priority of its threads, and of those that call by it.
    pub(crate) fn priority(&self) -> Option<Priority> {
        self.priority
    }

    /// Which lane of a thread pool it is, if it is one.
    pub(super) fn pool_lane(&self) -> Option<LaneId> {
        self.pool.as_ref().map(|pool| pool.id)
    }

    /// Requests that wait for one of its threads.
    pub(super) fn buffered_requests(&self) -> usize {
        self.reactors.buffered_requests()
    }

    /// Whether it is of the thread pool of this number.
    pub(super) fn is_of_pool(&self, number: u32) -> bool {
        self.pool
            .as_ref()
            .is_some_and(|pool| pool.id.pool == number)
    }

    /// Whether it listens no more.
    pub(super) fn is_retired(&self) -> bool {
        self.incoming.endpoints.is_closed()
    }

    /// How a thread of the lane is started that has this name.
    pub(crate) fn thread(&self, name: &'static str) -> ThreadSpec {
        self.threads.with_name(name)
    }

    /// A connection to an endpoint, opened if need be.
    pub(crate) fn bind(
        &self,
        endpoint: &Arc<Endpoint>,
        wanted: ConnectionTerms,
        deadline: Deadline,
    ) -> Result<Binding, LinkError> {
        self.outgoing
            .bind(&self.opened_for(), endpoint, wanted, deadline)
    }

    /// This lane, as far as connections need it.
    pub(super) fn opened_for(&self) -> OpenedFor<'_> {
        OpenedFor {
            broker: &self.broker,
            reactors: &self.reactors,
            locks: self.locks,
        }
    }

    /// Whether one more connection is within the limit, without another being closed.
    pub(super) fn has_room_for_connections(&self) -> bool {
        self.outgoing.len() < self.broker.config().client_connections
    }

    /// Who reads replies that no thread waits for.
    pub(crate) fn replies(&self) -> &Arc<Replies> {
        &self.replies
    }

    /// The main thread does no more: what it has left undone is done by the thread that reads those replies.
    pub(crate) fn main_thread_ends(&self) {
        self.replies.main_thread_ends();
    }

    /// Has this done by the thread that reads those replies, or by those that run reply handlers in its place.
    pub(crate) fn submit(&self, continuation: Arc<dyn Continuation>) {
        self.replies.submit(continuation);
    }

    /// Listens at every configured endpoint of its priority; `false` where it does already. `accept` starts accepting at one.
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

    /// Listens at one more endpoint, and says where that is.
    pub(crate) fn listen_at(
        &self,
        endpoint: ListenEndpoint,
        accept: &dyn Fn(&OpenEndpoint) -> Result<(), SystemException>,
    ) -> Result<ListenEndpoint, SystemException> {
        let with = (&*self.broker, &self.reactors);
        self.incoming.add(with, endpoint, accept)
    }

    /// Lets the endpoints and connections of retired protocols go, each when its last call has ended.
    pub(crate) fn retire(&self, part: &str) {
        self.incoming.retire_protocols(part);
        self.outgoing.retire(part);
    }

    /// Listens no more, and says goodbye to the clients: calls in progress finish.
    pub(crate) fn retire_all(&self) {
        self.incoming.retire_all(&self.reactors);
    }

    /// Stops listening and says goodbye to every client.
    pub(crate) fn stop_listening(&self) {
        self.incoming.close(&self.reactors);
    }

    /// Waits until the last request in progress has been answered.
    pub(crate) fn wait_until_idle(&self) {
        self.incoming.wait_until_idle(&self.reactors);
    }

    /// Sends the requests that wait on connections to an endpoint.
    pub(crate) fn flush_to(&self, endpoint: &Endpoint, deadline: Deadline) {
        self.outgoing.flush_to(endpoint, deadline);
    }

    /// Sends the one-way requests that wait on any connection.
    pub(crate) fn flush(&self, deadline: Deadline) {
        self.outgoing.flush(&self.flusher, deadline);
    }

    /// Sends what waits on any connection, and lets no call begin on one any more; those in progress finish.
    pub(crate) fn retire_connections(&self) {
        let deadline = Deadline::after(FLUSH_AT_END);
        self.outgoing.retire_all(&self.flusher, deadline);
    }

    /// Closes every outgoing connection, after what waits on it; calls that wait on one fail.
    pub(crate) fn disconnect(&self) {
        self.incoming.let_followers_go();
        self.flush(Deadline::after(FLUSH_AT_END));
        self.flusher.close();
        self.outgoing.close();
        self.replies.close();
    }
}
