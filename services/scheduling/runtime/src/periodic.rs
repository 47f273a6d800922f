//! Threads that release an activity by the clock.

use crate::client::ClientScheduler;
use crate::error::ScheduleError;
use crate::schedule::Activity;
use punctual::rt::Priority;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::JoinHandle;
use punctual_scheduling::Time;
use punctual_sys::clock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

/// Longest sleep between two looks at the request to stop, in nanoseconds.
const LOOK: u64 = 100_000_000;

/// Thread that executes an activity: a job at each release, at the activity's priority or with its reservation,
/// on its processor. Dropping it stops it at its next release.
#[derive(Debug)]
pub struct PeriodicThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Job of a periodic thread. Times are of `CLOCK_MONOTONIC`, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Number of the release, from 0.
    pub number: u64,
    /// Time of the release, from which the deadline counts.
    pub release: u64,
    /// Deadline.
    pub deadline: u64,
}

/// Counts of the jobs of a periodic thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Number of jobs that have ended.
    pub jobs: u64,
    /// Number of jobs that ended after their deadline.
    pub missed: u64,
    /// Number of skipped releases: the previous job was still running.
    pub skipped: u64,
    /// Longest time from a release to the end of its job.
    pub longest_response: Time,
    /// Longest time from a release to the beginning of its job.
    pub longest_delay: Time,
}

#[derive(Debug)]
struct Shared {
    stops: AtomicBool,
    /// Period in nanoseconds; 0 while the activity is suspended.
    period: AtomicU64,
    jobs: AtomicU64,
    missed: AtomicU64,
    skipped: AtomicU64,
    longest_response: AtomicU64,
    longest_delay: AtomicU64,
}

impl ClientScheduler {
    /// Starts a thread that executes an activity: `job` runs at each release, the first of which is the
    /// activity's offset after `start`, a time of `CLOCK_MONOTONIC` in nanoseconds. Threads with one `start`
    /// have the plan's offsets to one another.
    ///
    /// The jobs of an activity that is dispatched by a queue are requests: `job` then runs at the highest
    /// priority, and is to call the activity's object one-way.
    ///
    /// # Errors
    /// [`ScheduleError::UnknownName`]; [`ScheduleError::NotASource`] for an activity that is released by calls;
    /// those of [`ClientScheduler::schedule_activity`].
    pub fn start_periodic(
        &self,
        activity: &str,
        start: u64,
        job: impl FnMut(Job) + Send + 'static,
    ) -> Result<PeriodicThread, ScheduleError> {
        self.start_prepared(activity, start, || (), job)
    }

    /// Starts a thread as [`ClientScheduler::start_periodic`] does, and calls `prepare` in it before the first
    /// release: it may connect to the objects that its jobs call
    /// ([`ObjectRef::validate_connection`](punctual::ObjectRef::validate_connection)), so that no job does. Returns
    /// when `prepare` has.
    ///
    /// # Errors
    /// Those of [`ClientScheduler::start_periodic`]; [`ScheduleError::NotPrepared`] if `prepare` panics.
    pub fn start_prepared(
        &self,
        activity: &str,
        start: u64,
        prepare: impl FnOnce() + Send + 'static,
        job: impl FnMut(Job) + Send + 'static,
    ) -> Result<PeriodicThread, ScheduleError> {
        let activity = self.schedule.activity(activity)?;
        if !activity.is_source() {
            return Err(ScheduleError::NotASource(activity.name().to_owned()));
        }
        self.start(activity, start, prepare, job)
    }

    /// Starts a thread that executes an activity, whatever releases that in the plan.
    pub(crate) fn start(
        &self,
        activity: Arc<Activity>,
        start: u64,
        prepare: impl FnOnce() + Send + 'static,
        job: impl FnMut(Job) + Send + 'static,
    ) -> Result<PeriodicThread, ScheduleError> {
        let shared = Arc::new(Shared::new(activity.period()));
        let (scheduled, is_scheduled) = mpsc::sync_channel(1);
        let (client, own, of) = (self.clone(), shared.clone(), activity.clone());
        let thread = ThreadSpec::named(activity.name().to_owned()).start(move || {
            let outcome = match of.is_queued() {
                true => client.schedule_at(&of, Priority::MAX),
                false => client.schedule_as(&of),
            };
            let starts = outcome.is_ok();
            if starts {
                prepare();
            }
            // The starting thread waits for it.
            let _ = scheduled.send(outcome);
            if starts {
                own.run(&of, start, job);
            }
        })?;
        match is_scheduled.recv() {
            Ok(outcome) => outcome?,
            Err(_) => return Err(ScheduleError::NotPrepared(activity.name().to_owned())),
        }
        Ok(PeriodicThread {
            shared,
            thread: Some(thread),
        })
    }
}

impl PeriodicThread {
    /// Changes the period from the next release on; `None` suspends the activity.
    pub fn set_period(&self, period: Option<Time>) {
        let period = period.map_or(0, Time::as_nanos);
        self.shared.period.store(period, Ordering::Relaxed);
    }

    /// Returns the counts of its jobs so far.
    #[must_use]
    pub fn executed(&self) -> Executed {
        self.shared.executed()
    }

    /// Stops the thread after its job, and returns the counts of all jobs.
    #[must_use]
    pub fn stop(mut self) -> Executed {
        self.shared.stops.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A job that panicked has printed it.
            let _ = thread.join();
        }
        self.shared.executed()
    }
}

impl Drop for PeriodicThread {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn new(period: Time) -> Self {
        Self {
            stops: AtomicBool::new(false),
            period: AtomicU64::new(period.as_nanos()),
            jobs: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            longest_response: AtomicU64::new(0),
            longest_delay: AtomicU64::new(0),
        }
    }

    fn run(&self, activity: &Activity, start: u64, mut job: impl FnMut(Job)) {
        // A deadline that is the period stays so where the period changes.
        let fixed = (activity.deadline() != activity.period()).then(|| activity.deadline());
        let first = start.saturating_add(activity.offset().as_nanos());
        let mut release = self.not_past(first);
        for number in 0.. {
            let Some((at, period)) = self.sleep_until(release) else {
                return;
            };
            release = at;
            let deadline = fixed.map_or(period, Time::as_nanos);
            let begun = clock::nanos();
            job(Job {
                number,
                release,
                deadline: release.saturating_add(deadline),
            });
            self.count(release, begun, deadline);
            release = self.next(release);
        }
    }

    /// Sleeps until a release. Returns its time, which is later after a suspension, and the period; `None` if the
    /// thread is to stop.
    fn sleep_until(&self, mut release: u64) -> Option<(u64, u64)> {
        let mut was_suspended = false;
        loop {
            if self.stops.load(Ordering::Relaxed) {
                return None;
            }
            let now = clock::nanos();
            let look = now.saturating_add(LOOK);
            let period = self.period.load(Ordering::Relaxed);
            if period == 0 {
                was_suspended = true;
                clock::sleep_until(look);
                continue;
            }
            if was_suspended {
                release = self.not_past(release);
                was_suspended = false;
            }
            if now >= release {
                return Some((release, period));
            }
            clock::sleep_until(release.min(look));
        }
    }

    /// Returns the first release from now on, at a distance of whole periods from one.
    fn not_past(&self, release: u64) -> u64 {
        let period = self.period.load(Ordering::Relaxed).max(1);
        let late = clock::nanos().saturating_sub(release);
        release.saturating_add(late.div_ceil(period).saturating_mul(period))
    }

    /// Returns the next release after the given one, and counts releases that are skipped.
    fn next(&self, release: u64) -> u64 {
        let period = self.period.load(Ordering::Relaxed);
        let late = clock::nanos().saturating_sub(release);
        // A suspended activity passes nothing over.
        let passed = late.checked_div(period).unwrap_or(1).max(1);
        self.skipped.fetch_add(passed - 1, Ordering::Relaxed);
        release.saturating_add(period.saturating_mul(passed))
    }

    // Relaxed: counts only, which one thread writes.
    fn count(&self, release: u64, begun: u64, deadline: u64) {
        let response = clock::nanos().saturating_sub(release);
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.longest_response.fetch_max(response, Ordering::Relaxed);
        let delay = begun.saturating_sub(release);
        self.longest_delay.fetch_max(delay, Ordering::Relaxed);
        if response > deadline {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn executed(&self) -> Executed {
        let time = |of: &AtomicU64| Time::from_nanos(of.load(Ordering::Relaxed));
        Executed {
            jobs: self.jobs.load(Ordering::Relaxed),
            missed: self.missed.load(Ordering::Relaxed),
            skipped: self.skipped.load(Ordering::Relaxed),
            longest_response: time(&self.longest_response),
            longest_delay: time(&self.longest_delay),
        }
    }
}
