//! State of the recording that is running, if there is one.

use super::expected::{Bounds, ViolationHandler};
use super::operation::{MeasuredOperation, Operation, scoped_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of the recording that is running; 0 if none is.
static CURRENT: AtomicU64 = AtomicU64::new(0);
static SESSION: Mutex<Option<Arc<Session>>> = Mutex::new(None);

/// Operations by repository id and name.
type Operations = HashMap<(Box<str>, Box<str>), Arc<Operation>>;

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
    /// Time before which no further violation is logged, and number of those that were not.
    pub(super) next_log: AtomicU64,
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
    number() != 0
}

/// Returns the number of the recording that is running; 0 if none is.
// Relaxed: an upcall in progress is measured or not.
#[inline]
pub(super) fn number() -> u64 {
    CURRENT.load(Ordering::Relaxed)
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
    CURRENT.store(started.number, Ordering::Relaxed);
    Some(started)
}

/// Ends a recording, if it is the one that is running.
pub(super) fn end(ended: &Session) {
    let mut session = session();
    if session
        .as_ref()
        .is_some_and(|one| one.number == ended.number)
    {
        CURRENT.store(0, Ordering::Relaxed);
        *session = None;
    }
}

impl Session {
    /// Returns the operation, which is added if there is room.
    pub(super) fn operation(&self, interface: &str, operation: &str) -> Option<Arc<Operation>> {
        let mut operations = self.operations();
        let key = (interface.into(), operation.into());
        if let Some(known) = operations.get(&key) {
            return Some(known.clone());
        }
        if operations.len() >= self.most {
            return None;
        }
        let name = scoped_name(interface, operation);
        let bounds = self.plan.as_ref().and_then(|plan| plan.get(&name).copied());
        let has_plan = self.plan.is_some();
        let added = Arc::new(Operation::new(
            (interface, operation),
            name,
            bounds,
            has_plan,
        ));
        operations.insert(key, added.clone());
        Some(added)
    }

    /// Returns all operations, sorted by name.
    pub(super) fn measured(&self) -> Vec<MeasuredOperation> {
        let operations: Vec<Arc<Operation>> = self.operations().values().cloned().collect();
        let mut measured: Vec<_> = operations.iter().map(|one| one.measured()).collect();
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
