//! State of the recording that is running, if there is one.

use super::expected::{Bounds, ViolationHandler};
use super::operation::{MeasuredOperation, Operation, ThreadTimes};
use super::ticks::Scale;
use crate::observed::{Observers, scoped_name, set_recording};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static SESSION: Mutex<Option<Arc<Session>>> = Mutex::new(None);

/// Operations by repository id and name.
type Operations = HashMap<(Box<str>, Box<str>), Known>;

/// Operation that has been served.
struct Known {
    operation: Arc<Operation>,
    /// Times of all threads, including threads that have ended.
    threads: Vec<Arc<ThreadTimes>>,
    /// Times of threads that have ended. A new thread takes them over, so that their number is the maximum number
    /// of threads at a time.
    free: Vec<Arc<ThreadTimes>>,
}

/// State of a recording.
pub(super) struct Session {
    pub(super) number: u64,
    /// Maximum number of operations.
    pub(super) most: usize,
    /// Bounds of the planned operations by scoped name; `None` without a plan.
    plan: Option<HashMap<String, Bounds>>,
    pub(super) handler: Option<Arc<dyn ViolationHandler>>,
    operations: Mutex<Operations>,
    pub(super) not_recorded: AtomicU64,
    /// Time before which no further violation is logged.
    pub(super) next_log: AtomicU64,
    /// Number of violations since then that were not logged.
    pub(super) unlogged: AtomicU64,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// Returns whether upcalls are being measured.
#[inline]
#[must_use]
pub fn is_recording() -> bool {
    // First, so that a program without the feature has no code for it.
    cfg!(feature = "recordings") && number() != 0
}

/// Returns the number of the recording that is running; 0 if none is.
// Relaxed: an upcall in progress is measured or not.
#[inline]
pub(super) fn number() -> u64 {
    Observers::running().recording()
}

/// Returns the recording that is running.
pub(super) fn running() -> Option<Arc<Session>> {
    session().clone()
}

fn session() -> MutexGuard<'static, Option<Arc<Session>>> {
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a recording; returns `None` if one is running.
pub(super) fn start(
    most: usize,
    plan: Option<HashMap<String, Bounds>>,
    handler: Option<Arc<dyn ViolationHandler>>,
) -> Option<Arc<Session>> {
    // The clock is measured before the first upcall, which would wait for it.
    Scale::of_clock();
    let mut session = session();
    if session.is_some() {
        return None;
    }
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    let started = Arc::new(Session {
        number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        most,
        plan,
        handler,
        operations: Mutex::default(),
        not_recorded: AtomicU64::new(0),
        next_log: AtomicU64::new(0),
        unlogged: AtomicU64::new(0),
    });
    *session = Some(started.clone());
    set_recording(started.number);
    Some(started)
}

/// Ends a recording, if it is the one that is running.
pub(super) fn end(ended: &Session) {
    let mut session = session();
    if session
        .as_ref()
        .is_some_and(|one| one.number == ended.number)
    {
        set_recording(0);
        *session = None;
    }
}

impl Session {
    /// Returns times of an operation for a thread to add to, until it gives them back; `None` if
    /// there is no room for the operation.
    pub(super) fn take(&self, interface: &str, operation: &str) -> Option<Arc<ThreadTimes>> {
        let mut operations = self.operations();
        let has_room = operations.len() < self.most;
        let known = match operations.entry((interface.into(), operation.into())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) if has_room => new.insert(Known {
                operation: Arc::new(self.new_operation(interface, operation)),
                threads: Vec::new(),
                free: Vec::new(),
            }),
            Entry::Vacant(_) => return None,
        };
        Some(known.free.pop().unwrap_or_else(|| {
            let added = Arc::new(ThreadTimes::new(known.operation.clone()));
            known.threads.push(added.clone());
            added
        }))
    }

    /// Takes times back to which the thread adds no more.
    // The lock orders what the thread has written before what the next one does.
    pub(super) fn give_back(&self, times: Arc<ThreadTimes>) {
        let of = &times.operation;
        let key = (of.interface.clone(), of.operation.clone());
        if let Some(known) = self.operations().get_mut(&key) {
            known.free.push(times);
        }
    }

    fn new_operation(&self, interface: &str, operation: &str) -> Operation {
        let name = scoped_name(interface, operation);
        let bounds = self.plan.as_ref().and_then(|plan| plan.get(&name).copied());
        let has_plan = self.plan.is_some();
        Operation::new(self.number, (interface, operation), name, bounds, has_plan)
    }

    /// Returns all operations, sorted by name.
    pub(super) fn measured(&self) -> Vec<MeasuredOperation> {
        let known: Vec<_> = self
            .operations()
            .values()
            .map(|known| (known.operation.clone(), known.threads.clone()))
            .collect();
        let mut measured: Vec<_> = known.iter().map(|(one, all)| one.measured(all)).collect();
        measured.retain(|one| one.jobs() > 0);
        measured.sort_by(|a, b| (&a.name, &a.interface).cmp(&(&b.name, &b.interface)));
        measured
    }

    fn operations(&self) -> MutexGuard<'_, Operations> {
        self.operations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
