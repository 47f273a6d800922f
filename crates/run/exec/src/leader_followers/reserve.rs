//! The thread that serves while all others are held up.
//!
//! It is called when the last worker rises, which under load is all the time: so it waits a while before
//! it does anything, and is called again only once it has gone back to bed.

use crate::reactor::{Reactor, Role};
use crate::sync::Bed;
use crate::{Crew, SpawnError};
use punctual_sys::bell::{Bell, either};
use punctual_sys::epoll::Happenings;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// How long all workers have to be held up, and how often it is looked whether they still are.
const PATIENCE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Reserve {
    reactor: Weak<Reactor>,
    /// Set once the thread runs.
    bed: OnceLock<Bed>,
    /// Whether it need not be called: it is up already.
    up: AtomicBool,
    /// Never rung: it is there to be waited for beside the reactor.
    quiet: Bell,
}

impl Reserve {
    pub(super) fn start(
        reactor: &Arc<Reactor>,
        crew: &Crew,
        name: &str,
    ) -> Result<Arc<Self>, SpawnError> {
        let reserve = Arc::new(Self {
            reactor: Arc::downgrade(reactor),
            bed: OnceLock::new(),
            up: AtomicBool::new(true),
            quiet: Bell::new().map_err(SpawnError::Os)?,
        });
        let own = reserve.clone();
        crew.spawn(&format!("{name}-reserve"), move || own.run())?;
        Ok(reserve)
    }

    /// Calls it, unless it is up. Enters the kernel only then.
    pub(super) fn call(&self) {
        // Sequentially consistent with the store in `rest`: it sees that nobody waits, or is seen asleep.
        if !self.up.swap(true, Ordering::SeqCst)
            && let Some(bed) = self.bed.get()
        {
            bed.wake();
        }
    }

    fn run(&self) {
        let _ = self.bed.set(Bed::own());
        while let Some(reactor) = self.reactor.upgrade() {
            if reactor.is_stopped() {
                return;
            }
            if reactor.waiting() > 0 {
                drop(reactor);
                self.rest();
                continue;
            }
            self.stand_in(&reactor);
        }
    }

    /// Sleeps until it is called.
    fn rest(&self) {
        self.up.store(false, Ordering::SeqCst);
        let idle = |reactor: Arc<Reactor>| reactor.waiting() > 0 && !reactor.is_stopped();
        while !self.up.load(Ordering::SeqCst) {
            if !self.reactor.upgrade().is_some_and(idle) {
                self.up.store(true, Ordering::SeqCst);
                return;
            }
            if let Some(bed) = self.bed.get() {
                bed.sleep(None);
            }
        }
    }

    /// Nobody waits for events: does, once that has been so for a while, until somebody does again.
    fn stand_in(&self, reactor: &Arc<Reactor>) {
        if let Some(bed) = self.bed.get() {
            bed.sleep(Some(PATIENCE));
        }
        let mut found = Happenings::new(1);
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
        let (event, _) = either(reactor.epoll(), &self.quiet, Some(PATIENCE))?;
        Ok(event)
    }
}
