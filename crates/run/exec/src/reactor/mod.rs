//! The reactor: descriptors, who is told when something happens at one, and until when.
//!
//! A registration is a descriptor with its [`Handler`]. Threads share one `epoll` set and wait in it
//! themselves ([`Reactor::run`]), so that the kernel hands over from one to the next; whoever is told
//! becomes the registration's *owner* (`owner`) by one exchange and serves it. Another thread that is told
//! meanwhile leaves a note for the owner and waits on. Registrations share no lock on this way.
//!
//! Descriptors are watched edge-triggered: a handler is told of each change once, and takes all there is.
//! What has to be done without a change of the descriptor is posted to the reactor's own queue
//! ([`Reactor::nudge`]), which an eventfd in the same set announces.
//!
//! One thread may run it (a *reactive* server), many ([`crate::LeaderFollowers`]), or none but those that
//! wait for a reply ([`Reactor::run_until`]).

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

/// How a reactor is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReactorOptions {
    /// Registrations it may have. Default 65,536; each takes less than 200 octets, when it is there.
    pub registrations: u32,
    /// How long a thread looks for events before it sleeps, at most; one thread at a time, and less long
    /// while that keeps failing. Default none.
    pub spin: Duration,
    /// Whether real-time threads and those with one processor look, too. Default off.
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

/// See the module.
pub struct Reactor {
    epoll: Epoll,
    table: Table,
    timers: Timers,
    /// Registrations to be served though nothing happened to their descriptors.
    queue: SegQueue<Token>,
    /// Notified for each that is queued.
    queued: EventFd,
    /// Set for good when the reactor stops.
    stop_event: EventFd,
    stopped: AtomicBool,
    pub(crate) leadership: Leadership<Arc<ThreadEvent>>,
    spin: Option<Spin>,
    /// Whether a thread looks before it sleeps.
    spinning: AtomicBool,
    /// Called when the last leader resigns, and nobody follows.
    all_busy: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// What its threads do beside.
    work: OnceLock<Arc<dyn Work>>,
}

/// A descriptor of the reactor's own: no registration has such a token.
const QUEUE: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const STOP: u64 = u64::MAX - 2;
/// The largest number of registrations.
const MOST: u32 = 1 << 24;

impl Reactor {
    /// A reactor that nobody runs yet. Takes four descriptors.
    ///
    /// # Errors
    /// What the operating system says.
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

    /// Registers a handler. It is called once at first, whatever its descriptor has to tell: something
    /// may have come along with a connection.
    ///
    /// # Errors
    /// `QuotaExceeded` when there are as many as there may be, `InvalidInput` for a handler without a
    /// descriptor, else what `epoll_ctl(2)` says.
    pub fn register(&self, handler: Arc<dyn Handler>) -> io::Result<Token> {
        let descriptor = handler.descriptor().ok_or(io::ErrorKind::InvalidInput)?;
        let token = self.table.take()?;
        let Some(entry) = self.table.entry(token) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // From here on it is owned by this thread, so that nobody serves what is half made.
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

    /// Takes a registration out: its handler is called no more, and let go once it is not being called.
    /// Nothing happens to one that was taken out before.
    pub fn deregister(&self, token: Token) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        match entry.owner.retire(token.generation) {
            Retired::Mine => self.clear(token),
            Retired::Later | Retired::Stale => {}
        }
    }

    /// Has a registration served, by whichever thread comes first, though its descriptor did not change.
    pub fn nudge(&self, token: Token) {
        self.post(token, Readiness::NUDGE);
    }

    /// Whether a registration waits for room to write, beside something to read. What holds already is
    /// told at once.
    ///
    /// # Errors
    /// `NotFound` for one that was taken out, else what `epoll_ctl(2)` says.
    pub fn set_interest(&self, token: Token, interest: Interest) -> io::Result<()> {
        let entry = self.table.entry(token).ok_or(io::ErrorKind::NotFound)?;
        let handler = entry.handler().ok_or(io::ErrorKind::NotFound)?;
        if entry.owner.generation() != token.generation {
            return Err(io::ErrorKind::NotFound.into());
        }
        let descriptor = handler.descriptor().ok_or(io::ErrorKind::NotFound)?;
        self.epoll.set(descriptor, token.to_word(), interest)
    }

    /// Has a registration told [`Readiness::DEADLINE`] once so much time has passed, in place of what was
    /// set before; `None` lifts it. Some milliseconds late, never early. For its owner, or while nobody
    /// else sets it. Takes a lock only where it is earlier than what was set.
    pub fn set_deadline(&self, token: Token, after: Option<Duration>) {
        if let Some(entry) = self.table.entry(token)
            && entry.owner.generation() == token.generation
        {
            self.timers.set(token, entry, after);
        }
    }

    /// How many registrations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many threads wait for events at the moment.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.leadership.leaders()
    }

    /// Ends [`Reactor::run`] and [`Reactor::run_until`] on every thread, once what each serves is done.
    /// What is registered stays so; it is not served any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.stop_event.notify();
        self.leadership.wake_all();
    }

    /// Whether it has been stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// What to do when no thread waits for events any more, and no follower takes its
    /// place. Called at most once.
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

    /// Hands a registration over, as [`ReadyEvent::hand_over`]. For its owner, or one that stands in for it:
    /// once, while the owner does nothing about it, which learns of it ([`ReadyEvent::disown`]) before its event
    /// ends.
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

    /// Clears an entry that the calling thread owns and that is taken out.
    fn clear(&self, token: Token) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        let handler = entry.set_handler(None);
        if let Some(descriptor) = handler.as_ref().and_then(|handler| handler.descriptor()) {
            // Fails for one whose connection is closed already, which took it out.
            let _ = self.epoll.remove(descriptor);
        }
        entry.due.store(0, Ordering::SeqCst);
        let _ = entry.owner.vacate(token.generation);
        self.table.give_back(token);
        // Last: it may be the end of a connection, which takes its time.
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
