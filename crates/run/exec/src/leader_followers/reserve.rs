//! The reserve thread, which serves while all others are busy.
//!
//! It is woken when the last worker takes an event, which under load is all the time: so it waits a while
//! before it does anything, and is woken again only once it has parked.

use crate::reactor::{Reactor, Role};
use crate::sync::Parker;
use crate::{SpawnError, ThreadGroup, ThreadSpec};
use punctual_sys::epoll::EpollEvents;
use punctual_sys::event::{EventFd, either};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// How long all workers have to be busy, and how often it looks whether they still are.
const PATIENCE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Reserve {
    reactor: Weak<Reactor>,
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
    ) -> Result<Arc<Self>, SpawnError> {
        let reserve = Arc::new(Self {
            reactor: Arc::downgrade(reactor),
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
        if let Some(parker) = self.parker.get() {
            parker.park(Some(PATIENCE));
        }
        let mut found = EpollEvents::new(1);
        while reactor.waiting() == 0 && !reactor.is_stopped() {
            match self.wait(reactor) {
                Ok(true) if reactor.waiting() == 0 => {
                    reactor.look(&mut found);
                    reactor.serve(&found, Role::Reserve);
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    fn wait(&self, reactor: &Reactor) -> io::Result<bool> {
        let (event, _) = either(reactor.epoll(), &self.never, Some(PATIENCE))?;
        Ok(event)
    }
}
