//! The reserve thread, which serves while all others are busy.
//!
//! It is woken when the last worker takes an event, which under load is all the time: so it waits a while
//! before it does anything, and is woken again only once it has parked.

use crate::reactor::{Reactor, Role};
use crate::sync::Parker;
use crate::{SpawnError, ThreadGroup, ThreadSpec};
use punctual_sys::epoll::EpollEvents;
use punctual_sys::event::{EventFd, either};
use std::fmt::Debug;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// How often it looks whether all workers are busy still.
const LOOK: Duration = Duration::from_millis(20);

/// What the reserve does.
#[derive(Clone, Debug)]
pub struct ReserveOptions {
    /// How long all workers have to be busy before it does anything.
    pub patience: Duration,
    /// Whether it serves what comes then, to refuse or to keep what would take long ([`Role::Reserve`]); otherwise that
    /// waits.
    pub serves: bool,
    /// Asked before, for another thread.
    pub borrow: Option<Arc<dyn Borrow>>,
}

/// Where a pool has threads from when all of its own are busy.
pub trait Borrow: Send + Sync + Debug {
    /// Has another thread serve the reactor, which is about to; `false` where none can.
    fn borrow(&self) -> bool;
}

impl Default for ReserveOptions {
    /// Serves after 20 ms.
    fn default() -> Self {
        Self {
            patience: LOOK,
            serves: true,
            borrow: None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Reserve {
    reactor: Weak<Reactor>,
    options: ReserveOptions,
    /// Set once the thread runs.
    parker: OnceLock<Parker>,
    /// Whether it need not be woken.
    running: AtomicBool,
    /// Never set: it is there to be waited for beside the reactor.
    never: EventFd,
}

impl Reserve {
    pub(super) fn start(
        reactor: &Arc<Reactor>,
        threads: &ThreadGroup,
        spec: &ThreadSpec,
        options: ReserveOptions,
    ) -> Result<Arc<Self>, SpawnError> {
        let reserve = Arc::new(Self {
            reactor: Arc::downgrade(reactor),
            options,
            parker: OnceLock::new(),
            running: AtomicBool::new(true),
            never: EventFd::new().map_err(SpawnError::Os)?,
        });
        let own = reserve.clone();
        let name = format!("{}-reserve", spec.name());
        threads.spawn(spec.with_name(name), move || own.run())?;
        Ok(reserve)
    }

    /// Wakes it, unless it runs. Enters the kernel only then.
    pub(super) fn wake(&self) {
        // Sequentially consistent with the store in `park`: it sees that nobody waits, or is seen parked.
        if !self.running.swap(true, Ordering::SeqCst)
            && let Some(parker) = self.parker.get()
        {
            parker.unpark();
        }
    }

    fn run(&self) {
        let _ = self.parker.set(Parker::own());
        while let Some(reactor) = self.reactor.upgrade() {
            if reactor.is_stopped() {
                return;
            }
            if reactor.waiting() > 0 {
                drop(reactor);
                self.park();
                continue;
            }
            self.stand_in(&reactor);
        }
    }

    /// Parks until it is woken.
    fn park(&self) {
        self.running.store(false, Ordering::SeqCst);
        let idle = |reactor: Arc<Reactor>| reactor.waiting() > 0 && !reactor.is_stopped();
        while !self.running.load(Ordering::SeqCst) {
            if !self.reactor.upgrade().is_some_and(idle) {
                self.running.store(true, Ordering::SeqCst);
                return;
            }
            if let Some(parker) = self.parker.get() {
                parker.park(None);
            }
        }
    }

    /// Nobody waits for events: this thread does, once that has been so for a while, until another does
    /// again.
    fn stand_in(&self, reactor: &Arc<Reactor>) {
        self.rest();
        let mut found = EpollEvents::new(1);
        while reactor.waiting() == 0 && !reactor.is_stopped() {
            let Ok(has_event) = self.wait(reactor) else {
                return;
            };
            if reactor.waiting() > 0 {
                return;
            }
            let borrow = self.options.borrow.as_ref();
            if (has_event || reactor.has_work()) && borrow.is_some_and(|from| from.borrow()) {
                self.rest();
            } else if has_event && self.options.serves {
                reactor.look(&mut found);
                reactor.serve(&found, Role::Reserve);
            } else if has_event {
                self.rest();
            }
        }
    }

    /// Gives the workers a moment.
    fn rest(&self) {
        if let Some(parker) = self.parker.get() {
            parker.park(Some(self.options.patience));
        }
    }

    fn wait(&self, reactor: &Reactor) -> io::Result<bool> {
        let (event, _) = either(reactor.epoll(), &self.never, Some(LOOK))?;
        Ok(event)
    }
}
