//! Reserve thread, which starts further threads while all others are held up, and serves where no more may be started.
//!
//! It is woken when the last worker takes an event, which happens constantly under load: so it acts only once all
//! workers have been held up for a while ([`Workers::change_since`]), and is woken again only once it has parked.

use super::growth::Growth;
use super::workers::{Change, Workers};
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

/// Interval at which the reserve checks whether all workers are still busy.
const LOOK: Duration = Duration::from_millis(20);
/// Interval at which the reserve checks whether all workers are held up while more may be started.
const MOMENT: Duration = Duration::from_millis(1);

/// Options of the reserve thread of a leader/followers pool.
#[derive(Clone, Debug)]
pub struct ReserveOptions {
    /// Time for which all workers must be held up before the reserve acts.
    pub patience: Duration,
    /// `true` if the reserve thread serves events while all workers are held up, and refuses or
    /// queues what would take long ([`Role::Reserve`]); `false` if such events wait for a worker.
    pub serves: bool,
    /// Source of an extra thread, tried before the reserve serves itself.
    pub borrow: Option<Arc<dyn Borrow>>,
}

/// Source of threads for a pool whose own are all busy.
pub trait Borrow: Send + Sync + Debug {
    /// Lends another thread that will serve the reactor; returns `false` if none is free.
    fn borrow(&self) -> bool;
}

impl Default for ReserveOptions {
    /// Returns options for a reserve that serves after 20 ms.
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
    workers: Arc<Workers>,
    growth: Arc<Growth>,
    options: ReserveOptions,
    /// Parker of the reserve thread; set once that runs.
    parker: OnceLock<Parker>,
    /// Set while the reserve thread runs and need not be woken.
    running: AtomicBool,
    /// Event that is never set; it stands for the second descriptor where a thread waits for the
    /// reactor alone.
    never: EventFd,
}

impl Reserve {
    pub(super) fn start(
        reactor: &Arc<Reactor>,
        (growth, workers): (&Arc<Growth>, &Arc<Workers>),
        (threads, spec): (&ThreadGroup, &ThreadSpec),
        options: ReserveOptions,
    ) -> Result<Arc<Self>, SpawnError> {
        let reserve = Arc::new(Self {
            reactor: Arc::downgrade(reactor),
            workers: workers.clone(),
            growth: growth.clone(),
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

    /// Wakes the reserve thread unless it runs already. Enters the kernel only to wake it.
    pub(super) fn wake(&self) {
        // Sequentially consistent with the store in `park`: the reserve sees that no thread waits,
        // or is seen parked.
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
            self.serve_while_busy(&reactor);
        }
    }

    /// Parks the reserve thread until it is woken.
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

    /// Starts further workers, one at a time, while none waits and an event does, each once all of them have been held
    /// up for a moment. Returns `true` when no more can be started, `false` when one waits.
    fn grow_while_held_up(&self, reactor: &Arc<Reactor>) -> bool {
        let mut rounds = reactor.rounds();
        while self.workers.may_grow() {
            // First, so that it is not woken each time that all are busy.
            self.rest_for(MOMENT);
            if reactor.waiting() > 0 || reactor.is_stopped() {
                return false;
            }
            // Workers usually make progress, which costs little to see.
            if rounds != reactor.rounds() {
                rounds = reactor.rounds();
                continue;
            }
            let watch = self.workers.watch(reactor);
            self.rest_for(MOMENT);
            let change = self.workers.change_since(&watch, reactor, MOMENT, false);
            if change == Change::HeldUp
                && self.wait(reactor).unwrap_or(true)
                && rounds == reactor.rounds()
                && reactor.waiting() == 0
                && !matches!(self.growth.grow(), Ok(true))
            {
                return true;
            }
            rounds = reactor.rounds();
        }
        true
    }

    /// Serves events while no worker waits for them, once all workers have been held up for a while.
    fn serve_while_busy(&self, reactor: &Arc<Reactor>) {
        if !self.grow_while_held_up(reactor) {
            return;
        }
        let patience = self.options.patience;
        let mut watch = self.workers.watch(reactor);
        let mut held_up = false;
        self.rest();
        let (mut found, mut is_queues_turn) = (EpollEvents::new(1), false);
        while reactor.waiting() == 0 && !reactor.is_stopped() {
            // Workers that are held up stay so until one of them goes on.
            match self
                .workers
                .change_since(&watch, reactor, patience, held_up)
            {
                Change::HeldUp => held_up = true,
                Change::Starved => {
                    self.rest();
                    continue;
                }
                Change::Progress => {
                    (watch, held_up) = (self.workers.watch(reactor), false);
                    self.rest();
                    continue;
                }
            }
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
                reactor.serve_at_hand(&mut found, &mut is_queues_turn, Role::Reserve);
            } else if has_event {
                self.rest();
            }
        }
    }

    /// Parks the reserve thread briefly, so that the workers can take up events first.
    fn rest(&self) {
        self.rest_for(self.options.patience);
    }

    fn rest_for(&self, time: Duration) {
        if let Some(parker) = self.parker.get() {
            parker.park(Some(time));
        }
    }

    fn wait(&self, reactor: &Reactor) -> io::Result<bool> {
        if reactor.has_queued() {
            return Ok(true);
        }
        let (event, _) = either(reactor.epoll(), &self.never, Some(LOOK))?;
        Ok(event)
    }
}
