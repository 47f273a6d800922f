//! Roles: operations of a board.

use super::plan::{kind_of, suppliers_of};
use super::protocol::{Duty, Ran, Recorded, RecordedJob};
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use punctual_rtevent::{Consumer, Event, Filter, Header, Pushed, SupplierHandle, codes};
use punctual_rtevent_service::{Data, RtecEventData};
use punctual_scheduling::model::{Kind, Model};
use punctual_scheduling_runtime::Activity;
use punctual_scheduling_runtime::rehearsal::burn;
use punctual_sys::clock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Longest response time that is recorded, in nanoseconds: a minute.
const LONGEST: u64 = 60_000_000_000;
/// Number of jobs of an operation that are recorded.
const MOST_RECORDED: usize = 1_000;

/// Operation: its work, the event that it then pushes, and its counts.
pub(super) struct Role {
    pub(super) activity: Arc<Activity>,
    /// Index of the operation in the model.
    pub(super) operation: usize,
    /// Types of events that release it, one for each supplier.
    released_by: Vec<i32>,
    is_conjunction: bool,
    /// `true` if other operations wait for the operation's events.
    publishes: bool,
    /// Processor time of a job, in nanoseconds.
    work: u64,
    /// Connection by which it pushes its events.
    pub(super) supplier: OnceLock<SupplierHandle<Data>>,
    /// No further jobs are released: timeouts are as expected.
    pub(super) is_over: AtomicBool,
    responses: Mutex<Option<Histogram<u64>>>,
    /// First jobs, in memory that is there before they run; none without room for any.
    recorded: Mutex<Vec<RecordedJob>>,
    jobs: AtomicU64,
    missed: AtomicU64,
    timeouts: AtomicU64,
}

impl Role {
    /// Makes the role of an operation on the board of this duty.
    pub(super) fn new(
        model: &Model,
        operation: usize,
        activity: Arc<Activity>,
        duty: &Duty,
    ) -> Self {
        let suppliers = suppliers_of(model, operation);
        let most_recorded = if duty.records { MOST_RECORDED } else { 0 };
        Self {
            operation,
            released_by: suppliers.into_iter().map(kind_of).collect(),
            is_conjunction: model.operations[operation].kind == Kind::Conjunction,
            publishes: !model.operations[operation].calls.is_empty(),
            work: activity.wcet().as_nanos() / 100 * u64::from(duty.load),
            activity,
            supplier: OnceLock::new(),
            is_over: AtomicBool::new(false),
            recorded: Mutex::new(Vec::with_capacity(most_recorded)),
            responses: Mutex::new(Histogram::new_with_bounds(1, LONGEST, 3).ok()),
            jobs: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
        }
    }

    /// Returns the filter of the events that release it; `None` if it releases itself. A conjunction also hears when
    /// nothing has come for two periods.
    pub(super) fn filter(&self) -> Option<Filter> {
        let events = || self.released_by.iter().map(|kind| Filter::event(*kind, 0));
        match (self.released_by.is_empty(), self.is_conjunction) {
            (true, _) => None,
            (false, false) => Some(Filter::any_of(events())),
            (false, true) => {
                let period = Duration::from_nanos(self.activity.period().as_nanos());
                let late = Filter::deadline(period.saturating_mul(2));
                Some(Filter::any_of([Filter::all_of(events()), late]))
            }
        }
    }

    /// Executes a job that was released at this time of `CLOCK_MONOTONIC`, in nanoseconds.
    pub(super) fn run(&self, released: u64) {
        let begin = clock::nanos();
        burn(self.work);
        if self.publishes {
            self.publish(released);
        }
        let end = clock::nanos();
        self.record(RecordedJob {
            released,
            begin,
            end,
        });
        let response = end.saturating_sub(released);
        if let Some(responses) = &mut *self.responses.lock() {
            responses.saturating_record(response.max(1));
        }
        if response > self.activity.deadline().as_nanos() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        self.jobs.fetch_add(1, Ordering::Release);
    }

    /// Counts releases that were passed over.
    pub(super) fn skip(&self, releases: u64) {
        self.missed.fetch_add(releases, Ordering::Relaxed);
    }

    /// Returns the counts and times of the operation's jobs so far.
    pub(super) fn ran(&self) -> Ran {
        let jobs = self.jobs.load(Ordering::Acquire);
        let responses = self.responses.lock();
        let at = |quantile| {
            let responses = responses.as_ref();
            responses.map_or(0, |it| it.value_at_quantile(quantile))
        };
        Ran {
            operation: self.activity.name().to_owned(),
            jobs,
            missed: self.missed.load(Ordering::Relaxed),
            timeouts: self.timeouts.load(Ordering::Relaxed),
            p50: at(0.5),
            p99: at(0.99),
            max: responses.as_ref().map_or(0, Histogram::max),
        }
    }

    /// Returns the recorded jobs, in the order of their releases.
    pub(super) fn recorded(&self) -> Recorded {
        let mut jobs = self.recorded.lock().clone();
        jobs.sort_unstable();
        Recorded {
            operation: self.activity.name().to_owned(),
            jobs,
        }
    }

    fn record(&self, job: RecordedJob) {
        let mut recorded = self.recorded.lock();
        if recorded.len() < recorded.capacity() {
            recorded.push(job);
        }
    }

    fn publish(&self, released: u64) {
        let mut header = Header::new(kind_of(self.operation), 1);
        // To the boards beside this one, and no further.
        header.ttl = 1;
        let data = RtecEventData {
            payload: released.to_le_bytes().to_vec(),
            ..RtecEventData::default()
        };
        if let Some(supplier) = self.supplier.get() {
            // What is lost shows in the counts of those that wait for it.
            let _ = supplier.push_owned(vec![Event::new(header, Arc::new(data.into()))]);
        }
    }
}

impl Consumer<Data> for Role {
    fn push(&self, events: &[Event<Data>]) -> Pushed {
        let (timeouts, data): (Vec<_>, Vec<_>) = events
            .iter()
            .partition(|event| event.header.kind == codes::DEADLINE_TIMEOUT);
        let has_begun = self.jobs.load(Ordering::Relaxed) > 0;
        if has_begun && !self.is_over.load(Ordering::Relaxed) {
            let count = timeouts.len() as u64;
            self.timeouts.fetch_add(count, Ordering::Relaxed);
        }
        let releases = data.into_iter().filter_map(released);
        match self.is_conjunction {
            true => releases.min().into_iter().for_each(|at| self.run(at)),
            false => releases.for_each(|at| self.run(at)),
        }
        Pushed::Done
    }
}

/// Returns the time of the release of the chain of calls that an event carries.
fn released(event: &Event<Data>) -> Option<u64> {
    let octets = event.data.contents().payload.first_chunk()?;
    Some(u64::from_le_bytes(*octets))
}
