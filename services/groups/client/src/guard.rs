//! Guards before servants of members.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use parking_lot::RwLock;
use punctual::poa::{DispatchError, Dispatched, ServerCall};
use punctual::{ObjectRef, Servant, SystemExceptionKind};

/// Operations that a member answers whether it is primary or not.
const ALWAYS: [&str; 5] = [
    "get_state",
    "set_state",
    "get_update",
    "set_update",
    "is_alive",
];

/// Guard of a member's servants: decides which requests they serve. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Guard(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    in_progress: AtomicU32,
    sheds: AtomicBool,
    /// The group's own object; `None` before the member has joined.
    forwarder: RwLock<Option<ObjectRef>>,
    /// True if only the primary serves.
    is_passive: AtomicBool,
    /// Time until which the member is primary.
    primary_until: RwLock<Option<Instant>>,
}

impl Guard {
    /// Returns a guard of a member that has not joined yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts the guard before a servant.
    #[must_use]
    pub fn around(&self, servant: Arc<dyn Servant>) -> Arc<dyn Servant> {
        Arc::new(Guarded {
            guard: self.clone(),
            servant,
        })
    }

    /// Returns the number of requests that the servants are serving.
    #[must_use]
    pub fn in_progress(&self) -> u32 {
        self.0.in_progress.load(Ordering::Relaxed)
    }

    /// Forwards requests to the group from now on, or serves them again.
    pub fn shed(&self, sheds: bool) {
        self.0.sheds.store(sheds, Ordering::Relaxed);
    }

    /// Returns whether requests are forwarded to the group to shed load.
    #[must_use]
    pub fn is_shedding(&self) -> bool {
        self.0.sheds.load(Ordering::Relaxed)
    }

    /// Returns whether the member is primary now: its lease has not ended.
    #[must_use]
    pub fn is_primary(&self) -> bool {
        self.0
            .primary_until
            .read()
            .is_some_and(|until| Instant::now() < until)
    }

    pub(crate) fn set_passive(&self, is_passive: bool) {
        self.0.is_passive.store(is_passive, Ordering::Relaxed);
    }

    pub(crate) fn set_forwarder(&self, forwarder: Option<ObjectRef>) {
        *self.0.forwarder.write() = forwarder;
    }

    pub(crate) fn set_primary_until(&self, until: Option<Instant>) {
        *self.0.primary_until.write() = until;
    }

    /// Checks that a request may be served here.
    fn check(&self, operation: &str) -> Result<(), DispatchError> {
        let waits = self.0.is_passive.load(Ordering::Relaxed) && !self.is_primary();
        if !(waits || self.is_shedding()) || ALWAYS.contains(&operation) {
            return Ok(());
        }
        match &*self.0.forwarder.read() {
            Some(group) => Err(DispatchError::forward(group)),
            None => Err(SystemExceptionKind::Transient
                .because("this member has not joined its group yet")
                .into()),
        }
    }
}

/// Servant behind a guard.
struct Guarded {
    guard: Guard,
    servant: Arc<dyn Servant>,
}

/// Request in progress, until it is dropped.
struct InProgress<'g>(&'g AtomicU32);

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Servant for Guarded {
    fn repository_ids(&self) -> &'static [&'static str] {
        self.servant.repository_ids()
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.servant.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn is_transparent(&self) -> bool {
        self.servant.is_transparent()
    }

    fn is_dynamic(&self) -> bool {
        self.servant.is_dynamic()
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.guard.check(call.operation())?;
        let count = &self.guard.0.in_progress;
        count.fetch_add(1, Ordering::Relaxed);
        let _in_progress = InProgress(count);
        self.servant.dispatch(call)
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self.servant.implementation()
    }
}
