//! The thread of a lane that reads replies for which no thread waits, and runs what is to be run when they have come
//! (Arulanthu et al. 2000: the asynchronous reply dispatchers).
//!
//! It is started with the first call of which somebody is to be told, and has the lane's priority. It reads each
//! connection that has such calls, and then, holding nothing, does what each of those is for: a reply handler is called, a call that is to be
//! repeated is sent again. These wait for one another, and for nothing else.
//!
//! By configuration ([`ReplyHandlers`]) others do that in its place: the main thread, or whoever reads a connection for a
//! synchronous call. Reading is this thread's even then.

use super::alarms::{Alarm, Alarms};
use super::reactors::reactor;
use crate::broker::Broker;
use crate::config::ReplyHandlers;
use crate::priority::Priority;
use crossbeam_queue::SegQueue;
use parking_lot::Mutex;
use punctual_exec::leader_followers::PoolOptions;
use punctual_exec::reactor::Work;
use punctual_exec::{Deadline, LeaderFollowers, Reactor, ThreadGroup, ThreadSpec};
use punctual_link::Properties;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use std::time::Duration;

/// What is done before connections are looked at again, at most.
const AT_ONCE: usize = 64;
/// Connections that need a thread each and may have one.
const THREADS: usize = 1024;

/// How long the end of an ORB waits for a handler that does not return.
const END: Duration = Duration::from_secs(5);

/// What is to be done when something has come for a call that no thread waits for.
pub(crate) trait Continuation: Send + Sync {
    /// Goes on with it.
    fn go_on(self: Arc<Self>);
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Replies {
    broker: Weak<Broker>,
    spec: ThreadSpec,
    state: Mutex<State>,
    queue: Arc<Queue>,
    /// Whether threads that read for synchronous calls do what has come.
    by_callers: bool,
    /// For those whose time may be over before anything comes.
    alarms: OnceLock<Arc<Alarms>>,
    /// Those of connections that need one each.
    threads: ThreadGroup,
}

#[derive(Debug, Default)]
struct State {
    pool: Option<Arc<LeaderFollowers>>,
    is_over: bool,
}

thread_local! {
    /// Whether the thread does what has come for calls that no thread waits for.
    static GOES_ON: Cell<bool> = const { Cell::new(false) };
    /// Of what is added to this queue the thread takes care itself. Compared, never read.
    static TAKES: Cell<*const Queue> = const { Cell::new(std::ptr::null()) };
}

/// Whether the calling thread is in a reply handler: what waits for other calls there waits for itself.
pub(crate) fn in_reply_handler() -> bool {
    GOES_ON.get()
}

/// What is to be done.
#[derive(Default)]
struct Queue {
    todo: SegQueue<Arc<dyn Continuation>>,
    /// Whether the main thread does it. Relaxed: who finds it unset late is told of what there is once more.
    is_main_threads: AtomicBool,
}

impl Queue {
    fn run_next(&self) -> bool {
        let Some(next) = self.todo.pop() else {
            return false;
        };
        let is_nested = GOES_ON.replace(true);
        if catch_unwind(AssertUnwindSafe(|| next.go_on())).is_err() {
            tracing::error!("a reply handler has panicked");
        }
        GOES_ON.set(is_nested);
        true
    }
}

impl Work for Queue {
    fn is_waiting(&self) -> bool {
        !self.is_main_threads.load(Ordering::Relaxed) && !self.todo.is_empty()
    }

    fn do_next(&self) -> bool {
        if self.is_main_threads.load(Ordering::Relaxed) {
            return false;
        }
        let done = (0..AT_ONCE).take_while(|_| self.run_next()).count();
        done > 0
    }
}

impl Replies {
    /// Those of a lane of that priority, if it has one.
    pub(super) fn new(broker: &Arc<Broker>, spec: &ThreadSpec, priority: Option<Priority>) -> Self {
        let way = match priority {
            None => broker.config().reply_handlers,
            Some(_) => ReplyHandlers::Thread,
        };
        Self {
            broker: Arc::downgrade(broker),
            spec: spec.with_name("punctual-replies"),
            state: Mutex::default(),
            queue: Arc::new(Queue {
                todo: SegQueue::new(),
                is_main_threads: AtomicBool::new(way == ReplyHandlers::Run),
            }),
            by_callers: way == ReplyHandlers::Callers,
            alarms: OnceLock::new(),
            threads: ThreadGroup::new(THREADS),
        }
    }

    /// The reactor whose thread reads, which is started if need be.
    ///
    /// # Errors
    /// What keeps it from being started.
    pub(super) fn reactor(&self) -> io::Result<Arc<Reactor>> {
        let mut state = self.state.lock();
        if let Some(pool) = &state.pool {
            return Ok(pool.reactor().clone());
        }
        let broker = self.broker.upgrade().filter(|_| !state.is_over);
        let broker = broker.ok_or_else(|| io::Error::other("the ORB has shut down"))?;
        let reactor = reactor(&broker, &Properties::NONE)?;
        reactor.set_work(self.queue.clone());
        let options = PoolOptions {
            spec: self.spec.clone(),
            serving: None,
            threads: 1,
            max_threads: 1,
            reserve: None,
        };
        let pool = LeaderFollowers::start(reactor, &options).map_err(io::Error::other)?;
        let reactor = pool.reactor().clone();
        state.pool = Some(Arc::new(pool));
        Ok(reactor)
    }

    /// Starts a thread for a connection that needs one.
    pub(super) fn start_thread(&self, reads: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let started = self.threads.spawn(self.spec.clone(), reads);
        started.map_err(io::Error::other)
    }

    /// Wakes somebody at the deadline, if there is one, and until the alarm is dropped.
    ///
    /// # Errors
    /// Why nobody can.
    pub(crate) fn wake_at(&self, deadline: Deadline, waker: &Waker) -> io::Result<Option<Alarm>> {
        let Some(due) = deadline.end_nanos() else {
            return Ok(None);
        };
        let alarms = match self.alarms.get() {
            Some(alarms) => alarms,
            None => {
                let alarms = Arc::new(Alarms::new()?);
                self.reactor()?.register(alarms.clone())?;
                // Another thread may have been first; the reactor keeps a timer then that is never set.
                self.alarms.get_or_init(|| alarms)
            }
        };
        alarms.set(due, waker.clone()).map(Some)
    }

    /// Has this done, by the lane's thread, or by who does it in its place; by the calling one where that has ended or cannot be
    /// started.
    pub(crate) fn submit(&self, continuation: Arc<dyn Continuation>) {
        self.queue.todo.push(continuation);
        if TAKES.get() == Arc::as_ptr(&self.queue) || self.post() {
            return;
        }
        self.tell();
    }

    /// Has the main thread do the next, where it does such things.
    fn post(&self) -> bool {
        let broker = self.broker.upgrade();
        let Some(broker) = broker.filter(|_| self.queue.is_main_threads.load(Ordering::Relaxed))
        else {
            return false;
        };
        let queue = self.queue.clone();
        let next = move || {
            queue.run_next();
        };
        broker.main_thread.post(next)
    }

    /// The main thread does no more.
    pub(super) fn main_thread_ends(&self) {
        let was = self.queue.is_main_threads.swap(false, Ordering::Relaxed);
        if was && !self.queue.todo.is_empty() {
            self.tell();
        }
    }

    /// There is something to be done for the lane's thread.
    fn tell(&self) {
        match self.reactor() {
            Ok(reactor) => reactor.notify_work(),
            // Whoever does what has come on this thread takes it up next: to nest it here would have no end.
            Err(_) if in_reply_handler() => {}
            Err(_) => while self.queue.run_next() {},
        }
    }

    /// Ends the thread; what is to be done still is done by the calling one.
    pub(super) fn close(&self) {
        let pool = {
            let mut state = self.state.lock();
            state.is_over = true;
            state.pool.take()
        };
        if let Some(pool) = pool {
            pool.reactor().stop();
            // One that shuts its own ORB down does not wait for itself.
            let own = usize::from(punctual_exec::reactor::depth() > 0);
            let _ended = pool.stop(own, Deadline::after(END));
        }
        while self.queue.run_next() {}
    }
}

/// For threads that read for synchronous calls, where those do what has come ([`ReplyHandlers::Callers`]).
impl Replies {
    /// Whether they do.
    pub(super) fn are_run_by_callers(&self) -> bool {
        self.by_callers
    }

    /// The calling thread does what comes up while `reads`, afterwards. Not within such a thing: there would be no end to their
    /// nesting.
    pub(super) fn taken_while<R>(&self, reads: impl FnOnce() -> R) -> R {
        if in_reply_handler() {
            return reads();
        }
        let before = TAKES.replace(Arc::as_ptr(&self.queue));
        let read = reads();
        TAKES.set(before);
        read
    }

    /// Whether there is something that the calling thread may do.
    pub(super) fn has_some_to_do(&self) -> bool {
        !in_reply_handler() && !self.queue.todo.is_empty()
    }

    /// Does some of it.
    pub(super) fn do_some(&self) {
        for _ in (0..AT_ONCE).take_while(|_| self.queue.run_next()) {}
    }

    /// Leaves what there is to the lane's thread.
    pub(super) fn leave_to_thread(&self) {
        if !self.queue.todo.is_empty() {
            self.tell();
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("len", &self.todo.len())
            .field("is_main_threads", &self.is_main_threads)
            .finish()
    }
}
