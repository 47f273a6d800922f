//! Link: the end of a connection at which its consumer is called.

use crate::event::Event;
use crate::liveness::Watched;
use crate::peer::{Consumer, ConsumerId, Lost, Pushed, Reason, Reports};
use crate::statistics::ConnectionState;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Owner of links, which ends connections.
pub(crate) trait Owner: Send + Sync {
    /// Ends the connection of a consumer. Calls the consumer and reports.
    fn end(&self, consumer: ConsumerId, reason: Reason);
}

/// Consumer with its counts. All calls to its `push` are made here.
///
/// What each push needs stands in one cache line.
#[repr(C, align(64))]
pub(crate) struct Link<P> {
    pub(crate) consumer: Arc<dyn Consumer<P>>,
    pub(crate) counts: Counts,
    state: AtomicU8,
    failures: AtomicU32,
    most_failures: u32,
    pub(crate) id: ConsumerId,
    pub(crate) watched: Watched,
    /// The last push blocked a thread.
    is_slow: AtomicBool,
    reports: Option<Arc<dyn Reports>>,
    owner: Weak<dyn Owner>,
}

/// Counts of events.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pushed: AtomicU64,
    /// Number of pushed events without the first of each push, which `pushed` counts: a push of one event costs one
    /// increment.
    further: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) suspended: AtomicU64,
    pub(crate) failed: AtomicU64,
}

const CONNECTED: u8 = 0;
const SUSPENDED: u8 = 1;
const DISCONNECTED: u8 = 2;

impl Counts {
    /// Returns the numbers of events and of pushes that consumers took.
    pub(crate) fn pushed(&self) -> (u64, u64) {
        let further = self.further.load(Ordering::Relaxed);
        let pushed = self.pushed.load(Ordering::Relaxed);
        (pushed, pushed.saturating_sub(further))
    }
}

impl<P> Link<P> {
    pub(crate) fn new(
        id: ConsumerId,
        consumer: Arc<dyn Consumer<P>>,
        most_failures: u32,
        reports: Option<Arc<dyn Reports>>,
        owner: Weak<dyn Owner>,
    ) -> Self {
        Self {
            id,
            consumer,
            counts: Counts::default(),
            watched: Watched::default(),
            is_slow: AtomicBool::new(false),
            state: AtomicU8::new(CONNECTED),
            failures: AtomicU32::new(0),
            most_failures,
            reports,
            owner,
        }
    }

    pub(crate) fn state(&self) -> ConnectionState {
        match self.state.load(Ordering::Acquire) {
            CONNECTED => ConnectionState::Connected,
            SUSPENDED => ConnectionState::Suspended,
            _ => ConnectionState::Disconnected,
        }
    }

    /// Suspends or resumes; returns `false` after the end of the connection.
    pub(crate) fn set_suspended(&self, is_suspended: bool) -> bool {
        let state = if is_suspended { SUSPENDED } else { CONNECTED };
        let set = |now: u8| (now != DISCONNECTED).then_some(state);
        let updated = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, set);
        updated.is_ok()
    }

    /// Ends the connection; returns `false` if it had ended before.
    pub(crate) fn disconnect(&self) -> bool {
        self.state.swap(DISCONNECTED, Ordering::AcqRel) != DISCONNECTED
    }

    /// Returns whether the last push blocked a thread.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow.load(Ordering::Relaxed)
    }

    pub(crate) fn set_slow(&self, is_slow: bool) {
        self.is_slow.store(is_slow, Ordering::Relaxed);
    }

    /// Returns whether events may be delivered; otherwise counts them as lost.
    #[inline]
    pub(crate) fn admits(&self, events: usize) -> bool {
        match self.state.load(Ordering::Acquire) {
            CONNECTED => true,
            SUSPENDED => {
                self.lost(Lost::Suspended, events);
                false
            }
            _ => {
                self.lost(Lost::Disconnected, events);
                false
            }
        }
    }

    /// Pushes events to the consumer, and ends the connection if they fail too often.
    #[inline]
    pub(crate) fn push(&self, events: &[Event<P>]) {
        if !self.admits(events.len()) {
            return;
        }
        match catch_unwind(AssertUnwindSafe(|| self.consumer.push(events))) {
            Ok(Pushed::Done) => self.done(events.len()),
            Ok(Pushed::Failed(text)) => self.failed(events.len(), text),
            Ok(Pushed::Gone(text)) => {
                self.lost(Lost::Refused, events.len());
                self.end(Reason::Gone(text));
            }
            Err(panic) => self.failed(events.len(), panicked(&*panic)),
        }
    }

    /// Counts and reports events that the consumer will not receive.
    #[cold]
    pub(crate) fn lost(&self, cause: Lost, events: usize) {
        if events == 0 {
            return;
        }
        let count = match cause {
            Lost::Suspended => &self.counts.suspended,
            Lost::Refused => &self.counts.failed,
            _ => &self.counts.dropped,
        };
        count.fetch_add(events as u64, Ordering::Relaxed);
        if let Some(reports) = &self.reports {
            caught(|| reports.lost(self.id, cause, events));
        }
    }

    /// Ends the connection.
    #[cold]
    pub(crate) fn end(&self, reason: Reason) {
        if let Some(owner) = self.owner.upgrade() {
            owner.end(self.id, reason);
        }
    }

    #[inline]
    fn done(&self, events: usize) {
        self.counts
            .pushed
            .fetch_add(events as u64, Ordering::Relaxed);
        if events > 1 {
            let further = events as u64 - 1;
            self.counts.further.fetch_add(further, Ordering::Relaxed);
        }
        if self.failures.load(Ordering::Relaxed) != 0 {
            self.failures.store(0, Ordering::Relaxed);
        }
    }

    #[cold]
    fn failed(&self, events: usize, text: String) {
        self.lost(Lost::Refused, events);
        let failures = self
            .failures
            .fetch_add(1, Ordering::Relaxed)
            .saturating_add(1);
        if failures >= self.most_failures {
            self.end(Reason::Failed(text));
        }
    }
}

/// Calls a peer; its panic ends the call.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("its push panicked: {}", text.unwrap_or("with no message"))
}
