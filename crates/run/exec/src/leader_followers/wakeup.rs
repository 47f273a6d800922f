//! Handle by which other threads wake a waiting thread.

use super::leadership::{Notify, Waiter};
use punctual_sys::event::EventFd;
use std::cell::OnceCell;
use std::io;
use std::sync::Arc;

/// Event that wakes a thread that waits for events; each thread makes its own when it first waits.
pub type ThreadEvent = EventFd;

impl Notify for Arc<ThreadEvent> {
    fn notify(&self) {
        EventFd::notify(self);
    }
}

/// Handle by which other threads wake a waiting thread. Clones name the same thread.
#[derive(Clone, Debug)]
pub struct Wakeup {
    pub(super) waiter: Arc<Waiter<Arc<ThreadEvent>>>,
}

thread_local! {
    static OWN: OnceCell<Wakeup> = const { OnceCell::new() };
}

impl Wakeup {
    /// Returns the handle of the calling thread. Takes a descriptor, once for each thread.
    ///
    /// # Errors
    /// Errors of `eventfd(2)`.
    pub fn own() -> io::Result<Self> {
        OWN.with(|own| {
            if let Some(own) = own.get() {
                return Ok(own.clone());
            }
            let waiter = Arc::new(Waiter::own(Arc::new(EventFd::new()?)));
            Ok(own.get_or_init(|| Self { waiter }).clone())
        })
    }

    /// Returns the event that wakes the thread.
    pub(crate) fn event(&self) -> &Arc<ThreadEvent> {
        self.waiter.notifier()
    }

    /// Returns whether both wake the same thread.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.waiter, &other.waiter)
    }

    /// Makes the thread re-check its condition, which the caller stored before. May be called from
    /// any thread; enters the kernel only where the waiter sleeps.
    pub fn wake(&self) {
        self.waiter.wake();
    }
}
