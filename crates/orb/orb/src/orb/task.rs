//! Futures driven by the ORB's own threads: for servants whose operations are `async`, and for
//! programs that await calls without an executor of their own.
//!
//! A task is polled first by the thread that starts it and then, each time it has been woken, by
//! the thread of its lane that reads replies (`lane/replies.rs`). That thread runs tasks one after
//! the other: a task that blocks delays all others, and the replies that they wait for.

use super::handle::Orb;
use crate::lane::{Continuation, Lane};
use crate::sync::{Mutex, lock};
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Future that an ORB runs as a task.
pub type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Task of an ORB: a future in progress.
struct Task {
    lane: Arc<Lane>,
    /// State of the task, as one of the constants for task states.
    state: AtomicU8,
    /// Future of the task; `None` once it has ended.
    future: Mutex<Option<BoxFuture>>,
}

/// State of a task that has to be woken before it is polled again.
const WAITS: u8 = 0;
/// State of a task that is queued to be polled.
const QUEUED: u8 = 1;
/// State of a task that a thread is polling.
const POLLED: u8 = 2;
/// State of a task that a thread polls and that has been woken during this poll.
const POLLED_AND_WOKEN: u8 = 3;

impl Orb {
    /// Drives a future to completion. It is polled first on the calling thread and then, each time
    /// it has been woken, on the thread that reads replies for the calling thread's lane. It must
    /// not block. A future that panics is logged and dropped.
    ///
    /// After the shutdown of the ORB it is polled by the thread that wakes it.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.spawn_boxed(Box::pin(future));
    }

    /// Drives a boxed future to completion, as [`Orb::spawn`] does.
    pub fn spawn_boxed(&self, future: BoxFuture) {
        let task = Arc::new(Task {
            lane: self.lanes().calling().clone(),
            state: AtomicU8::new(QUEUED),
            future: Mutex::new(Some(future)),
        });
        task.go_on();
    }
}

impl Continuation for Task {
    /// Polls the future. Called once, by one thread, each time the task has been queued.
    fn go_on(self: Arc<Self>) {
        // Acquire and Release: each thread that polls the future sees the writes of the previous
        // one.
        self.state.store(POLLED, Ordering::Release);
        let mut held = lock(&self.future);
        let Some(future) = held.as_mut() else {
            return;
        };
        let waker = Waker::from(self.clone());
        let poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(())) => return drop_future(held.take()),
            Err(_) => {
                tracing::error!("a task of the ORB has panicked");
                return drop_future(held.take());
            }
        }
        drop(held);
        let waits = self
            .state
            .compare_exchange(POLLED, WAITS, Ordering::AcqRel, Ordering::Acquire);
        if waits.is_err() {
            // Queued behind others, so that a future that wakes itself delays no other.
            self.state.store(QUEUED, Ordering::Release);
            self.lane.submit(self.clone());
        }
    }
}

/// Drops a finished future, and catches a panic of its destructor, which is application code.
fn drop_future(future: Option<BoxFuture>) {
    if catch_unwind(AssertUnwindSafe(|| drop(future))).is_err() {
        tracing::error!("dropping a task of the ORB panicked");
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let next = |state| match state {
            WAITS => Some(QUEUED),
            POLLED => Some(POLLED_AND_WOKEN),
            _ => None,
        };
        let before = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        if before == Ok(WAITS) {
            self.lane.submit(self.clone());
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;
    use std::time::Duration;

    fn orb() -> Orb {
        Orb::builder().build().unwrap()
    }

    /// Future that reports which thread polls it, and is ready at the second poll. It wakes itself
    /// if `wakes_itself` is true.
    struct Twice {
        polled: usize,
        wakes_itself: bool,
        tell: Sender<(String, Waker)>,
    }

    impl Future for Twice {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            self.polled += 1;
            let thread = thread::current().name().unwrap_or_default().to_owned();
            self.tell.send((thread, context.waker().clone())).unwrap();
            if self.wakes_itself {
                context.waker().wake_by_ref();
            }
            match self.polled {
                1 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        }
    }

    #[test]
    fn a_task_goes_on_by_the_thread_that_reads_replies_once_it_is_woken() {
        for wakes_itself in [false, true] {
            let (orb, (tell, told)) = (orb(), channel());
            orb.spawn(Twice {
                polled: 0,
                wakes_itself,
                tell,
            });
            let (first, waker) = told.recv().unwrap();
            assert_eq!(Some(&*first), thread::current().name());
            if !wakes_itself {
                waker.wake_by_ref();
            }
            let (then, _) = told.recv().unwrap();
            assert!(then.starts_with("punctual-replies"), "{then}");
            // The future has ended: it reports nothing any more, and waking it does nothing.
            waker.wake();
            assert!(told.recv_timeout(Duration::from_secs(60)).is_err());
            orb.shutdown(true).unwrap();
        }
    }

    #[test]
    fn a_task_that_panics_ends_and_others_go_on() {
        let (orb, (tell, told)) = (orb(), channel());
        orb.spawn(async { panic!("on purpose") });
        orb.spawn(async move { tell.send(()).unwrap() });
        told.recv().unwrap();
        orb.shutdown(true).unwrap();
    }
}
