//! Work that one certain thread is to do for others, which wait for it: the main thread's upcalls (CORBA 3.3
//! part 1, §15.3.8.1).

#[allow(unsafe_code)]
mod errand;

use errand::Errand;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Errands that may wait at once; each holds the thread that waits for it.
const MAX_WAITING: usize = 1024;

/// Errands for one thread.
#[derive(Debug, Default)]
pub struct Errands {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<Errand>>,
    /// The thread that does them: the first that came to.
    runner: Option<ThreadId>,
    closed: bool,
}

/// Why an errand was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// As many wait as may.
    TooMany,
    /// Nobody does errands any more.
    Closed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "{MAX_WAITING} requests wait for the main thread already"),
            Self::Closed => f.write_str("the main thread serves no more requests"),
        }
    }
}

impl std::error::Error for Refused {}

impl Errands {
    /// Has the thread that does errands do `work`, and waits for what comes of it. That thread itself does it
    /// at once. A panic of the work is the caller's.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, Refused> {
        if self.is_runner() {
            return Ok(work());
        }
        errand::wait_for(work, |errand| {
            let mut state = self.lock();
            if state.closed {
                return Err(Refused::Closed);
            }
            if state.waiting.len() >= MAX_WAITING {
                return Err(Refused::TooMany);
            }
            state.waiting.push_back(errand);
            self.changed.notify_all();
            Ok(())
        })
    }

    /// Whether the calling thread is the one that does errands.
    #[must_use]
    pub fn is_runner(&self) -> bool {
        self.lock().runner == Some(thread::current().id())
    }

    /// Whether an errand waits.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Does one errand, if one waits; tells whether one did. The first thread that does any does all: others
    /// find none.
    pub fn do_one(&self) -> bool {
        let next = self.take(&mut self.lock());
        next.is_some_and(|errand| {
            errand.run();
            true
        })
    }

    /// Does errands as they come, until there will be none any more. Another thread than the one that does
    /// them just waits for that.
    pub fn do_all(&self) {
        let mut state = self.lock();
        loop {
            if let Some(errand) = self.take(&mut state) {
                drop(state);
                errand.run();
                state = self.lock();
            } else if state.closed {
                return;
            } else {
                state = self.wait(state);
            }
        }
    }

    /// Refuses what waits, and all that comes.
    pub fn close(&self) {
        let refused = {
            let mut state = self.lock();
            state.closed = true;
            self.changed.notify_all();
            std::mem::take(&mut state.waiting)
        };
        for errand in refused {
            errand.refuse();
        }
    }

    /// The next errand, for the thread that does them.
    fn take(&self, state: &mut State) -> Option<Arc<Errand>> {
        let me = thread::current().id();
        if *state.runner.get_or_insert(me) != me {
            return None;
        }
        state.waiting.pop_front()
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Does errands on a thread of its own while `others` run; tells which thread that was.
    fn with_runner<R>(errands: &Errands, others: impl FnOnce(ThreadId) -> R) -> R {
        thread::scope(|scope| {
            let runner = scope.spawn(|| errands.do_all());
            while errands.lock().runner.is_none() {
                thread::yield_now();
            }
            let done = others(runner.thread().id());
            errands.close();
            done
        })
    }

    #[test]
    fn one_thread_does_what_many_wait_for_and_each_gets_its_own() {
        let errands = Errands::default();
        with_runner(&errands, |runner| {
            thread::scope(|scope| {
                for number in 0..4 {
                    let errands = &errands;
                    scope.spawn(move || {
                        for step in 0..100 {
                            let mut seen = (0, 0);
                            let did = errands.run(|| {
                                seen = (number, step);
                                thread::current().id()
                            });
                            assert_eq!(did, Ok(runner));
                            assert_eq!(seen, (number, step));
                        }
                    });
                }
            });
        });
    }

    #[test]
    fn the_thread_that_does_errands_does_its_own_at_once() {
        let errands = Errands::default();
        with_runner(&errands, |_| {
            let inner = errands.run(|| errands.run(|| 7));
            assert_eq!(inner, Ok(Ok(7)));
        });
    }

    #[test]
    fn a_panic_is_the_callers_and_the_next_errand_is_done() {
        let errands = Errands::default();
        with_runner(&errands, |_| {
            let panicked = catch_unwind(AssertUnwindSafe(|| errands.run(|| panic!("at work"))));
            assert!(panicked.is_err());
            assert_eq!(errands.run(|| 7), Ok(7));
        });
    }

    #[test]
    fn what_waits_when_it_closes_is_refused_and_so_is_all_that_comes() {
        let errands = Errands::default();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| errands.run(|| 7));
            while !errands.is_pending() {
                thread::yield_now();
            }
            errands.close();
            assert_eq!(waiting.join().unwrap(), Err(Refused::Closed));
        });
        assert_eq!(errands.run(|| 7), Err(Refused::Closed));
    }

    #[test]
    fn one_is_done_when_asked_for_and_only_by_the_first_thread_that_asked() {
        let errands = Errands::default();
        assert!(!errands.do_one());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| errands.run(|| 7));
            while !errands.is_pending() {
                thread::yield_now();
            }
            assert!(!scope.spawn(|| errands.do_one()).join().unwrap());
            assert!(errands.do_one());
            assert_eq!(waiting.join().unwrap(), Ok(7));
        });
    }

    #[test]
    fn no_more_wait_than_there_is_room_for() {
        let errands = Errands::default();
        let filler = || {
            let mut one = None;
            let refused = errand::wait_for(
                || (),
                |errand| {
                    one = Some(errand);
                    Err(Refused::TooMany)
                },
            );
            assert_eq!(refused, Err(Refused::TooMany));
            one
        };
        errands.lock().waiting = (0..MAX_WAITING).filter_map(|_| filler()).collect();
        assert_eq!(errands.run(|| 7), Err(Refused::TooMany));
    }
}
