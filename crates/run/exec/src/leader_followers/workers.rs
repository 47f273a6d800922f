//! Worker threads of a pool: their number, and whether all of them are held up.
//!
//! A worker is held up while it stays in one upcall, blocked or computing. One that waits for a processor is not: on a
//! busy machine an upcall may take long though it needs little, and the pool will serve what comes.

use crate::reactor::Reactor;
use punctual_sys::activity::{self, ThreadId};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Worker threads of one leader/followers pool.
#[derive(Debug)]
pub(super) struct Workers {
    /// Maximum number of workers in the pool.
    max: usize,
    /// Number of workers started so far in the pool.
    started: AtomicUsize,
    /// Workers that run. None ends before the pool does.
    running: Mutex<Vec<ThreadId>>,
}

/// State of all workers at one moment, to be compared with a later one.
#[derive(Debug)]
pub(super) struct Watch {
    /// Number of rounds that the reactor's workers have made ([`Reactor::rounds`]).
    rounds: u64,
    /// Each worker's processor time; `None` where the kernel does not report it.
    workers: Vec<(ThreadId, Option<Duration>)>,
}

/// Change in the state of the workers since a [`Watch`] was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A worker has taken up further work, or has just started.
    Progress,
    /// No worker has, but at least one of them had too little of a processor for that.
    Starved,
    /// All workers are in the upcalls that they were in, blocked or computing.
    HeldUp,
}

impl Workers {
    pub(super) fn new(max: usize) -> Self {
        Self {
            max,
            started: AtomicUsize::new(0),
            running: Mutex::default(),
        }
    }

    /// Counts one more worker, to be started by the caller; returns its number, or `None` if the maximum is reached.
    pub(super) fn one_more(&self) -> Option<usize> {
        let one_more = |started| (started < self.max).then_some(started + 1);
        // Relaxed: a mere counter.
        self.started
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
    }

    /// Returns the number of workers started so far.
    pub(super) fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    /// Returns whether further workers may be started.
    pub(super) fn may_grow(&self) -> bool {
        self.started() < self.max
    }

    /// Reverts the count of a worker whose thread could not be started.
    pub(super) fn not_started(&self) {
        self.started.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records that the calling thread, a worker of the pool, is running.
    pub(super) fn arrive(&self) {
        self.running().push(activity::own_id());
    }

    /// Returns the current state of all workers of the pool.
    pub(super) fn watch(&self, reactor: &Reactor) -> Watch {
        let time = |id| activity::of(id).ok().map(|found| found.processor_time);
        let running = self.running().clone();
        Watch {
            rounds: reactor.rounds(),
            workers: running.into_iter().map(|id| (id, time(id))).collect(),
        }
    }

    /// Returns what the workers have done since `watch` was taken. A worker is held up while it blocks in an upcall, or
    /// once it has computed for `patience` of processor time. With `held_up`, all workers were held up when `watch` was
    /// taken, so that only progress ends that state.
    pub(super) fn change_since(
        &self,
        watch: &Watch,
        reactor: &Reactor,
        patience: Duration,
        held_up: bool,
    ) -> Change {
        let arriving = self.started.load(Ordering::Relaxed) > watch.workers.len();
        if arriving || reactor.rounds() != watch.rounds {
            return Change::Progress;
        }
        if held_up {
            return Change::HeldUp;
        }
        let is_held_up = |&(id, before): &(ThreadId, Option<Duration>)| {
            let (Some(before), Ok(now)) = (before, activity::of(id)) else {
                // Unknown: the time that has passed has to do.
                return true;
            };
            !now.is_runnable || now.processor_time.saturating_sub(before) >= patience
        };
        match watch.workers.iter().all(is_held_up) {
            true => Change::HeldUp,
            false => Change::Starved,
        }
    }

    fn running(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reactor::ReactorOptions;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread::JoinHandle;

    const EVER: Duration = Duration::from_secs(3600);

    /// Starts a worker that computes until its flag is set, then blocks until the sender is dropped.
    fn worker(
        workers: &Arc<Workers>,
    ) -> (
        Arc<AtomicBool>,
        Sender<()>,
        Receiver<ThreadId>,
        JoinHandle<()>,
    ) {
        workers.one_more().unwrap();
        let (blocks, (end, ended), (say, said)) =
            (Arc::new(AtomicBool::new(false)), channel::<()>(), channel());
        let (workers, until) = (workers.clone(), blocks.clone());
        let thread = std::thread::spawn(move || {
            workers.arrive();
            say.send(activity::own_id()).unwrap();
            while !until.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            let _ = ended.recv();
        });
        (blocks, end, said, thread)
    }

    #[test]
    fn workers_are_held_up_if_all_of_them_are_blocked_or_have_computed_for_long() {
        let reactor = Reactor::new(ReactorOptions::default()).unwrap();
        let workers = Arc::new(Workers::new(2));
        let first = worker(&workers);
        let second = worker(&workers);
        let ids = [first.2.recv().unwrap(), second.2.recv().unwrap()];
        let watch = workers.watch(&reactor);
        let change = |patience| workers.change_since(&watch, &reactor, patience, false);
        // They compute, on however busy a machine.
        assert_eq!(change(Duration::ZERO), Change::HeldUp);
        assert_eq!(change(EVER), Change::Starved);
        first.0.store(true, Ordering::Relaxed);
        while activity::of(ids[0]).unwrap().is_runnable {
            std::thread::yield_now();
        }
        assert_eq!(change(EVER), Change::Starved);
        second.0.store(true, Ordering::Relaxed);
        while activity::of(ids[1]).unwrap().is_runnable {
            std::thread::yield_now();
        }
        assert_eq!(change(EVER), Change::HeldUp);
        for (_, end, _, thread) in [first, second] {
            drop(end);
            thread.join().unwrap();
        }
    }

    #[test]
    fn a_worker_that_has_just_been_started_is_progress_until_it_is_watched() {
        let reactor = Reactor::new(ReactorOptions::default()).unwrap();
        let workers = Arc::new(Workers::new(1));
        let watch = workers.watch(&reactor);
        let (blocks, end, said, thread) = worker(&workers);
        said.recv().unwrap();
        assert_eq!(
            workers.change_since(&watch, &reactor, EVER, false),
            Change::Progress
        );
        let watch = workers.watch(&reactor);
        assert_eq!(
            workers.change_since(&watch, &reactor, EVER, false),
            Change::Starved
        );
        assert_eq!(
            workers.change_since(&watch, &reactor, EVER, true),
            Change::HeldUp
        );
        assert_eq!(workers.one_more(), None);
        blocks.store(true, Ordering::Relaxed);
        drop(end);
        thread.join().unwrap();
    }
}
