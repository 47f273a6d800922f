//! Main-thread work queue: upcalls that only the thread which runs the ORB may make (CORBA 3.3 part
//! 1, §15.3.8.1). A caller submits a work item and waits until it is done, or posts it and goes on.

mod refused;
#[allow(unsafe_code)]
mod work_item;

pub use refused::Refused;

use crate::leader_followers::{Waited, Wakeup};
use crate::{Deadline, Reactor};
use refused::MAX_QUEUED;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use work_item::WorkItem;

/// Work queue of one thread, the main thread: the first thread that asks for work.
#[derive(Debug, Default)]
pub struct MainThreadQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queued: VecDeque<Queued>,
    /// Number of queued items that a thread waits for.
    waited_for: usize,
    main_thread: Option<ThreadId>,
    /// Means to wake the main thread where it waits in a reactor.
    wakeup: Option<Wakeup>,
    closed: bool,
}

/// Work item in the queue of the main thread.
enum Queued {
    /// Work item whose submitter waits until the work is done.
    WaitedFor(Arc<WorkItem>),
    /// Work item for which no thread waits.
    Posted(Box<dyn FnOnce() + Send>),
}

impl Queued {
    fn run(self) {
        match self {
            Self::WaitedFor(item) => item.run(),
            Self::Posted(work) => work(),
        }
    }
}

impl fmt::Debug for Queued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WaitedFor(_) => "WaitedFor",
            Self::Posted(_) => "Posted",
        })
    }
}

impl MainThreadQueue {
    /// Runs `work` on the main thread, and waits for its result. The main thread itself does it at
    /// once. A panic of the work is passed on to the caller.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn call<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, Refused> {
        if self.is_main_thread() {
            return Ok(work());
        }
        work_item::wait_for(work, |item| {
            let mut state = self.lock();
            if state.closed {
                return Err(Refused::Closed);
            }
            if state.waited_for >= MAX_QUEUED {
                return Err(Refused::TooMany);
            }
            state.waited_for += 1;
            state.queued.push_back(Queued::WaitedFor(item));
            self.tell(&state);
            Ok(())
        })
    }

    /// Posts `work`, which must not panic, for the main thread. Returns `false` and drops `work` if
    /// the queue is closed. Work still posted when the queue is closed is dropped, too. The number
    /// of posted items is unbounded: callers have to limit it.
    pub fn post(&self, work: impl FnOnce() + Send + 'static) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        state.queued.push_back(Queued::Posted(Box::new(work)));
        self.tell(&state);
        true
    }

    /// Makes the calling thread the main thread if there is none; returns whether it is the main
    /// thread.
    pub fn claim(&self) -> bool {
        let me = thread::current().id();
        *self.lock().main_thread.get_or_insert(me) == me
    }

    /// Returns whether another thread is the main thread.
    #[must_use]
    pub fn is_of_another_thread(&self) -> bool {
        let main_thread = self.lock().main_thread;
        main_thread.is_some_and(|main_thread| main_thread != thread::current().id())
    }

    /// Returns whether the calling thread is the main thread.
    #[must_use]
    pub fn is_main_thread(&self) -> bool {
        self.lock().main_thread == Some(thread::current().id())
    }

    /// Returns whether a work item is queued for the main thread.
    #[must_use]
    pub fn work_pending(&self) -> bool {
        !self.lock().queued.is_empty()
    }

    /// Does one work item if one is queued; returns whether it did. On any other thread than the
    /// main thread it does nothing.
    pub fn perform_work(&self) -> bool {
        let next = self.take(&mut self.lock());
        next.is_some_and(|item| {
            item.run();
            true
        })
    }

    /// Does one work item, for which it waits until the deadline; returns whether it did. On any
    /// other thread than the main thread it does nothing.
    pub fn perform_work_until(&self, until: Deadline) -> bool {
        let mut state = self.lock();
        loop {
            if let Some(item) = self.take(&mut state) {
                drop(state);
                item.run();
                return true;
            }
            let is_main_thread = state.main_thread == Some(thread::current().id());
            if !is_main_thread || state.closed || until.has_passed() {
                return false;
            }
            state = self.wait(state, until);
        }
    }

    /// Does work items as they come, until the queue is closed. Any other thread than the main
    /// thread merely waits for that.
    pub fn run(&self) {
        self.run_until(Deadline::NEVER);
    }

    /// Does work items as [`MainThreadQueue::run`] does, until the deadline at most; returns
    /// whether the queue is closed.
    pub fn run_until(&self, until: Deadline) -> bool {
        let mut state = self.lock();
        loop {
            if let Some(item) = self.take(&mut state) {
                drop(state);
                item.run();
                state = self.lock();
            } else if state.closed {
                return true;
            } else if until.has_passed() {
                return false;
            } else {
                state = self.wait(state, until);
            }
        }
    }

    /// Does work items as [`MainThreadQueue::run_until`] does; meanwhile the main thread serves the
    /// reactor, which needs no thread of its own then.
    ///
    /// # Errors
    /// Those of [`Reactor::run_until`].
    pub fn run_in(&self, reactor: &Arc<Reactor>, until: Deadline) -> io::Result<bool> {
        if !self.claim() {
            return Ok(self.run_until(until));
        }
        self.wake_in(reactor)?;
        loop {
            while self.perform_work() {}
            if self.lock().closed {
                return Ok(true);
            }
            match reactor.run_until(until, || self.has_changed())? {
                Waited::Done => {}
                Waited::TimedOut => return Ok(false),
                Waited::Stopped => return Ok(self.run_until(until)),
            }
        }
    }

    /// Does one work item, or serves what is at hand in the reactor; waits until the deadline for
    /// one of these. Returns whether it did something. On any other thread than the main thread it
    /// does nothing.
    ///
    /// # Errors
    /// Those of [`Reactor::run_until`].
    pub fn perform_work_in(&self, reactor: &Arc<Reactor>, until: Deadline) -> io::Result<bool> {
        if !self.claim() {
            return Ok(false);
        }
        if self.perform_work() {
            return Ok(true);
        }
        if until.has_passed() {
            return Ok(reactor.run_ready() > 0 || reactor.do_next());
        }
        self.wake_in(reactor)?;
        let mut has_served = false;
        reactor.run_until_or_served(until, |served| {
            has_served = served;
            served || self.has_changed()
        })?;
        Ok(self.perform_work() || has_served)
    }

    /// Has the calling thread, the main thread, woken in the reactor for work items.
    ///
    /// # Errors
    /// Those of [`Reactor::add_wakeup`], and of [`Wakeup::own`].
    pub fn wake_in(&self, reactor: &Reactor) -> io::Result<()> {
        let mut state = self.lock();
        if state.wakeup.is_none() {
            let own = Wakeup::own()?;
            reactor.add_wakeup(&own)?;
            state.wakeup = Some(own);
        }
        Ok(())
    }

    /// Returns whether a work item is queued or the queue is closed.
    fn has_changed(&self) -> bool {
        let state = self.lock();
        state.closed || !state.queued.is_empty()
    }

    /// Wakes the main thread, and the threads that wait for the end.
    fn tell(&self, state: &State) {
        self.changed.notify_all();
        if let Some(wakeup) = &state.wakeup {
            wakeup.wake();
        }
    }

    /// Closes the queue: refuses what is queued, and all that comes.
    pub fn close(&self) {
        let refused = {
            let mut state = self.lock();
            state.closed = true;
            state.waited_for = 0;
            self.tell(&state);
            std::mem::take(&mut state.queued)
        };
        for queued in refused {
            if let Queued::WaitedFor(item) = queued {
                item.refuse();
            }
        }
    }

    /// Takes the next work item, for the main thread.
    fn take(&self, state: &mut State) -> Option<Queued> {
        let me = thread::current().id();
        if *state.main_thread.get_or_insert(me) != me {
            return None;
        }
        let next = state.queued.pop_front();
        if let Some(Queued::WaitedFor(_)) = next {
            state.waited_for -= 1;
        }
        next
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, until: Deadline) -> MutexGuard<'s, State> {
        match until.remaining() {
            None => {
                let waited = self.changed.wait(state);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
            Some(left) => {
                let waited = self.changed.wait_timeout(state, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Runs the queue on a thread of its own while `others` run with that thread's id.
    fn with_main_thread<R>(queue: &MainThreadQueue, others: impl FnOnce(ThreadId) -> R) -> R {
        thread::scope(|scope| {
            let main = scope.spawn(|| queue.run());
            while queue.lock().main_thread.is_none() {
                thread::yield_now();
            }
            let done = others(main.thread().id());
            queue.close();
            done
        })
    }

    #[test]
    fn one_thread_does_what_many_wait_for_and_each_gets_its_own() {
        let queue = MainThreadQueue::default();
        with_main_thread(&queue, |main| {
            thread::scope(|scope| {
                for number in 0..4 {
                    let queue = &queue;
                    scope.spawn(move || {
                        for step in 0..100 {
                            let mut seen = (0, 0);
                            let did = queue.call(|| {
                                seen = (number, step);
                                thread::current().id()
                            });
                            assert_eq!(did, Ok(main));
                            assert_eq!(seen, (number, step));
                        }
                    });
                }
            });
        });
    }

    #[test]
    fn the_main_thread_does_its_own_work_at_once() {
        let queue = MainThreadQueue::default();
        with_main_thread(&queue, |_| {
            let inner = queue.call(|| queue.call(|| 7));
            assert_eq!(inner, Ok(Ok(7)));
        });
    }

    #[test]
    fn a_panic_is_the_callers_and_the_next_work_item_is_done() {
        let queue = MainThreadQueue::default();
        with_main_thread(&queue, |_| {
            let panicked = catch_unwind(AssertUnwindSafe(|| queue.call(|| panic!("at work"))));
            assert!(panicked.is_err());
            assert_eq!(queue.call(|| 7), Ok(7));
        });
    }

    #[test]
    fn what_waits_when_it_closes_is_refused_and_so_is_all_that_comes() {
        let queue = MainThreadQueue::default();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.call(|| 7));
            while !queue.work_pending() {
                thread::yield_now();
            }
            queue.close();
            assert_eq!(waiting.join().unwrap(), Err(Refused::Closed));
        });
        assert_eq!(queue.call(|| 7), Err(Refused::Closed));
    }

    #[test]
    fn one_is_done_when_asked_for_and_only_by_the_first_thread_that_asked() {
        let queue = MainThreadQueue::default();
        assert!(!queue.perform_work());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.call(|| 7));
            while !queue.work_pending() {
                thread::yield_now();
            }
            assert!(!scope.spawn(|| queue.perform_work()).join().unwrap());
            assert!(queue.perform_work());
            assert_eq!(waiting.join().unwrap(), Ok(7));
        });
    }

    #[test]
    fn work_is_done_by_a_main_thread_that_waits_in_a_reactor() {
        let queue = MainThreadQueue::default();
        let reactor = Reactor::new(crate::reactor::ReactorOptions::default()).unwrap();
        thread::scope(|scope| {
            let main = scope.spawn(|| queue.run_in(&reactor, Deadline::NEVER).unwrap());
            while !queue.is_of_another_thread() {
                thread::yield_now();
            }
            let id = main.thread().id();
            for _ in 0..100 {
                assert_eq!(queue.call(|| thread::current().id()), Ok(id));
            }
            // Any other thread merely waits.
            let soon = Deadline::after(std::time::Duration::from_millis(1));
            assert!(!queue.run_in(&reactor, soon).unwrap());
            assert!(!queue.perform_work_in(&reactor, soon).unwrap());
            queue.close();
            assert!(main.join().unwrap());
        });
    }

    #[test]
    fn a_main_thread_waits_no_longer_than_until_the_deadline_or_the_reactors_end() {
        let queue = MainThreadQueue::default();
        let reactor = Reactor::new(crate::reactor::ReactorOptions::default()).unwrap();
        let within = |millis| Deadline::after(std::time::Duration::from_millis(millis));
        let soon = || within(1);
        for time in [0, 1, 20] {
            assert!(!queue.run_in(&reactor, within(time)).unwrap());
            assert!(!queue.perform_work_in(&reactor, within(time)).unwrap());
        }
        assert!(!queue.perform_work_until(soon()));
        assert!(queue.post(|| ()));
        assert!(queue.perform_work_in(&reactor, soon()).unwrap());
        reactor.stop();
        assert!(!queue.run_in(&reactor, soon()).unwrap());
        queue.close();
        assert!(queue.run_in(&reactor, Deadline::NEVER).unwrap());
    }

    #[test]
    fn no_more_are_queued_than_may_be() {
        let queue = MainThreadQueue::default();
        let filler = || {
            let mut one = None;
            let refused = work_item::wait_for(
                || (),
                |item| {
                    one = Some(item);
                    Err(Refused::TooMany)
                },
            );
            assert_eq!(refused, Err(Refused::TooMany));
            one
        };
        let fillers = (0..MAX_QUEUED).filter_map(|_| filler());
        queue.lock().queued = fillers.map(Queued::WaitedFor).collect();
        queue.lock().waited_for = MAX_QUEUED;
        assert_eq!(queue.call(|| 7), Err(Refused::TooMany));
        // Posted work keeps no thread waiting.
        assert!(queue.post(|| ()));
        queue.close();
    }

    #[test]
    fn what_is_posted_is_done_in_its_turn_and_not_after_the_end() {
        let queue = MainThreadQueue::default();
        let (tell, told) = std::sync::mpsc::channel();
        for number in 0..3 {
            let tell = tell.clone();
            assert!(queue.post(move || tell.send(number).unwrap()));
        }
        assert!(queue.work_pending());
        assert!(queue.perform_work());
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [0]);
        assert!(!queue.run_until(Deadline::after(std::time::Duration::ZERO)));
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [1, 2]);
        queue.close();
        assert!(!queue.post(move || tell.send(3).unwrap()));
        assert_eq!(told.iter().count(), 0);
    }
}
