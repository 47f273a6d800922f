//! The lanes of an ORB.

use super::owned::Lane;
use super::pool::PoolLane;
use crate::broker::Broker;
use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::lane::not_listening;
use crate::priority::Priority;
use crate::upcall;
use parking_lot::Mutex;
use punctual_exec::LockProtocol;
use std::sync::{Arc, OnceLock};

/// Maximum number of lanes with a priority in one ORB. When it is reached, threads of other
/// priorities use the default lane.
const MOST: usize = 64;
/// Number of lanes with a priority up to which a call made from an upcall may create a lane of its
/// own.
const MOST_OF_UPCALLS: usize = 32;

/// All lanes of an ORB: the default lane and, with Real-time CORBA, one more for each priority of
/// an endpoint or of a calling thread. A lane lives until the ORB ends.
#[derive(Debug)]
pub(crate) struct Lanes {
    broker: Arc<Broker>,
    locks: LockProtocol,
    first: Arc<Lane>,
    /// Lanes with a priority, in the order in which they were made; searched without a lock. Empty
    /// if the ORB has no priorities.
    prioritised: Box<[OnceLock<Arc<Lane>>]>,
    /// Lock held while a lane is created.
    making: Mutex<()>,
    /// Lanes that belong to thread pools.
    of_pools: Mutex<OfPools>,
}

#[derive(Debug, Default)]
struct OfPools {
    lanes: Vec<Arc<Lane>>,
    /// Number of endpoint changes of lanes that no longer exist.
    changes_of_removed: u64,
}

impl Lanes {
    /// Makes the default lane. Other lanes are made when an endpoint of their priority is opened or
    /// a thread of their priority calls.
    pub(crate) fn new(broker: Arc<Broker>, locks: LockProtocol) -> Self {
        let places = match &broker.priorities {
            Some(_) => MOST,
            None => 0,
        };
        Self {
            first: Arc::new(Lane::new(broker.clone(), locks)),
            prioritised: (0..places).map(|_| OnceLock::new()).collect(),
            making: Mutex::new(()),
            of_pools: Mutex::default(),
            broker,
            locks,
        }
    }

    pub(super) fn broker(&self) -> &Broker {
        &self.broker
    }

    /// Returns the default lane, for calls and endpoints without a priority.
    pub(crate) fn default_lane(&self) -> &Arc<Lane> {
        &self.first
    }

    /// Returns the lane for calls made by the calling thread.
    #[inline]
    pub(crate) fn calling(&self) -> &Arc<Lane> {
        if !self.prioritised.is_empty() {
            // Only a hint for code layout: an ORB without priorities takes the straight path.
            crate::cold::cold_path();
            return self.of_thread();
        }
        &self.first
    }

    /// Returns the lane for the calling thread's calls in an ORB with Real-time CORBA; the default
    /// lane if it cannot have one of its own. The thread remembers the place of its lane.
    #[inline(never)]
    fn of_thread(&self) -> &Arc<Lane> {
        let (priority, place) = Priority::of_thread_and_place();
        let Some(priority) = priority else {
            return &self.first;
        };
        if let Some(lane) = self.prioritised_at(place)
            && lane.priority() == Some(priority)
        {
            return lane;
        }
        self.of_thread_anew(priority)
    }

    /// Finds the lane of the calling thread, which has this priority, and remembers its place.
    #[cold]
    #[inline(never)]
    fn of_thread_anew(&self, priority: Priority) -> &Arc<Lane> {
        let is_its = |lane: &Arc<Lane>| lane.priority() == Some(priority);
        if let Some(place) = self.prioritised().position(is_its)
            && let Some(lane) = self.prioritised_at(place)
        {
            Priority::record_place(place);
            return lane;
        }
        // The priorities of upcalls are chosen by clients: they must leave room for others.
        let most = match upcall::in_upcall_of(self.broker.number()) {
            true => MOST_OF_UPCALLS,
            false => MOST,
        };
        if self.has(most) {
            return &self.first;
        }
        self.made(priority).unwrap_or(&self.first)
    }

    /// Returns `true` if there are at least `lanes` lanes with a priority.
    fn has(&self, lanes: usize) -> bool {
        let last = lanes
            .checked_sub(1)
            .and_then(|last| self.prioritised.get(last));
        last.is_none_or(|place| place.get().is_some())
    }

    /// Returns all lanes of the ORB, the default lane first.
    pub(crate) fn all(&self) -> impl Iterator<Item = Arc<Lane>> {
        // A lane that is being made is either included, or its maker sees what was done before.
        drop(self.making.lock());
        let of_pools = self.of_pools.lock().lanes.clone();
        let others = self.prioritised().cloned().chain(of_pools);
        std::iter::once(self.first.clone()).chain(others)
    }

    /// Adds a lane of a thread pool to the ORB.
    pub(crate) fn add(&self, lane: PoolLane) -> Arc<Lane> {
        let lane = Arc::new(Lane::of_pool(self.broker.clone(), self.locks, lane));
        let mut of_pools = self.of_pools.lock();
        let is_gone = |one: &mut Arc<Lane>| one.is_retired() && one.incoming.connections.len() == 0;
        let gone: Vec<Arc<Lane>> = of_pools.lanes.extract_if(.., is_gone).collect();
        let changes = gone.iter().map(|lane| lane.incoming.endpoints.changes());
        of_pools.changes_of_removed += changes.sum::<u64>();
        of_pools.lanes.push(lane.clone());
        lane
    }

    /// Returns the number of times that endpoints have been opened or closed. The number only
    /// grows.
    pub(super) fn changes(&self) -> u64 {
        let of = |lane: &Arc<Lane>| lane.incoming.endpoints.changes();
        if self.prioritised.is_empty() {
            return of(&self.first);
        }
        let of_pools = self.of_pools.lock();
        let lanes = self.prioritised().chain(&of_pools.lanes);
        of(&self.first) + lanes.map(of).sum::<u64>() + of_pools.changes_of_removed
    }

    /// Makes the lanes of a thread pool stop listening; returns `false` if there are none.
    pub(crate) fn retire_pool(&self, number: u32) -> bool {
        let of_pools = self.of_pools.lock().lanes.clone();
        let is_meant = |one: &&Arc<Lane>| one.is_of_pool(number) && !one.is_retired();
        let mut lanes = of_pools.iter().filter(is_meant).peekable();
        let has_some = lanes.peek().is_some();
        lanes.for_each(|lane| lane.retire_all());
        has_some
    }

    /// Calls `listen` for the default lane and for the lanes of the configured endpoints.
    ///
    /// # Errors
    /// INITIALIZE for an endpoint that can have no lane, and the errors of `listen`.
    pub(crate) fn each_listening(
        &self,
        listen: impl Fn(&Arc<Lane>) -> Result<(), SystemException>,
    ) -> Result<(), SystemException> {
        listen(&self.first)?;
        let configured = self.broker.config().listen.iter();
        let mut prioritised = configured.filter(|endpoint| endpoint.priority().is_some());
        prioritised.try_for_each(|endpoint| listen(self.of_endpoint(endpoint)?))
    }

    /// Returns `true` if endpoints with a priority are open or configured.
    pub(super) fn have_prioritised_endpoints(&self) -> bool {
        let mut configured = self.broker.config().listen.iter();
        configured.any(|endpoint| endpoint.priority().is_some())
            || self.prioritised().next().is_some()
    }

    /// Returns the lane of an endpoint, and makes it if necessary.
    ///
    /// # Errors
    /// INITIALIZE if the lane cannot be made.
    pub(crate) fn of_endpoint(
        &self,
        endpoint: &ListenEndpoint,
    ) -> Result<&Arc<Lane>, SystemException> {
        let Some(priority) = endpoint.priority() else {
            return Ok(&self.first);
        };
        let lane = match self.known(priority) {
            Some(lane) => Ok(lane),
            None => self.made(priority),
        };
        lane.map_err(|why| not_listening(endpoint, &why))
    }

    #[inline]
    fn prioritised(&self) -> impl Iterator<Item = &Arc<Lane>> {
        self.prioritised.iter().map_while(OnceLock::get)
    }

    #[inline]
    fn prioritised_at(&self, place: usize) -> Option<&Arc<Lane>> {
        self.prioritised.get(place)?.get()
    }

    #[inline]
    fn known(&self, priority: Priority) -> Option<&Arc<Lane>> {
        let mut lanes = self.prioritised();
        lanes.find(|lane| lane.priority() == Some(priority))
    }

    #[cold]
    fn made(&self, priority: Priority) -> Result<&Arc<Lane>, String> {
        let _making = self.making.lock();
        // Another thread may have made it meanwhile.
        if let Some(lane) = self.known(priority) {
            return Ok(lane);
        }
        let vacant = self.prioritised.iter().find(|place| place.get().is_none());
        let vacant =
            vacant.ok_or_else(|| format!("there are {MOST} lanes of other priorities already"))?;
        let made = Lane::of_priority(self.broker.clone(), self.locks, priority)?;
        Ok(vacant.get_or_init(|| Arc::new(made)))
    }
}
