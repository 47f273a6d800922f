//! Distributable threads: their ids, their state, and the registry of those that pass through this process.

use punctual_orb::{SystemException, SystemExceptionKind as Kind};
use punctual_sys::pi_mutex::PiMutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Id of a distributable thread in every process that it passes through
/// (RTScheduling::Current::IdType): 16 random bytes, so that it cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DistributableThreadId([u8; 16]);

impl DistributableThreadId {
    /// Generates a new random id for a distributable thread.
    pub(super) fn random() -> Result<Self, SystemException> {
        let mut octets = [0; 16];
        getrandom::fill(&mut octets).map_err(|error| {
            Kind::NoResources.because(format!("no random id for a distributable thread: {error}"))
        })?;
        Ok(Self(octets))
    }

    /// Converts 16 bytes to the id of a distributable thread.
    #[must_use]
    pub const fn from_octets(octets: [u8; 16]) -> Self {
        Self(octets)
    }

    /// Converts the id of the distributable thread to bytes.
    #[must_use]
    pub const fn octets(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for DistributableThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl fmt::Debug for DistributableThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DistributableThreadId({self})")
    }
}

/// State of a distributable thread (RTScheduling::DistributableThread::DT_State), as this process knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistributableThreadState {
    /// The thread runs in this process, or is in a call that it has made from here.
    Active,
    /// The thread was cancelled, and gets THREAD_CANCELLED at its next scheduling point.
    Cancelled,
    /// The thread has ended, or its upcall in this process has. The standard has no name for this
    /// state.
    Ended,
}

const ACTIVE: u8 = 0;
const CANCELLED: u8 = 1;
const ENDED: u8 = 2;

/// Distributable thread that passes, or has passed, through this process
/// (RTScheduling::DistributableThread). Cheap to clone.
#[derive(Clone, Debug)]
pub struct DistributableThread(Arc<State>);

#[derive(Debug)]
struct State {
    id: DistributableThreadId,
    state: AtomicU8,
}

impl DistributableThread {
    fn new(id: DistributableThreadId) -> Self {
        Self(Arc::new(State {
            id,
            state: AtomicU8::new(ACTIVE),
        }))
    }

    /// Returns the id of the distributable thread.
    #[must_use]
    pub fn id(&self) -> DistributableThreadId {
        self.0.id
    }

    /// Returns the thread's state, as this process knows it.
    #[must_use]
    pub fn state(&self) -> DistributableThreadState {
        // Relaxed: no other data depend on it.
        match self.0.state.load(Ordering::Relaxed) {
            ACTIVE => DistributableThreadState::Active,
            CANCELLED => DistributableThreadState::Cancelled,
            _ => DistributableThreadState::Ended,
        }
    }

    /// Cancels the thread: THREAD_CANCELLED is raised at its next scheduling point in this process,
    /// which is when it begins, updates or ends a segment, makes a call, or a call returns. A
    /// thread in a call to another process gets the exception when the call returns; to stop it in
    /// that process, cancel it there ([`crate::DistributableThreads`]). Cancellation is permanent.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST when the thread has ended.
    pub fn cancel(&self) -> Result<(), SystemException> {
        let now =
            self.0
                .state
                .compare_exchange(ACTIVE, CANCELLED, Ordering::Relaxed, Ordering::Relaxed);
        match now {
            Err(ENDED) => Err(Kind::ObjectNotExist
                .because(format!("the distributable thread {} has ended", self.id()))),
            _ => Ok(()),
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.state() == DistributableThreadState::Cancelled
    }

    /// Marks the thread as ended in this process, unless it was cancelled.
    fn end(&self) {
        let _ = self
            .0
            .state
            .compare_exchange(ACTIVE, ENDED, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl PartialEq for DistributableThread {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for DistributableThread {}

/// Distributable threads that pass through this process.
#[derive(Debug)]
pub(super) struct Registry {
    /// Known threads, each with the number of its segments and upcalls here.
    known: PiMutex<HashMap<DistributableThreadId, (DistributableThread, usize)>>,
}

/// Guard that keeps a distributable thread known until it is dropped.
#[derive(Debug)]
pub(super) struct Registration {
    thread: DistributableThread,
    registry: Arc<Registry>,
}

impl Registry {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            known: PiMutex::new(HashMap::new()),
        })
    }

    /// Registers that the distributable thread with this id is in the process.
    pub(super) fn enter(
        self: &Arc<Self>,
        id: DistributableThreadId,
    ) -> Result<Registration, SystemException> {
        let known = self.known.lock();
        let mut known = known.map_err(|error| {
            Kind::Internal.because(format!("the table of distributable threads: {error}"))
        })?;
        let (thread, count) = known
            .entry(id)
            .or_insert_with(|| (DistributableThread::new(id), 0));
        *count += 1;
        Ok(Registration {
            thread: thread.clone(),
            registry: self.clone(),
        })
    }

    pub(super) fn find(&self, id: DistributableThreadId) -> Option<DistributableThread> {
        let known = self.known.lock().ok()?;
        known.get(&id).map(|(thread, _)| thread.clone())
    }
}

impl Registration {
    pub(super) fn thread(&self) -> &DistributableThread {
        &self.thread
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Ok(mut known) = self.registry.known.lock() else {
            return;
        };
        let id = self.thread.id();
        let Some((_, count)) = known.get_mut(&id) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            known.remove(&id);
            self.thread.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_known_as_long_as_it_is_anywhere_here() {
        let registry = Registry::new();
        let id = DistributableThreadId::random().unwrap();
        assert!(registry.find(id).is_none());
        let first = registry.enter(id).unwrap();
        let second = registry.enter(id).unwrap();
        let found = registry.find(id).unwrap();
        assert_eq!(found, *first.thread());
        drop(first);
        assert_eq!(found.state(), DistributableThreadState::Active);
        drop(second);
        assert!(registry.find(id).is_none());
        assert_eq!(found.state(), DistributableThreadState::Ended);
        assert_eq!(found.cancel().unwrap_err().kind(), Kind::ObjectNotExist);
    }

    #[test]
    fn one_that_was_cancelled_stays_so() {
        let registry = Registry::new();
        let known = registry
            .enter(DistributableThreadId::random().unwrap())
            .unwrap();
        let thread = known.thread().clone();
        thread.cancel().unwrap();
        thread.cancel().unwrap();
        assert_eq!(thread.state(), DistributableThreadState::Cancelled);
        drop(known);
        assert_eq!(thread.state(), DistributableThreadState::Cancelled);
    }
}
