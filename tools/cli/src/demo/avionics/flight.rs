//! A run of all boards.

use super::boards::Board;
use super::plan::expected;
use super::protocol::{Answer, Duty, Ran, Recorded, Request};
use punctual_scheduling::Time;
use punctual_scheduling::measured::{RecordedJob, RecordedOperation, RecordedTimeline};
use punctual_scheduling::model::Model;
use punctual_sys::{clock, processor};
use std::time::{Duration, Instant};

/// Time from the start of the threads to the first release, in nanoseconds.
const START: u64 = 300_000_000;
/// Time without a further job after which missing jobs count as lost.
const LAST_EVENTS: Duration = Duration::from_secs(5);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlightOptions {
    /// Length of the run.
    pub(super) time: Duration,
    /// Share of the planned processor time that a job uses, in percent.
    pub(super) load: u8,
    /// Run without real-time priorities.
    pub(super) best_effort: bool,
    /// Record the first jobs of each operation.
    pub(super) records: bool,
}

/// Outcome of a run.
#[derive(Clone, Debug)]
pub(super) struct Flown {
    /// The kernel scheduled by the plan's priorities.
    pub(super) is_real_time: bool,
    /// Number of processors of this machine that the boards had.
    pub(super) processors: usize,
    /// Counts, in the order of the model's operations.
    pub(super) ran: Vec<Ran>,
    /// Number of jobs of each operation that should have been executed, in the same order.
    pub(super) expected: Vec<u64>,
    /// Recorded jobs, from the releases of their chains; all boards have one clock.
    pub(super) timeline: RecordedTimeline,
}

/// Starts the boards, and lets them run. `progress` is called with the time that has passed.
///
/// # Errors
/// A board cannot be started, or fails.
pub(super) fn fly(
    model: &Model,
    options: FlightOptions,
    progress: impl FnMut(Duration),
) -> Result<Flown, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let allowed = processor::allowed().map_err(|error| format!("processors: {error}"))?;
    let processors = allowed.iter().copied().cycle();
    let duties = model
        .hosts
        .iter()
        .zip(processors)
        .map(|(host, processor)| Duty {
            board: host.name.clone(),
            folder: folder.path().to_owned(),
            load: options.load,
            best_effort: options.best_effort,
            records: options.records,
            processor,
        });
    let boards = duties.map(|duty| Board::start(&duty));
    let mut boards = boards.collect::<Result<Vec<_>, _>>()?;
    let ready = Board::ask(&mut boards, Request::Link)?;
    Board::ask(
        &mut boards,
        Request::Start(clock::nanos().saturating_add(START)),
    )?;
    wait(options.time, progress);
    Board::ask(&mut boards, Request::Stop)?;
    let (ran, expected) = collect(model, &mut boards)?;
    let is_native = |answer: &Answer| matches!(answer, Answer::Ready { is_real_time: true });
    Ok(Flown {
        is_real_time: ready.iter().all(is_native),
        processors: allowed.len().min(model.hosts.len()),
        timeline: match options.records {
            true => timeline(&mut boards)?,
            false => RecordedTimeline::default(),
        },
        ran,
        expected,
    })
}

/// Returns the recorded jobs of all boards.
fn timeline(boards: &mut [Board]) -> Result<RecordedTimeline, String> {
    let answers = Board::ask(boards, Request::Jobs)?;
    let all = answers.into_iter().flat_map(|answer| match answer {
        Answer::Jobs(recorded) => recorded,
        _ => Vec::new(),
    });
    let ran = all.filter(|one| !one.jobs.is_empty());
    let mut operations: Vec<_> = ran.map(recorded).collect();
    operations.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(RecordedTimeline {
        operations,
        ..RecordedTimeline::default()
    })
}

fn recorded(ran: Recorded) -> RecordedOperation {
    let jobs = ran.jobs.iter().map(|job| RecordedJob {
        read: Time::from_nanos(job.released),
        begin: Time::from_nanos(job.begin),
        end: Time::from_nanos(job.end),
    });
    RecordedOperation {
        jobs: jobs.collect(),
        name: ran.operation,
    }
}

fn wait(time: Duration, mut progress: impl FnMut(Duration)) {
    let begin = Instant::now();
    let time = time.saturating_add(Duration::from_nanos(START));
    loop {
        let passed = begin.elapsed();
        progress(passed);
        match time.checked_sub(passed) {
            None | Some(Duration::ZERO) => return,
            Some(left) => std::thread::sleep(left.min(LOOK)),
        }
    }
}

/// Counts until all jobs have been executed that should have been, or no further one is.
fn collect(model: &Model, boards: &mut [Board]) -> Result<(Vec<Ran>, Vec<u64>), String> {
    let mut before = Vec::new();
    let mut since = Instant::now();
    loop {
        let ran = counts(model, boards)?;
        let jobs: Vec<_> = ran.iter().map(|one| one.jobs).collect();
        let expected = expected(model, &jobs);
        if jobs != before {
            since = Instant::now();
        }
        if jobs == expected || since.elapsed() > LAST_EVENTS {
            return Ok((ran, expected));
        }
        before = jobs;
        std::thread::sleep(LOOK);
    }
}

/// Returns the counts of all boards, in the order of the model.
fn counts(model: &Model, boards: &mut [Board]) -> Result<Vec<Ran>, String> {
    let answers = Board::ask(boards, Request::Count)?;
    let all = answers.into_iter().flat_map(|answer| match answer {
        Answer::Counts(ran) => ran,
        _ => Vec::new(),
    });
    let mut by_operation: Vec<_> = vec![Ran::default(); model.operations.len()];
    for one in all {
        if let Some(index) = model.operation(&one.operation) {
            by_operation[index] = one;
        }
    }
    Ok(by_operation)
}
