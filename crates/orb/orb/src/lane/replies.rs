//! The thread of a lane that reads replies for which no thread waits, and runs what is to be run when they have come
//! (paper 002: the asynchronous reply dispatchers).
//!
//! It is started with the first call of which somebody is to be told, and has the lane's priority. It reads each
//! connection that has such calls, and then, holding nothing, does what each of those is for: a reply handler is called, a call that is to be
//! repeated is sent again. These wait for one another, and for nothing else.

use super::reactors::reactor;
use crate::broker::Broker;
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
use std::sync::{Arc, Weak};
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
}

/// Whether the calling thread is in a reply handler: what waits for other calls there waits for itself.
pub(crate) fn in_reply_handler() -> bool {
    GOES_ON.get()
}

/// What is to be done.
#[derive(Default)]
struct Queue(SegQueue<Arc<dyn Continuation>>);

impl Queue {
    fn run_next(&self) -> bool {
        let Some(next) = self.0.pop() else {
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
        !self.0.is_empty()
    }

    fn do_next(&self) -> bool {
        let done = (0..AT_ONCE).take_while(|_| self.run_next()).count();
        done > 0
    }
}

impl Replies {
    pub(super) fn new(broker: &Arc<Broker>, spec: &ThreadSpec) -> Self {
        Self {
            broker: Arc::downgrade(broker),
            spec: spec.with_name("punctual-replies"),
            state: Mutex::default(),
            queue: Arc::default(),
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

    /// Has this done, by the lane's thread; by the calling one where that has ended or cannot be started.
    pub(crate) fn submit(&self, continuation: Arc<dyn Continuation>) {
        self.queue.0.push(continuation);
        match self.reactor() {
            Ok(reactor) => reactor.has_more_work(),
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

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("len", &self.0.len()).finish()
    }
}
