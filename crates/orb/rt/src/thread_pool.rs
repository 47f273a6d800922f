//! Thread pools, with and without lanes (Real-time CORBA 1.2, §5.10): RTORB's operations, and ThreadpoolPolicy.

use crate::orb::{RtOrb, without_native};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::{Processors, Reservation};
use punctual_ior::tags;
use punctual_orb::{
    Borrowers, BufferLimits, CompletionStatus, LaneId, ListenEndpoint, Orb, PolicyLevels,
    PolicyType, PoolLane, PoolSize, Priority, SystemException, SystemExceptionKind as Kind, minor,
};
use std::sync::atomic::{AtomicU32, Ordering};

/// Id of a thread pool of an ORB (RTCORBA::ThreadpoolId).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadpoolId(pub(crate) u32);

/// Thread pool that serves the objects of a POA (RTCORBA::ThreadpoolPolicy). Their references name
/// the endpoints of its lanes, and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadpoolPolicy(pub ThreadpoolId);

impl PolicyType for ThreadpoolPolicy {
    const NUMBER: u32 = tags::policy::THREADPOOL;
    const NAME: &'static str = "ThreadpoolPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::POA.and(PolicyLevels::POA_DEFAULT);
}

/// Treatment of requests that arrive while all threads of a pool are in upcalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestBuffering {
    /// Requests are not buffered, but refused with TRANSIENT.
    #[default]
    None,
    /// Requests stay unread in the buffers of their connections for as long as their clients wait.
    Unbounded,
    /// Requests are read, and served in the order of their priorities, those of one priority in order
    /// of arrival. Above the limits they are refused with TRANSIENT (allow_request_buffering;
    /// max_buffered_requests and max_request_buffer_size of each lane, so that no lane takes
    /// another's room).
    ///
    /// All requests of the pool go through the buffer: a free thread reads all available requests
    /// before it serves the most urgent one.
    Bounded(BufferLimits),
}

/// Threads of a pool, or of one of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolThreads {
    /// CORBA priority at which the threads run, except in upcalls that require another.
    ///
    /// In a pool that serves requests of several priorities, its threads read and choose requests
    /// at this priority. If it is the priority of the most urgent client (the ceiling), no client
    /// on the same processor preempts a thread between its choice of a request and the upcall. With
    /// a lower one, the most urgent client sometimes waits for an upcall that was chosen just
    /// before it sent its request.
    pub priority: Priority,
    /// Number of threads that exist from the start, at least one.
    pub static_threads: usize,
    /// Maximum number of further threads, each of which is started when all threads are in upcalls,
    /// and then stays.
    pub dynamic_threads: usize,
    /// Reservation of each thread (`SCHED_DEADLINE`), if any: it then runs ahead of all priorities,
    /// within its reservation, and keeps that in all upcalls. A dynamic thread whose reservation
    /// the kernel does not admit is not started.
    pub reservation: Option<Reservation>,
}

/// Options of a Real-time CORBA thread pool.
#[derive(Clone, Debug, Default)]
pub struct ThreadpoolOptions {
    /// Size of each thread's stack in bytes; by default that of the system (2 MiB).
    pub stack_size: Option<usize>,
    /// Treatment of requests while all threads are in upcalls.
    pub buffering: RequestBuffering,
    /// If true, a lane whose own threads are all in upcalls borrows an idle thread of a lane with
    /// lower priority to serve its requests (allow_borrowing). The thread runs at the borrowing
    /// lane's priority meanwhile.
    pub allow_borrowing: bool,
    /// Endpoints of the pool. Each lane listens at them with ports and paths of its own, so for TCP
    /// the port is left open (`iiop://host:0`). Default: the endpoints of the ORB.
    pub endpoints: Vec<ListenEndpoint>,
    /// Processors that the pool's threads may run on, by default those of
    /// [`RtConfig::threads`](crate::RtConfig::threads). The kernel refuses them beside a reservation.
    pub processors: Option<Processors>,
}

/// Number of the next pool that the process creates.
static NEXT: AtomicU32 = AtomicU32::new(1);

impl RtOrb {
    /// Creates a thread pool whose threads serve requests of any priority
    /// (RTCORBA::RTORB::create_threadpool).
    ///
    /// # Errors
    /// BAD_PARAM for a pool without threads; DATA_CONVERSION 2 for a priority that the mapping does
    /// not have; INITIALIZE when the machine does not provide the threads, or the ORB cannot listen
    /// at an endpoint; INV_POLICY for an invalid reservation, or one that the kernel refuses.
    pub fn create_threadpool(
        &self,
        orb: &Orb,
        threads: PoolThreads,
        options: &ThreadpoolOptions,
    ) -> Result<ThreadpoolId, SystemException> {
        self.make(orb, &[threads], options, |_| None)
    }

    /// Creates a thread pool with these lanes, each of which serves the requests of its priority
    /// (RTCORBA::RTORB::create_threadpool_with_lanes).
    ///
    /// # Errors
    /// Those of [`RtOrb::create_threadpool`], and BAD_PARAM for two lanes of one priority.
    pub fn create_threadpool_with_lanes(
        &self,
        orb: &Orb,
        lanes: &[PoolThreads],
        options: &ThreadpoolOptions,
    ) -> Result<ThreadpoolId, SystemException> {
        for (index, lane) in lanes.iter().enumerate() {
            let before = lanes.iter().take(index);
            if before.into_iter().any(|one| one.priority == lane.priority) {
                return Err(bad(format!("two lanes have priority {}", lane.priority)));
            }
        }
        self.make(orb, lanes, options, |lane| Some(lane.priority))
    }

    /// Destroys a thread pool (RTCORBA::RTORB::destroy_threadpool): calls in progress finish, and
    /// the pool's clients get CloseConnection.
    ///
    /// # Errors
    /// BAD_PARAM if the ORB has no such pool.
    pub fn destroy_threadpool(&self, orb: &Orb, pool: ThreadpoolId) -> Result<(), SystemException> {
        match orb.retire_pool(pool.0) {
            true => Ok(()),
            false => Err(bad(format!("the ORB has no thread pool {}", pool.0))),
        }
    }

    fn make(
        &self,
        orb: &Orb,
        lanes: &[PoolThreads],
        options: &ThreadpoolOptions,
        published: impl Fn(&PoolThreads) -> Option<Priority>,
    ) -> Result<ThreadpoolId, SystemException> {
        if lanes.is_empty() {
            return Err(bad("a thread pool without lanes".to_owned()));
        }
        if let Some(index) = lanes.iter().position(|lane| lane.static_threads == 0) {
            return Err(bad(format!("lane {index} has no static thread")));
        }
        for (index, lane) in lanes.iter().enumerate() {
            let checked = lane.reservation.map(Reservation::check).transpose();
            checked.map_err(|error| not_reserved(&format!("lane {index}: {error}")))?;
        }
        // Relaxed: only uniqueness matters.
        let pool = NEXT.fetch_add(1, Ordering::Relaxed);
        let borrowers = options.allow_borrowing.then(Borrowers::default);
        for (lane, index) in lanes.iter().zip(0..) {
            let made = self.lane(lane, LaneId { pool, index }, options, published(lane));
            let added = made.and_then(|lane| {
                orb.add_lane(PoolLane {
                    borrowers: borrowers.clone(),
                    ..lane
                })
            });
            if let Err(exception) = added {
                orb.retire_pool(pool);
                return Err(exception);
            }
        }
        Ok(ThreadpoolId(pool))
    }

    fn lane(
        &self,
        lane: &PoolThreads,
        id: LaneId,
        options: &ThreadpoolOptions,
        priority: Option<Priority>,
    ) -> Result<PoolLane, SystemException> {
        let mut thread = ThreadSpec::named("punctual");
        if let Some(octets) = options.stack_size {
            thread = thread.stack_size(octets);
        }
        let mut thread = self.scheduled(lane.priority, thread).ok_or_else(|| {
            SystemException::new(Kind::DataConversion, minor::omg(2), CompletionStatus::No)
                .with_detail(without_native(lane.priority))
        })?;
        if let Some(processors) = options.processors {
            thread = thread.processors(processors);
        }
        Ok(PoolLane {
            id,
            priority,
            thread,
            size: PoolSize {
                threads: lane.static_threads,
                most: lane.static_threads.saturating_add(lane.dynamic_threads),
                reserve: options.buffering == RequestBuffering::None,
            },
            buffer: match options.buffering {
                RequestBuffering::Bounded(limits) => Some(limits),
                _ => None,
            },
            borrowers: None,
            reservation: lane.reservation,
            endpoints: options.endpoints.clone(),
        })
    }
}

#[cold]
fn not_reserved(why: &str) -> SystemException {
    SystemException::new(
        Kind::InvPolicy,
        minor::CANNOT_RECONCILE,
        CompletionStatus::No,
    )
    .with_detail(why)
}

#[cold]
fn bad(why: String) -> SystemException {
    SystemException::new(Kind::BadParam, 0, CompletionStatus::No).with_detail(why)
}
