//! Reactor: descriptors with handlers for their events, and deadlines.
//!
//! A registration is a descriptor with its [`Handler`]. Threads share one `epoll` set and wait in
//! it themselves ([`Reactor::run`]), so that the kernel hands over from one to the next. The thread
//! that receives an event becomes the registration's *owner* (`owner`) by one exchange and serves
//! it. Another thread that receives an event meanwhile leaves a note for the owner and waits on.
//! Registrations share no lock on this path.
//!
//! Descriptors are watched edge-triggered: a handler receives each change once, and takes all there
//! is. Work that arises without a change of the descriptor is posted to the reactor's own queue
//! ([`Reactor::nudge`]), which an eventfd in the same set announces.
//!
//! One thread may run the reactor (a *reactive* server), many ([`crate::LeaderFollowers`]), or only
//! those that wait for a reply ([`Reactor::run_until`]).

mod owner;
#[cfg(test)]
mod owner_tests;
mod ready_event;
mod serve;
mod table;
mod timers;
mod work;

pub use owner::{Owner, Readiness, Retired};
pub use ready_event::{Handler, ReadyEvent, Role, depth};
pub use table::Token;
pub use work::Work;

use crate::leader_followers::{Leadership, ThreadEvent};
use crate::{Look, Spin};
use crossbeam_queue::SegQueue;
use punctual_sys::epoll::{Epoll, Interest};
use punctual_sys::event::EventFd;
use ready_event::Nesting;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use table::Table;
use timers::Timers;

/// Options of a reactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReactorOptions {
    /// Upper bound of registrations. Default 65,536; each takes less than 200 bytes while it
    /// exists.
    pub registrations: u32,
    /// Upper bound of the time a thread spins for events before it sleeps. One thread spins at a
    /// time, and for less time while spinning keeps failing. Default none.
    pub spin: Duration,
    /// `true` if real-time threads spin, too, and threads with a single processor. Default off.
    pub spin_always: bool,
}

impl Default for ReactorOptions {
    fn default() -> Self {
        Self {
            registrations: 65_536,
            spin: Duration::ZERO,
            spin_always: false,
        }
    }
}

/// Set of registered descriptors, to be waited for by threads; see the module.
pub struct Reactor {
    epoll: Epoll,
    table: Table,
    timers: Timers,
    /// Queue of registrations to be served without an event of their descriptors.
    queue: SegQueue<Token>,
    /// Event that is notified for each queued registration.
    queued: EventFd,
    /// Event that is set for good when the reactor stops.
    stop_event: EventFd,
    stopped: AtomicBool,
    pub(crate) leadership: Leadership<Arc<ThreadEvent>>,
    spin: Option<Spin>,
    /// Set while a thread spins.
    spinning: AtomicBool,
    /// Called when the last leader resigns, and there is no follower.
    all_busy: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// Additional work of the reactor's threads.
    work: OnceLock<Arc<dyn Work>>,
}

/// Token of the reactor's own descriptors; no registration has it.
const QUEUE: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const STOP: u64 = u64::MAX - 2;
/// Upper bound of the number of registrations.
const MOST: u32 = 1 << 24;

impl Reactor {
    /// Makes a reactor, which no thread runs yet. Takes four descriptors.
    ///
    /// # Errors
    /// The operating system's errors.
    pub fn new(options: ReactorOptions) -> io::Result<Arc<Self>> {
        let (epoll, timers) = (Epoll::new()?, Timers::new()?);
        let (queued, stop_event) = (EventFd::new()?, EventFd::new()?);
        epoll.add(&queued, QUEUE, Interest::Read)?;
        epoll.add(timers.timer(), TIMER, Interest::Read)?;
        epoll.add_for_all(&stop_event, STOP)?;
        let spin = Spin::new(options.spin, Look::System).always(options.spin_always);
        Ok(Arc::new(Self {
            epoll,
            table: Table::new(options.registrations.min(MOST)),
            timers,
            queue: SegQueue::new(),
            queued,
            stop_event,
            stopped: AtomicBool::new(false),
            leadership: Leadership::new(),
            spin: (!spin.is_off()).then_some(spin),
            spinning: AtomicBool::new(false),
            all_busy: OnceLock::new(),
            work: OnceLock::new(),
        }))
    }

    /// Registers a handler. It is called once at first, whatever the state of its descriptor: data
    /// may have arrived with a connection.
    ///
    /// # Errors
    /// `QuotaExceeded` at the limit of registrations, `InvalidInput` for a handler without a
    /// descriptor, else those of `epoll_ctl(2)`.
    pub fn register(&self, handler: Arc<dyn Handler>) -> io::Result<Token> {
        let descriptor = handler.descriptor().ok_or(io::ErrorKind::InvalidInput)?;
        let token = self.table.take()?;
        let Some(entry) = self.table.entry(token) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // This thread owns it from here on, so that no other serves a half-made registration.
        let _ = entry.owner.offer(token.generation, Readiness::NONE);
        entry.set_handler(Some(handler.clone()));
        let added = self.epoll.add(descriptor, token.to_word(), Interest::Read);
        if let Err(error) = added {
            let _ = entry.owner.retire(token.generation);
            self.clear(token);
            return Err(error);
        }
        self.hand_over(token, Readiness::NUDGE);
        Ok(token)
    }

    /// Removes a registration: its handler is no longer called, and is dropped once no call is in
    /// progress. Has no effect on a registration that was removed before.
    pub fn deregister(&self, token: Token) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        match entry.owner.retire(token.generation) {
            Retired::Mine => self.clear(token),
            Retired::Later | Retired::Stale => {}
        }
    }

    /// Queues a registration to be served by the next free thread, though its descriptor did not
    /// change.
    pub fn nudge(&self, token: Token) {
        self.post(token, Readiness::NUDGE);
    }

    /// Sets whether a registration waits for room to write, in addition to data to read. A
    /// condition that holds already is reported at once.
    ///
    /// # Errors
    /// `NotFound` for a removed registration, else those of `epoll_ctl(2)`.
    pub fn set_interest(&self, token: Token, interest: Interest) -> io::Result<()> {
        let entry = self.table.entry(token).ok_or(io::ErrorKind::NotFound)?;
        let handler = entry.handler().ok_or(io::ErrorKind::NotFound)?;
        if entry.owner.generation() != token.generation {
            return Err(io::ErrorKind::NotFound.into());
        }
        let descriptor = handler.descriptor().ok_or(io::ErrorKind::NotFound)?;
        self.epoll.set(descriptor, token.to_word(), interest)
    }

    /// Sets a registration's deadline: [`Readiness::DEADLINE`] is reported once `after` has passed,
    /// some milliseconds late, never early. Replaces an earlier deadline; `None` removes it. For
    /// the owner, or while no other thread sets it. Takes a lock only where the new deadline is
    /// earlier than the last.
    pub fn set_deadline(&self, token: Token, after: Option<Duration>) {
        if let Some(entry) = self.table.entry(token)
            && entry.owner.generation() == token.generation
        {
            self.timers.set(token, entry, after);
        }
    }

    /// Returns the number of registrations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether there are no registrations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of threads that wait for events at the moment.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.leadership.leaders()
    }

    /// Returns the number of times, modulo 2^24, that threads of [`Reactor::run`] have finished what they served.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.leadership.rounds()
    }

    /// Ends [`Reactor::run`] and [`Reactor::run_until`] on every thread, once it has finished what
    /// it serves. Registrations stay, but are no longer served.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.stop_event.notify();
        self.leadership.wake_all();
    }

    /// Returns whether the reactor has been stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Sets the action for the moment when no thread waits for events any more, and no follower
    /// takes over. Called once at most.
    pub(crate) fn when_all_are_busy(&self, act: impl Fn() + Send + Sync + 'static) {
        // A reactor has one pool.
        let _ = self.all_busy.set(Box::new(act));
    }

    pub(crate) fn epoll(&self) -> &Epoll {
        &self.epoll
    }

    fn post(&self, token: Token, happened: Readiness) {
        if let Some(entry) = self.table.entry(token)
            && entry.owner.post(token.generation, happened)
        {
            self.queue.push(token);
            self.queued.notify();
        }
    }

    /// Hands a registration over, as [`ReadyEvent::hand_over`] does. For its owner, or a thread
    /// that acts for it: once, while the owner does not touch the registration; the owner learns of
    /// it ([`ReadyEvent::disown`]) before its event ends.
    pub fn hand_over(&self, token: Token, left: Readiness) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        match entry.owner.hand_over(token.generation, left) {
            Ok(false) => {}
            Ok(true) => {
                self.queue.push(token);
                self.queued.notify();
            }
            Err(_) => self.clear(token),
        }
    }

    /// Clears a removed entry that the calling thread owns.
    fn clear(&self, token: Token) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        let handler = entry.set_handler(None);
        if let Some(descriptor) = handler.as_ref().and_then(|handler| handler.descriptor()) {
            // Fails for a closed connection, which has left the set already.
            let _ = self.epoll.remove(descriptor);
        }
        entry.due.store(0, Ordering::SeqCst);
        let _ = entry.owner.vacate(token.generation);
        self.table.give_back(token);
        // Last: it may close a connection, which takes time.
        drop(handler);
    }
}

impl fmt::Debug for Reactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactor")
            .field("registrations", &self.len())
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}
