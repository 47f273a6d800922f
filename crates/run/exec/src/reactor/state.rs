//! State of a reactor, its handlers, and the events that they are passed: types that refer to one
//! another.

use super::options::ReactorOptions;
use super::owner::Readiness;
use super::table::{Table, Token};
use super::timers::Timers;
use super::work::Work;
use crate::leader_followers::{Leadership, ThreadEvent, Wakeup};
use crate::spin::{Look, Spin};
use crossbeam_queue::SegQueue;
use punctual_sys::epoll::{Epoll, Interest};
use punctual_sys::event::EventFd;
use punctual_sys::traffic;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Set of registered descriptors, to be waited for by threads; see the module.
pub struct Reactor {
    pub(super) epoll: Epoll,
    pub(super) table: Table<dyn Handler>,
    pub(super) timers: Timers,
    /// Queue of registrations to be served without an event of their descriptors.
    pub(super) queue: SegQueue<Token>,
    /// Event that is notified for queued registrations while a thread waits for events.
    pub(super) queued: EventFd,
    /// Event that is set permanently when the reactor stops.
    pub(super) stop_event: EventFd,
    pub(super) stopped: AtomicBool,
    pub(crate) leadership: Leadership<Arc<ThreadEvent>>,
    pub(super) spin: Option<Spin>,
    /// Set while a thread of the reactor polls in a spin loop.
    pub(super) spinning: AtomicBool,
    /// Called when the last leader resigns, and there is no follower.
    pub(super) all_busy: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// Additional work that the reactor's threads do between events.
    pub(super) work: OnceLock<Arc<dyn Work>>,
    /// Thread whose event is in the set, so that it waits by one system call.
    pub(crate) wakeup_in_set: OnceLock<Wakeup>,
}

/// Token of the reactor's own descriptors; no registration has it.
pub(super) const QUEUE: u64 = u64::MAX;
pub(super) const TIMER: u64 = u64::MAX - 1;
pub(super) const STOP: u64 = u64::MAX - 2;
pub(super) const WAKEUP: u64 = u64::MAX - 3;
/// Maximum number of registrations in the reactor.
pub(super) const MOST: u32 = 1 << 24;

impl Reactor {
    /// Makes a reactor, which no thread runs yet. Takes four descriptors.
    ///
    /// # Errors
    /// The operating system's errors.
    pub fn new(options: ReactorOptions) -> io::Result<Arc<Self>> {
        let (epoll, timers) = (Epoll::new()?, Timers::new()?);
        if let Some(time) = options.busy_poll {
            match traffic::set_epoll_busy_poll(&epoll, time) {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                set => set?,
            }
        }
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
            wakeup_in_set: OnceLock::new(),
        }))
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

/// Handler of the events of one descriptor.
///
/// It is called by one thread at a time, by whichever received the event. Only an event that was
/// handed over ([`ReadyEvent::hand_over`]) may overlap with the next. A handler that panics is
/// removed.
pub trait Handler: Send + Sync {
    /// Returns the descriptor, the same one while it is registered. A handler without one cannot be
    /// registered.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Serves an event: takes all there is to take, since each change is reported once. May be
    /// called spuriously.
    fn ready(self: Arc<Self>, event: &mut ReadyEvent<'_>);
}

/// Role of the thread that serves an event of the reactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Worker, which may block in an upcall or in a call of its own.
    Worker,
    /// Reserve thread, which serves when all workers are busy: long work must be refused.
    Reserve,
}

/// Event that occurred for a registration, passed to the registered handler.
#[derive(Debug)]
pub struct ReadyEvent<'r> {
    pub(super) reactor: &'r Arc<Reactor>,
    pub(super) token: Token,
    pub(super) readiness: Readiness,
    pub(super) role: Role,
    /// `true` if this thread is still the registration's owner.
    pub(super) owns: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn threads_of_a_reactor_poll_devices_as_its_options_say() {
        let time = |busy_poll| {
            let options = ReactorOptions {
                busy_poll,
                ..ReactorOptions::default()
            };
            traffic::epoll_busy_poll(&Reactor::new(options).unwrap().epoll)
        };
        let asked = Duration::from_micros(70);
        match time(None) {
            Ok(none) => {
                assert_eq!(none, Duration::ZERO);
                assert_eq!(time(Some(asked)).unwrap(), asked);
            }
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
                // The property does nothing then.
                assert!(time(Some(asked)).is_err());
            }
        }
    }
}
