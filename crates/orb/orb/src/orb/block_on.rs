//! Waiting for a future on the calling thread.

use super::handle::Orb;
use punctual_exec::leader_followers::Wakeup;
use punctual_exec::{Deadline, Reactor};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Time after which a thread that cannot serve the reactor looks for work of the main thread.
const A_MOMENT: Duration = Duration::from_millis(10);

impl Orb {
    /// Waits for a future on the calling thread. With [`crate::ReplyHandlers::Reactor`] the main
    /// thread meanwhile reads replies itself, and calls reply handlers; the first thread that calls
    /// this, [`Orb::run`] or [`Orb::perform_work`] is the main thread. Within a reply handler no other
    /// handler is called meanwhile, and no task of [`Orb::spawn`] is polled.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        match self.main_reactor() {
            Some(reactor) if self.broker().main_thread.claim() => {
                let own = reactor.and_then(|reactor| {
                    self.broker().main_thread.wake_in(&reactor)?;
                    Ok((reactor, Wakeup::own()?))
                });
                match own {
                    Ok(own) => self.serve_until(future, &own),
                    Err(error) => {
                        self.cannot_read(&error);
                        park_until(future)
                    }
                }
            }
            _ => park_until(future),
        }
    }

    /// Serves the reactor until the future is ready.
    fn serve_until<F: Future>(
        &self,
        future: F,
        (reactor, own): &(Arc<Reactor>, Wakeup),
    ) -> F::Output {
        let woken = Arc::new(Woken {
            is_due: AtomicBool::new(true),
            thread: thread::current(),
            wakeup: Some(own.clone()),
        });
        let mut can_serve = true;
        wait(future, &woken, || {
            // The main thread's work may be what the future waits for.
            let is_due = || woken.is_due() || self.broker().main_thread.work_pending();
            if !can_serve || reactor.is_stopped() {
                // The main thread's work wakes it in the reactor alone.
                thread::park_timeout(A_MOMENT);
            } else if let Err(error) = reactor.run_until(Deadline::NEVER, is_due) {
                self.cannot_read(&error);
                can_serve = false;
            }
            while self.broker().main_thread.perform_work() {}
        })
    }
}

/// Waits for a future, and does nothing else.
fn park_until<F: Future>(future: F) -> F::Output {
    let woken = Arc::new(Woken {
        is_due: AtomicBool::new(true),
        thread: thread::current(),
        wakeup: None,
    });
    wait(future, &woken, thread::park)
}

/// Polls a future each time that it has been woken, and calls `idle` in between.
fn wait<F: Future>(future: F, woken: &Arc<Woken>, mut idle: impl FnMut()) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if woken.take_due()
            && let Poll::Ready(output) = future.as_mut().poll(&mut context)
        {
            return output;
        }
        if !woken.is_due() {
            idle();
        }
    }
}

/// Waker of a thread that waits for a future.
struct Woken {
    /// True if the future is to be polled.
    is_due: AtomicBool,
    thread: Thread,
    /// Means to wake the thread in a reactor.
    wakeup: Option<Wakeup>,
}

impl Woken {
    fn is_due(&self) -> bool {
        self.is_due.load(Ordering::Acquire)
    }

    fn take_due(&self) -> bool {
        self.is_due.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_due.store(true, Ordering::Release);
        if let Some(wakeup) = &self.wakeup {
            wakeup.wake();
        }
        self.thread.unpark();
    }
}
