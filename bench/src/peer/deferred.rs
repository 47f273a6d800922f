//! Client of Punctual whose calls are asynchronous, one at a time: each begins when the result of
//! the one before is there.

use super::{Caller, punctual as stubs};
use crate::Result;
use crate::case::{Case, Operation};
use crate::protocol::References;
use clap::ValueEnum;
use punctual::SystemException;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Way in which the result of an asynchronous call is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Taken {
    /// The caller waits by a poller.
    Poller,
    /// A reply handler wakes the caller.
    Handler,
    /// The caller awaits a future.
    Future,
}

/// Result of a call, as passed to its reply handler.
type Answered = std::result::Result<(), SystemException>;

/// Outcomes of a call with a reply handler.
const NONE: u8 = 0;
const DONE: u8 = 1;
const FAILED: u8 = 2;

/// Client that makes asynchronous void calls.
pub(super) struct Client {
    stubs: stubs::Client,
    taken: Taken,
}

impl Client {
    pub(super) fn new(stubs: stubs::Client, taken: Taken) -> Self {
        Self { stubs, taken }
    }
}

impl Caller for Client {
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
        if case.operation != Operation::CubeVoid {
            return Err(format!("{case}: asynchronous clients make void calls only").into());
        }
        let cubit = self.stubs.cubit();
        Ok(match self.taken {
            Taken::Poller => Box::new(|| Ok(cubit.sendp_cube_void().wait()?)),
            Taken::Future => Box::new(|| Ok(block_on(cubit.cube_void_async())?)),
            Taken::Handler => {
                let (caller, outcome) = (thread::current(), Arc::new(AtomicU8::new(NONE)));
                Box::new(move || {
                    let (waiting, place) = (caller.clone(), outcome.clone());
                    cubit.sendc_cube_void(move |answer: Answered| {
                        let outcome = if answer.is_ok() { DONE } else { FAILED };
                        place.store(outcome, Ordering::Release);
                        waiting.unpark();
                    });
                    loop {
                        match outcome.swap(NONE, Ordering::Acquire) {
                            NONE => thread::park(),
                            DONE => return Ok(()),
                            _ => return Err("a call has failed".into()),
                        }
                    }
                })
            }
        })
    }

    fn settle(&mut self) -> Result<()> {
        self.stubs.settle()
    }

    fn flood(&mut self, threads: u32, calls: u32, references: References) -> Result<Duration> {
        self.stubs.flood(threads, calls, references)
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end: a minimal executor.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
