//! Start and end of a recording, and its results.

use super::expected::{Bounds, Expected, ViolationHandler};
use super::operation::MeasuredOperation;
use super::session::{self, Session};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum number of operations, by default.
const MOST: usize = 256;

/// Recording of the times of all upcalls of the process, until it is stopped or dropped.
#[derive(Debug)]
#[must_use]
pub struct Recording(Arc<Session>);

/// Options of a recording.
#[derive(Clone)]
pub struct RecordingOptions {
    /// Maximum number of operations, from 1 to 65,536. Default: 256. Upcalls of further ones are
    /// counted as not recorded. An operation takes 12 KiB for each thread that serves it; a thread
    /// that begins continues the counts of one that has ended.
    pub operations: usize,
    /// Plan with which upcalls are compared; `None`, the default, compares with none. An operation
    /// that is not in the plan is a violation of it.
    pub plan: Option<Vec<Expected>>,
    /// Handler of violations of the plan. Default: none.
    pub handler: Option<Arc<dyn ViolationHandler>>,
}

impl Default for RecordingOptions {
    fn default() -> Self {
        Self {
            operations: MOST,
            plan: None,
            handler: None,
        }
    }
}

impl fmt::Debug for RecordingOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingOptions")
            .field("operations", &self.operations)
            .field("plan", &self.plan)
            .field("handler", &self.handler.is_some())
            .finish()
    }
}

/// Measured times of all operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Operations with at least one upcall, sorted by name.
    pub operations: Vec<MeasuredOperation>,
    /// Number of upcalls of operations for which there was no room.
    pub not_recorded: u64,
}

/// Error: upcalls are being measured already.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the upcalls of this process are being measured already; stop that recording first")]
pub struct AlreadyMeasuring;

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for AlreadyMeasuring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Recording {
    /// Begins to measure. Upcalls in progress are not measured.
    ///
    /// # Errors
    /// [`AlreadyMeasuring`].
    pub fn start(options: RecordingOptions) -> Result<Self, AlreadyMeasuring> {
        let plan = options.plan.map(|plan| {
            let bounds = plan
                .iter()
                .map(|one| (one.operation.clone(), Bounds::from(one)));
            bounds.collect()
        });
        let most = options.operations.clamp(1, 1 << 16);
        let started = session::start(most, plan, options.handler);
        started.map(Self).ok_or(AlreadyMeasuring)
    }

    /// Returns the times measured so far.
    #[must_use]
    pub fn measured(&self) -> Measured {
        measured(&self.0)
    }

    /// Stops measuring; returns the measured times. An upcall in progress may be missing.
    #[must_use]
    pub fn stop(self) -> Measured {
        session::end(&self.0);
        measured(&self.0)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        session::end(&self.0);
    }
}

/// Returns the times that the running recording has measured so far; `None` if none is running.
#[must_use]
pub fn current() -> Option<Measured> {
    session::running().map(|session| measured(&session))
}

/// Begins to measure until the process ends, unless a recording is running.
pub(crate) fn start_for_process() {
    drop(session::start(MOST, None, None));
}

fn measured(session: &Session) -> Measured {
    Measured {
        operations: session.measured(),
        not_recorded: session.not_recorded.load(Ordering::Relaxed),
    }
}
