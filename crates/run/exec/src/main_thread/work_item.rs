//! Work item that borrows from the thread that waits for it.

use super::refused::Refused;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Work to be done once, which catches its own panics and leaves its result with the waiting
/// thread.
type Work = dyn FnMut() + Send;

pub(super) struct WorkItem {
    /// Pointer to the work; valid while the stage is [`Stage::Queued`] or [`Stage::Begun`].
    work: *mut Work,
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Queued,
    Begun,
    Done,
    Refused,
}

// SAFETY: the work may be run by another thread than the one that made it (`Work: Send`), and `run`
// lets only one thread run it, as only one finds it queued.
unsafe impl Send for WorkItem {}
// SAFETY: as above; all other state is behind the mutex.
unsafe impl Sync for WorkItem {}

/// Queues a work item through `submit`, and waits until it is done or refused.
pub(super) fn wait_for<R: Send>(
    work: impl FnOnce() -> R + Send,
    submit: impl FnOnce(Arc<WorkItem>) -> Result<(), Refused>,
) -> Result<R, Refused> {
    let (mut work, mut outcome) = (Some(work), None);
    let mut run = || {
        if let Some(work) = work.take() {
            outcome = Some(catch_unwind(AssertUnwindSafe(work)));
        }
    };
    let borrowed: *mut (dyn FnMut() + Send + '_) = &raw mut run;
    // SAFETY: only the lifetime changes. `run` lives until this function ends, which is after
    // `settle` has returned, also where `submit` panics: `WaitOnDrop` ensures that. From then on the
    // pointer is not used.
    let work =
        unsafe { std::mem::transmute::<*mut (dyn FnMut() + Send + '_), *mut Work>(borrowed) };
    let item = Arc::new(WorkItem {
        work,
        stage: Mutex::new(Stage::Queued),
        changed: Condvar::new(),
    });
    let settled = WaitOnDrop(&item);
    let submitted = submit(item.clone());
    if submitted.is_err() {
        item.refuse();
    }
    drop(settled);
    submitted?;
    match outcome {
        Some(Ok(done)) => Ok(done),
        Some(Err(panic)) => resume_unwind(panic),
        None => Err(Refused::Closed),
    }
}

/// Guard that waits, when it is dropped, until the work item is done or refused.
struct WaitOnDrop<'w>(&'w WorkItem);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.refuse();
        }
        self.0.settle();
    }
}

impl WorkItem {
    /// Does the work of the item, unless the item was refused.
    pub(super) fn run(&self) {
        if !self.change(Stage::Queued, Stage::Begun) {
            return;
        }
        // SAFETY: the item was queued and is begun by this thread alone; its maker waits until it
        // is done (`settle`), so the work still exists and no other thread uses it.
        unsafe { (*self.work)() };
        self.change(Stage::Begun, Stage::Done);
    }

    /// Refuses the work item, unless the work has begun.
    pub(super) fn refuse(&self) {
        self.change(Stage::Queued, Stage::Refused);
    }

    fn settle(&self) {
        let mut stage = self.lock();
        while matches!(*stage, Stage::Queued | Stage::Begun) {
            stage = self
                .changed
                .wait(stage)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn change(&self, from: Stage, to: Stage) -> bool {
        let mut stage = self.lock();
        let is_from = *stage == from;
        if is_from {
            *stage = to;
            self.changed.notify_all();
        }
        is_from
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for WorkItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorkItem").field(&*self.lock()).finish()
    }
}
