//! State of workers: tasks that wait, and runs in progress.

use super::staffing::{Lane, Staffing};
use crate::dispatch::dispatcher::Task;
use crate::level::Level;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Task that waits, with its level.
pub(super) type Waiting = (Level, Arc<dyn Task>);

/// State of workers, under their lock.
#[derive(Default)]
pub(super) struct State {
    /// Tasks by level, or all in one queue.
    waiting: BTreeMap<Level, VecDeque<Waiting>>,
    /// Tasks of all levels take turns.
    takes_turns: bool,
    /// Number of waiting tasks.
    pub(super) count: usize,
    /// Number of threads that are not written off.
    pub(super) threads: usize,
    /// Number of threads that are written off.
    pub(super) blocked: usize,
    pub(super) idle: usize,
    /// Number of threads that have been started, and have not begun.
    pub(super) starting: usize,
    /// Number of requests of more urgent lanes for an idle thread that none has taken up yet.
    pub(super) asked: usize,
    /// The machine has refused a further thread; it is asked again later.
    pub(super) is_refused: bool,
    /// The watching thread waits for runs to end, and needs no signal.
    pub(super) is_watched: bool,
    pub(super) stops: bool,
    /// Number of runs that have begun.
    begun: u64,
    seats: Vec<Arc<Seat>>,
}

/// Place of a thread, which tells its run from others. Written under the lock.
#[derive(Default)]
pub(super) struct Seat {
    /// Number of its run; 0 for none.
    run: AtomicU64,
    is_written_off: AtomicBool,
}

/// Number of levels whose empty queues are kept.
const KEPT: usize = 64;

impl Seat {
    /// Returns whether the thread has been written off in its run.
    pub(super) fn is_written_off(&self) -> bool {
        self.is_written_off.load(Ordering::Relaxed)
    }

    fn run(&self) -> u64 {
        self.run.load(Ordering::Relaxed)
    }
}

impl State {
    /// Makes the state of workers of one lane.
    pub(super) fn new(lane: &Lane) -> Self {
        Self {
            takes_turns: matches!(lane, Lane::Slow(..)),
            ..Self::default()
        }
    }

    /// Returns whether the watching thread has to be woken: tasks wait while no thread is idle, and more threads may
    /// start, or be written off.
    pub(super) fn needs_watch(&self, staffing: &Staffing) -> bool {
        !self.is_watched && self.is_pressed(staffing) || self.needs_thread(staffing)
    }

    /// Returns whether more tasks wait than there are threads for them, and a further thread may start on demand.
    pub(super) fn needs_thread(&self, staffing: &Staffing) -> bool {
        staffing.grows_on_demand() && self.is_short() && self.may_grow(staffing)
    }

    /// Returns whether more tasks wait than there are threads for them, and no further thread may start.
    pub(super) fn needs_loan(&self, staffing: &Staffing) -> bool {
        self.is_short() && !self.may_grow(staffing) && !self.stops
    }

    /// Returns whether a thread is idle that neither a task nor a more urgent lane waits for.
    pub(super) fn may_lend(&self) -> bool {
        self.idle > self.count + self.asked && !self.stops
    }

    fn is_short(&self) -> bool {
        self.count > self.idle + self.starting
    }

    fn may_grow(&self, staffing: &Staffing) -> bool {
        self.threads < staffing.most_threads && !self.is_refused
    }

    /// Returns whether tasks wait while no thread is idle, and more threads may be written off.
    pub(super) fn is_pressed(&self, staffing: &Staffing) -> bool {
        self.count > 0 && self.idle == 0 && self.blocked < staffing.most_blocked
    }

    /// Notes that a thread starts.
    pub(super) fn begin_start(&mut self) {
        self.threads += 1;
        self.starting += 1;
    }

    /// Notes that the machine has refused a thread.
    pub(super) fn refuse_start(&mut self) {
        self.threads -= 1;
        self.starting -= 1;
    }

    /// Adds the seat of a thread that has started.
    pub(super) fn sit(&mut self) -> Arc<Seat> {
        self.starting -= 1;
        let seat = Arc::new(Seat::default());
        self.seats.push(seat.clone());
        seat
    }

    /// Removes the seat of a thread that ends.
    pub(super) fn leave(&mut self, seat: &Arc<Seat>) {
        self.seats.retain(|other| !Arc::ptr_eq(other, seat));
        match seat.is_written_off() {
            true => self.blocked -= 1,
            false => self.threads -= 1,
        }
    }

    pub(super) fn begin_run(&mut self, seat: &Seat) {
        self.begun += 1;
        seat.run.store(self.begun, Ordering::Relaxed);
    }

    pub(super) fn end_run(&self, seat: &Seat) {
        seat.run.store(0, Ordering::Relaxed);
    }

    /// Makes the thread of a seat one of those that are not written off.
    pub(super) fn reinstate(&mut self, seat: &Seat) {
        seat.is_written_off.store(false, Ordering::Relaxed);
        self.blocked -= 1;
        self.threads += 1;
    }

    /// Returns the runs in progress of threads that are not written off.
    pub(super) fn runs(&self) -> Vec<(Arc<Seat>, u64)> {
        let seats = self.seats.iter();
        let running = seats.filter(|seat| seat.run() != 0 && !seat.is_written_off());
        running.map(|seat| (seat.clone(), seat.run())).collect()
    }

    /// Writes the threads off that are still in one of these runs, as far as `most` allows; returns their number.
    pub(super) fn write_off(&mut self, runs: &[(Arc<Seat>, u64)], most: usize) -> usize {
        let room = most.saturating_sub(self.blocked);
        let same = runs.iter().filter(|(seat, run)| seat.run() == *run);
        let mut count = 0;
        for (seat, _) in same.take(room) {
            seat.is_written_off.store(true, Ordering::Relaxed);
            count += 1;
        }
        self.blocked += count;
        self.threads -= count;
        count
    }

    pub(super) fn push(&mut self, level: Level, task: Arc<dyn Task>) {
        let queue = if self.takes_turns {
            Level::default()
        } else {
            level
        };
        let tasks = self.waiting.entry(queue).or_default();
        tasks.push_back((level, task));
        self.count += 1;
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        if self.count == 0 {
            return None;
        }
        let mut tasks = self.waiting.values_mut();
        let next = tasks.find_map(VecDeque::pop_front);
        self.count -= 1;
        if self.waiting.len() > KEPT {
            self.waiting.retain(|_, tasks| !tasks.is_empty());
        }
        next
    }
}
