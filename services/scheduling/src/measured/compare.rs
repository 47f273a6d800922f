//! Comparison of a plan with measurements.

use super::arrivals::jitter;
use super::file::{MeasuredOperation, Measurements, Times};
use super::timeline::{RecordedJob, RecordedTimeline};
use crate::model::Model;
use crate::plan::{Plan, PlannedStream};
use crate::time::Time;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Operation as it was planned, beside its measured times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Name of the operation.
    pub operation: String,
    /// Number of measured jobs.
    pub jobs: u64,
    /// Planned worst-case execution time, without operations that it calls.
    pub wcet: Option<Time>,
    /// Longest measured execution time; `None` also of a time line, which has none.
    pub execution: Option<Time>,
    /// Execution time that 99 of 100 jobs did not exceed.
    pub execution_p99: Option<Time>,
    /// Planned least distance of two jobs: the period less the jitter; `None` if several streams
    /// release the operation, its callers do, or a release has several jobs.
    pub least_distance: Option<Time>,
    /// Shortest measured distance.
    pub distance: Option<Time>,
    /// Computed worst-case response time.
    pub planned_response: Option<Time>,
    /// Deadline.
    pub deadline: Option<Time>,
    /// Longest measured response time: from the beginning of a job; in a time line, from reading its request.
    pub response: Option<Time>,
    /// Longest time from reading a request to the beginning of its job; of a time line only.
    pub wait: Option<Time>,
    /// Number of jobs that ended after their deadline; of a time line only, as other files have the longest response.
    pub missed_deadlines: Option<u64>,
    /// Findings; empty if the operation ran as planned.
    pub findings: Vec<Finding>,
}

/// Difference between a plan and what ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// A job took longer than `wcet`.
    Overrun,
    /// A job began earlier after another one than planned.
    EarlyRelease,
    /// A job took longer to end than the computed response time.
    LateResponse,
    /// A job ended after its deadline.
    MissedDeadline,
    /// A job took longer than is left to its deadline after its latest release. If it was released as late is not
    /// known, as measured times count from the request, and deadlines from the release of the chain's source.
    DeadlineNotJudged,
    /// The plan does not have the operation.
    NotPlanned,
    /// The operation never ran.
    NeverRan,
}

impl Finding {
    /// Returns whether more was needed than planned, or may have been.
    #[must_use]
    pub fn is_worse(self) -> bool {
        self != Self::NeverRan
    }
}

/// Compares the operations of a plan with measurements: first those of the model, in its
/// order, then those that the plan does not have.
#[must_use]
pub fn compare(model: &Model, plan: &Plan, measured: &Measurements) -> Vec<Compared> {
    let mut streams: HashMap<&str, Vec<Planned<'_>>> = HashMap::new();
    for (stream, analysed) in plan.streams.iter().zip(&plan.analysed.streams) {
        let jobs = analysed.jobs;
        let of_operation = streams.entry(&stream.operation).or_default();
        of_operation.push(Planned { stream, jobs });
    }
    let mut measured: BTreeMap<&str, MeasuredOperation> = measured.by_name();
    let planned = model.operations.iter().map(|operation| {
        let name = operation.name.as_str();
        let streams = streams.get(name).map_or(&[][..], Vec::as_slice);
        let mut compared = Compared::planned(name, operation.times.worst, streams);
        match measured.remove(name) {
            Some(measured) => {
                compared.add(&measured);
                compared.judge(streams);
            }
            None => compared.findings.push(Finding::NeverRan),
        }
        compared
    });
    let mut all: Vec<Compared> = planned.collect();
    for (name, operation) in &measured {
        let mut compared = Compared::named(name);
        compared.add(operation);
        compared.findings.push(Finding::NotPlanned);
        all.push(compared);
    }
    all
}

/// Stream of a plan, and the number of its jobs in a release.
#[derive(Clone, Copy)]
struct Planned<'p> {
    stream: &'p PlannedStream,
    jobs: u64,
}

/// Compares the operations of a plan with a time line, as [`compare`] does; response times and distances count from
/// reading the requests. Execution times are not compared, as a time line has none.
#[must_use]
pub fn compare_timeline(model: &Model, plan: &Plan, recorded: &RecordedTimeline) -> Vec<Compared> {
    let mut all = compare(model, plan, &recorded.measurements());
    for compared in &mut all {
        let jobs = recorded.jobs(&compared.operation);
        compared.add_jobs(jobs);
        compared.judge_bursts(plan, jobs);
    }
    all
}

impl Compared {
    fn named(operation: &str) -> Self {
        Self {
            operation: operation.to_owned(),
            jobs: 0,
            wcet: None,
            execution: None,
            execution_p99: None,
            least_distance: None,
            distance: None,
            planned_response: None,
            deadline: None,
            response: None,
            wait: None,
            missed_deadlines: None,
            findings: Vec::new(),
        }
    }

    fn planned(operation: &str, wcet: Time, streams: &[Planned<'_>]) -> Self {
        let least_distance = match streams {
            [Planned { stream, jobs: 1 }] => Some(stream.period - stream.jitter),
            _ => None,
        };
        // Jobs of several streams cannot be told apart: only the longest bound holds for each. One
        // without a bound may take any time.
        let responses: Option<Vec<Time>> = streams.iter().map(|one| one.stream.response).collect();
        Self {
            wcet: Some(wcet),
            least_distance,
            planned_response: responses.and_then(|all| all.into_iter().max()),
            deadline: streams.iter().map(|one| one.stream.deadline).max(),
            ..Self::named(operation)
        }
    }

    fn add(&mut self, measured: &MeasuredOperation) {
        let of = |times: &Times, time: Time| (times.count > 0).then_some(time);
        self.jobs = measured.response.count;
        self.execution = of(&measured.execution, measured.execution.max);
        self.execution_p99 = of(&measured.execution, measured.execution.p99);
        self.distance = of(&measured.distance, measured.distance.min);
        self.response = of(&measured.response, measured.response.max);
        let exceeds = |measured: Option<Time>, bound: Option<Time>| {
            measured
                .zip(bound)
                .is_some_and(|(measured, bound)| measured > bound)
        };
        for (is_so, finding) in [
            (exceeds(self.execution, self.wcet), Finding::Overrun),
            (
                exceeds(self.least_distance, self.distance),
                Finding::EarlyRelease,
            ),
            (
                exceeds(self.response, self.planned_response),
                Finding::LateResponse,
            ),
            (
                exceeds(self.response, self.deadline),
                Finding::MissedDeadline,
            ),
        ] {
            if is_so {
                self.findings.push(finding);
            }
        }
    }

    /// Adds that a deadline cannot be judged: it is not exceeded by what was measured, but may be with the time
    /// from the source's release to the job's own.
    fn judge(&mut self, streams: &[Planned<'_>]) {
        let left = |one: &Planned<'_>| one.stream.deadline - one.stream.jitter;
        let left = streams.iter().map(left).min();
        let is_longer = self
            .response
            .zip(left)
            .is_some_and(|(time, left)| time > left);
        if is_longer && !self.findings.contains(&Finding::MissedDeadline) {
            self.findings.push(Finding::DeadlineNotJudged);
        }
    }

    /// Adds that jobs came in a longer burst than period and jitter of the plan allow.
    fn judge_bursts(&mut self, plan: &Plan, jobs: &[RecordedJob]) {
        let streams: Vec<usize> = plan.streams_of(&self.operation).collect();
        let [only] = streams[..] else { return };
        let (Some(stream), Some(analysed)) =
            (plan.streams.get(only), plan.analysed.streams.get(only))
        else {
            return;
        };
        let reads: Vec<Time> = jobs.iter().map(|job| job.read).collect();
        let is_early = analysed.jobs == 1 && jitter(&reads, stream.period) > stream.jitter;
        if is_early && !self.findings.contains(&Finding::EarlyRelease) {
            self.findings.push(Finding::EarlyRelease);
        }
    }

    /// Adds what only single jobs tell.
    fn add_jobs(&mut self, jobs: &[RecordedJob]) {
        self.wait = jobs.iter().map(RecordedJob::wait).max();
        self.missed_deadlines = self.deadline.map(|deadline| {
            let missed = jobs.iter().filter(|job| job.response() > deadline);
            missed.count() as u64
        });
    }
}
