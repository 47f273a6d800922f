//! Reply thread of a lane: it reads replies for which no caller waits, and runs their continuations
//! (Arulanthu et al. 2000: the asynchronous reply dispatchers).
//!
//! It is started with the first call that needs a notification, and has the lane's priority. It
//! reads each connection that has such calls and then, without holding a lock, runs their
//! continuations: it calls a reply handler, or sends the request again if the call is to be
//! repeated. Continuations are run one after the other.
//!
//! By configuration ([`ReplyHandlers`]) other threads run continuations in its place: the main
//! thread, or a thread that reads a connection for a synchronous call. The reply thread still reads
//! the connections, unless the main thread reads them, too (`ReplyHandlers::Reactor`): then there is
//! a reply thread from the shutdown on only.

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

/// Maximum number of continuations that are run before connections are checked again.
const AT_ONCE: usize = 64;
/// Maximum number of connections that have a reading thread of their own.
const THREADS: usize = 1024;

/// Maximum time for which the shutdown of an ORB waits for a reply handler that does not return.
const END: Duration = Duration::from_secs(5);

/// Continuation of a suspended call, run when a delivery has arrived for it.
pub(crate) trait Continuation: Send + Sync {
    /// Resumes the suspended call.
    fn go_on(self: Arc<Self>);
}

/// Reply thread of a lane, with its queue of continuations.
#[derive(Debug)]
pub(crate) struct Replies {
    broker: Weak<Broker>,
    spec: ThreadSpec,
    state: Mutex<State>,
    queue: Arc<Queue>,
    /// True if threads that read for synchronous calls run continuations.
    by_callers: bool,
    /// True while the main thread reads the connections. Changed under the lock of `state`.
    read_by_main_thread: AtomicBool,
    /// True if the main thread reads them, or has done so until the shutdown.
    may_be_read_by_main_thread: bool,
    /// Alarms of suspended calls that may time out before anything arrives.
    alarms: OnceLock<Arc<Alarms>>,
    /// Threads that each read replies from one connection.
    threads: ThreadGroup,
}

#[derive(Debug, Default)]
struct State {
    reactor: Option<Arc<Reactor>>,
    /// The reply thread, which runs the reactor.
    pool: Option<Arc<LeaderFollowers>>,
    is_over: bool,
}

thread_local! {
    /// True while the thread runs the continuation of a suspended call.
    static GOES_ON: Cell<bool> = const { Cell::new(false) };
    /// Queue whose new entries this thread will run itself. The pointer is only compared, never
    /// dereferenced.
    static OWN_QUEUE: Cell<*const Queue> = const { Cell::new(std::ptr::null()) };
}

/// Returns `true` if the calling thread is in a reply handler, where waiting for calls whose
/// continuations this thread runs would deadlock.
fn in_reply_handler() -> bool {
    GOES_ON.get()
}

/// Queue of continuations of suspended calls.
#[derive(Default)]
struct Queue {
    todo: SegQueue<Arc<dyn Continuation>>,
    /// True if the main thread runs the continuations. Relaxed: a thread that sees a late value of
    /// the flag is notified once more.
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

impl Queue {
    /// Returns `true` if the calling thread may run continuations as it serves the reactor: not where
    /// the main thread runs them by itself, and not within one, as they could nest without limit.
    fn is_for_calling_thread(&self) -> bool {
        !self.is_main_threads.load(Ordering::Relaxed) && !in_reply_handler()
    }
}

impl Work for Queue {
    fn is_waiting(&self) -> bool {
        self.is_for_calling_thread() && !self.todo.is_empty()
    }

    fn do_next(&self) -> bool {
        if !self.is_for_calling_thread() {
            return false;
        }
        let done = (0..AT_ONCE).take_while(|_| self.run_next()).count();
        done > 0
    }
}

impl Replies {
    /// Makes the state of the reply thread for a lane with this priority, if it has one.
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
            read_by_main_thread: AtomicBool::new(way == ReplyHandlers::Reactor),
            may_be_read_by_main_thread: way == ReplyHandlers::Reactor,
            alarms: OnceLock::new(),
            threads: ThreadGroup::new(THREADS),
        }
    }

    /// Returns the reactor whose thread reads the replies of asynchronous calls, and starts that
    /// thread if necessary.
    ///
    /// # Errors
    /// The reason why the thread cannot be started.
    pub(super) fn reactor(&self) -> io::Result<Arc<Reactor>> {
        let mut state = self.state.lock();
        if let Some(reactor) = &state.reactor {
            return Ok(reactor.clone());
        }
        let broker = self.broker.upgrade().filter(|_| !state.is_over);
        let broker = broker.ok_or_else(|| io::Error::other("the ORB has shut down"))?;
        let reactor = reactor(&broker, &Properties::NONE, Duration::ZERO)?;
        reactor.set_work(self.queue.clone());
        if !self.read_by_main_thread.load(Ordering::Relaxed) {
            state.pool = Some(self.start_reading(&reactor)?);
        }
        state.reactor = Some(reactor.clone());
        Ok(reactor)
    }

    /// Starts the reply thread.
    fn start_reading(&self, reactor: &Arc<Reactor>) -> io::Result<Arc<LeaderFollowers>> {
        let options = PoolOptions {
            spec: self.spec.clone(),
            serving: None,
            threads: 1,
            max_threads: 1,
            at_once: 1,
            reserve: None,
        };
        let pool = LeaderFollowers::start(reactor.clone(), &options).map_err(io::Error::other)?;
        Ok(Arc::new(pool))
    }

    /// Returns the reactor that the main thread is to run, if it reads the replies.
    ///
    /// # Errors
    /// Those of [`Replies::reactor`].
    pub(crate) fn main_threads_reactor(&self) -> Option<io::Result<Arc<Reactor>>> {
        let is_main_threads = self.read_by_main_thread.load(Ordering::Relaxed);
        is_main_threads.then(|| self.reactor())
    }

    /// Returns `true` if the calling thread would wait for itself if it waited until other calls
    /// have ended: in a reply handler, and where replies are read by the main thread, unless that is
    /// another one.
    pub(crate) fn are_run_by_calling_thread(&self) -> bool {
        let main = || {
            let broker = self.broker.upgrade();
            broker.is_some_and(|broker| !broker.main_thread.is_of_another_thread())
        };
        in_reply_handler() || (self.read_by_main_thread.load(Ordering::Relaxed) && main())
    }

    /// Starts a thread for a connection that needs one of its own.
    pub(super) fn start_thread(&self, reads: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let started = self.threads.spawn(self.spec.clone(), reads);
        started.map_err(io::Error::other)
    }

    /// Sets an alarm that wakes `waker` at the deadline, if there is a deadline. Dropping the alarm
    /// cancels it.
    ///
    /// # Errors
    /// If no alarm can be set.
    pub(crate) fn wake_at(&self, deadline: Deadline, waker: &Waker) -> io::Result<Option<Alarm>> {
        let Some(due) = deadline.end_nanos() else {
            return Ok(None);
        };
        let alarms = match self.alarms.get() {
            Some(alarms) => alarms,
            None => {
                let alarms = Arc::new(Alarms::new()?);
                self.reactor()?.register(alarms.clone())?;
                // If another thread was first, the reactor keeps a timer that is never set.
                self.alarms.get_or_init(|| alarms)
            }
        };
        alarms.set(due, waker.clone()).map(Some)
    }

    /// Submits a continuation to the lane's thread, or to the threads that run it in its place; the
    /// calling thread runs it if the lane's thread has ended or cannot be started.
    pub(crate) fn submit(&self, continuation: Arc<dyn Continuation>) {
        self.queue.todo.push(continuation);
        if OWN_QUEUE.get() == Arc::as_ptr(&self.queue) || self.post() {
            return;
        }
        self.tell();
    }

    /// Makes the main thread run the next continuation; returns `false` if the main thread runs
    /// none.
    fn post(&self) -> bool {
        if self.are_run_by_thread() {
            return false;
        }
        let Some(broker) = self.broker.upgrade() else {
            return false;
        };
        let queue = self.queue.clone();
        let next = move || {
            queue.run_next();
        };
        broker.main_thread.post(next)
    }

    /// Returns `true` if the lane's reply thread runs continuations, and not the main thread.
    pub(super) fn are_run_by_thread(&self) -> bool {
        !self.queue.is_main_threads.load(Ordering::Relaxed)
    }

    /// Stops the use of the main thread for continuations, and for reading.
    pub(super) fn stop_using_main_thread(&self) {
        self.read_by_thread();
        let was = self.queue.is_main_threads.swap(false, Ordering::Relaxed);
        if was && !self.queue.todo.is_empty() {
            self.tell();
        }
    }

    /// Returns `true` if the calling thread, the main thread, has read the connections.
    fn was_calling_threads(&self) -> bool {
        let broker = self.broker.upgrade();
        let is_main_thread = broker.is_some_and(|broker| broker.main_thread.is_main_thread());
        self.may_be_read_by_main_thread && is_main_thread
    }

    /// Makes the reply thread read from now on, if the main thread did so before.
    fn read_by_thread(&self) {
        let mut state = self.state.lock();
        if !self.read_by_main_thread.swap(false, Ordering::Relaxed) {
            return;
        }
        let Some(reactor) = state.reactor.clone().filter(|_| !state.is_over) else {
            return;
        };
        match self.start_reading(&reactor) {
            Ok(pool) => state.pool = Some(pool),
            Err(error) => tracing::error!("no thread reads replies from now on: {error}"),
        }
    }

    /// Notifies the lane's reply thread that continuations are queued.
    fn tell(&self) {
        match self.reactor() {
            Ok(reactor) => reactor.notify_work(),
            // The handler that runs on this thread takes it up next: nesting here would have no
            // end.
            Err(_) if in_reply_handler() => {}
            Err(_) => while self.queue.run_next() {},
        }
    }

    /// Ends the thread; the calling thread runs the continuations that are left.
    pub(super) fn close(&self) {
        let (reactor, pool) = {
            let mut state = self.state.lock();
            state.is_over = true;
            (state.reactor.take(), state.pool.take())
        };
        if let Some(reactor) = reactor {
            reactor.stop();
        }
        if let Some(pool) = pool {
            // A thread of the pool that shuts its own ORB down does not wait for itself.
            let is_own = punctual_exec::reactor::depth() > 0 && !self.was_calling_threads();
            let own = usize::from(is_own);
            let _ended = pool.stop(own, Deadline::after(END));
        }
        while self.queue.run_next() {}
    }
}

/// Functions for threads that read replies and then run continuations: the lane's reply thread, and
/// those that read for synchronous calls, if those run continuations, too ([`ReplyHandlers::Callers`]).
impl Replies {
    /// Returns `true` if threads that read for synchronous calls run continuations.
    pub(super) fn are_run_by_callers(&self) -> bool {
        self.by_callers
    }

    /// Runs `reads`. Continuations that this thread submits meanwhile stay in the queue, and the
    /// thread is to run them afterwards. If called within a continuation, it just runs `reads`, as
    /// continuations could otherwise nest without limit.
    pub(super) fn defer_while<R>(&self, reads: impl FnOnce() -> R) -> R {
        if in_reply_handler() {
            return reads();
        }
        let before = OWN_QUEUE.replace(Arc::as_ptr(&self.queue));
        let read = reads();
        OWN_QUEUE.set(before);
        read
    }

    /// Returns `true` if there are continuations that the calling thread may run.
    pub(super) fn has_continuations(&self) -> bool {
        !in_reply_handler() && !self.queue.todo.is_empty()
    }

    /// Runs queued continuations of suspended calls, up to a fixed number.
    pub(super) fn run_some(&self) {
        for _ in (0..AT_ONCE).take_while(|_| self.queue.run_next()) {}
    }

    /// Leaves the queued continuations to the lane's reply thread.
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
