//! `rt order`: test that requests are served in the order of their priorities. A timeline of
//! requests is recorded for a server and its clients, all in one process on one processor. An
//! upcall counts as an inversion if it began while a more urgent request had been sent and its
//! upcall had not begun.

mod load;

use super::scheduled;
use super::setup::{HIGH, LOWEST, Link, rt_orb};
use super::watchdog::Watchdog;
use crate::Result;
use crate::experiment::{Bound, Column, Experiment, Report, Row, Tabled};
use crate::output::Json;
use crate::peer::run_at;
use crate::progress::progress;
use clap::{Args, ValueEnum};
use load::Load;
use punctual::rt::timeline::{
    Inversion, ServedRequest, ThreadRecords, Timeline, TimelineLimits, Within, inversions,
    requests, write_chrome_trace,
};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Scheduling;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Number of requests in one stretch of the recorded timeline; it limits the memory for records.
const AT_A_TIME: u64 = 20_000;
/// Time limit of one stretch of recorded requests.
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "rt order",
    "whether requests are served in the order of their priorities",
)
.conditions(
    "{link}, {scheduling}, one processor, {low} low clients, pools choose at \
        {pool_priority}",
)
.tables(&[Tabled::listing(
    "rows",
    "upcalls that began while a more urgent request had been sent",
    "{contender}",
    &[
        Column::number("requests", "requests"),
        Column::number("of high", "high"),
        Column::number("seen sent", "sent"),
        Column::number("inversions", "inversions").rated(Bound::AtMost(0.0)),
        Column::number("high waiting", "of_high").rated(Bound::AtMost(0.0)),
        Column::micros("worst µs, high", "worst_high").decimals(1),
        Column::micros("worst µs", "worst").decimals(1),
    ],
)]);

/// Kind of threads that serve the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Serving {
    /// A lane for each priority.
    Lanes,
    /// A thread pool without lanes, whose requests wait on their connections.
    Pool,
    /// A thread pool without lanes that buffers requests.
    BufferedPool,
}

/// Options of the command `rt order`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Link over which the calls are made.
    #[arg(long, default_value = "uiop")]
    link: Link,
    /// Kinds of threads that serve the requests.
    #[arg(long, value_delimiter = ',', default_values = ["lanes", "pool", "buffered-pool"])]
    contenders: Vec<Serving>,
    /// Minimum number of requests for each kind of threads.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    requests: u64,
    /// Number of low clients, each with a priority of its own.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=64))]
    low: u16,
    /// Number of threads of the pools.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
    /// Native priority at which a pool's threads read and choose requests; the high client's is 80,
    /// those of the low ones are from 10 on. With a lower priority than the high client's, that
    /// client may send a request after another one has been chosen and before its upcall.
    #[arg(long, default_value_t = HIGH, value_parser = clap::value_parser!(i16).range(1..=i64::from(HIGH)))]
    pool_priority: i16,
    /// Microseconds from the start of a call of the high client to the start of the next; the low
    /// clients' pauses between calls vary from none to this.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pace: u64,
    /// Processor time of each upcall, in microseconds.
    #[arg(long, default_value_t = 5, value_name = "MICROSECONDS", value_parser = clap::value_parser!(u64).range(..=10_000))]
    work: u64,
    /// Schedule threads by SCHED_OTHER; CORBA priorities are only propagated.
    #[arg(long)]
    best_effort: bool,
    /// Write the first stretch of each timeline to FOLDER/order-CONTENDER.json, for ui.perfetto.dev.
    #[arg(long, value_name = "FOLDER")]
    chrome: Option<PathBuf>,
    #[command(flatten)]
    json: Json,
}

impl fmt::Display for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lanes => "lanes",
            Self::Pool => "pool",
            Self::BufferedPool => "buffered-pool",
        })
    }
}

/// Runs the command.
///
/// # Errors
/// The machine does not grant real-time priorities, a call fails, a file cannot be written, records
/// were lost, or lanes served a request before a more urgent one.
pub(super) fn run(options: &Options) -> Result<()> {
    if let Err(error) = rt_orb(options.best_effort) {
        return Err(format!("{error}; `--best-effort` runs without").into());
    }
    let settings = Row::default()
        .with("link", options.link)
        .with("scheduling", scheduled(options.best_effort))
        .with("low", options.low)
        .with("pool_priority", options.pool_priority)
        .with("pace", options.pace)
        .with("work", options.work);
    let mut report = Report::new(&EXPERIMENT, settings);
    run_at(Some(0))?;
    let watchdog = Watchdog::start(options.thread("rt-watchdog", 99))?;
    // The control thread's priority is above those of all clients.
    let control = options.thread("rt-control", 95);
    let own = options.clone();
    let rows = control.start(move || {
        let contenders = own.contenders.iter();
        contenders
            .map(|&serving| measure(&own, serving, &watchdog))
            .collect::<Result<Vec<ContenderFigures>>>()
    })?;
    let seen = rows.join().map_err(|_| "the measurement panicked")??;
    report.failed = judge(&seen, options.best_effort);
    report.add("rows", seen.iter().map(|one| one.row()));
    options.json.deliver(&report)
}

impl Options {
    fn thread(&self, name: &str, priority: i32) -> ThreadSpec {
        let spec = ThreadSpec::named(name.to_owned());
        match self.best_effort {
            true => spec,
            false => spec.scheduling(Scheduling::Fifo { priority }),
        }
    }

    /// Returns the CORBA priority of a client, given its number; number 0 is the high client.
    fn priority_of(&self, client: u16) -> i16 {
        match client.checked_sub(1) {
            None => HIGH,
            Some(low) => LOWEST.saturating_add_unsigned(low),
        }
    }
}

/// Figures of one contender; times in nanoseconds.
#[derive(Clone, Debug)]
struct ContenderFigures {
    contender: Serving,
    /// Number of requests whose upcall was recorded.
    requests: u64,
    /// Number of recorded requests of the high client.
    high: u64,
    /// Number of requests for which the time of sending was recorded besides the upcall.
    sent: u64,
    /// Number of inversions: upcalls that began while a more urgent request had been sent and its
    /// upcall had not begun.
    inversions: u64,
    /// Number of these inversions in which the waiting request was the high client's.
    of_high: u64,
    /// Longest time from reading a request of the high client to its upcall.
    worst_high: u64,
    /// Longest time from reading any request to its upcall.
    worst: u64,
    /// Number of records that were lost for lack of room.
    lost: u64,
}

impl ContenderFigures {
    fn new(contender: Serving) -> Self {
        Self {
            contender,
            requests: 0,
            high: 0,
            sent: 0,
            inversions: 0,
            of_high: 0,
            worst_high: 0,
            worst: 0,
            lost: 0,
        }
    }

    /// Adds the requests and the inversions of one stretch.
    fn add(&mut self, served: &[ServedRequest], inversions: &[Inversion]) {
        let is_high = |priority: Option<punctual::rt::Priority>| {
            priority.is_some_and(|priority| priority.get() == HIGH)
        };
        for request in served {
            let waited = request
                .upcall
                .unwrap_or_default()
                .saturating_sub(request.read);
            self.requests += 1;
            self.sent += u64::from(request.sent.is_some());
            self.worst = self.worst.max(waited);
            if is_high(request.priority) {
                self.high += 1;
                self.worst_high = self.worst_high.max(waited);
            }
        }
        let of_high = inversions.iter().filter(|one| is_high(one.waiting.1));
        self.of_high += of_high.count() as u64;
        self.inversions += inversions.len() as u64;
    }

    /// Returns the figures as a row of the report.
    fn row(&self) -> Row {
        Row::default()
            .with("contender", self.contender)
            .with("requests", self.requests)
            .with("high", self.high)
            .with("sent", self.sent)
            .with("inversions", self.inversions)
            .with("of_high", self.of_high)
            .with("worst_high", self.worst_high)
            .with("worst", self.worst)
            .with("lost", self.lost)
    }
}

/// Returns the reasons for failure: lost records, and requests that lanes served before a more
/// urgent one.
fn judge(seen: &[ContenderFigures], best_effort: bool) -> Vec<String> {
    let mut failed = Vec::new();
    for one in seen {
        if one.lost > 0 {
            failed.push(format!("{}: {} records were lost", one.contender, one.lost));
        }
        let is_to_be_in_order = one.contender == Serving::Lanes && !best_effort;
        if is_to_be_in_order && one.inversions > 0 {
            failed.push(format!(
                "{}: {} requests were served before a more urgent one",
                one.contender, one.inversions
            ));
        }
    }
    failed
}

fn measure(options: &Options, serving: Serving, watchdog: &Watchdog) -> Result<ContenderFigures> {
    watchdog.arm(LONGEST);
    let load = Load::start(options, serving)?;
    let mut row = ContenderFigures::new(serving);
    let bar = progress(usize::try_from(options.requests.div_ceil(AT_A_TIME))?);
    bar.set_message(serving.to_string());
    while row.requests < options.requests {
        watchdog.arm(LONGEST);
        let threads = stretch(&load)?;
        if row.requests == 0
            && let Some(folder) = &options.chrome
        {
            let path = folder.join(format!("order-{serving}.json"));
            write_chrome_trace(&threads, &mut std::fs::File::create(path)?)?;
        }
        let all = requests(&threads);
        let of_server: Vec<_> = all
            .into_iter()
            .filter(|request| request.upcall.is_some())
            .collect();
        row.add(&of_server, &inversions(&of_server, Within::Processor));
        row.lost += threads.iter().map(|thread| thread.lost).sum::<u64>();
        bar.inc(1);
    }
    bar.finish_and_clear();
    load.end()?;
    watchdog.disarm();
    Ok(row)
}

/// Makes some requests while a timeline is recorded; returns the timeline.
fn stretch(load: &Load) -> Result<Vec<ThreadRecords>> {
    let limits = TimelineLimits {
        records: usize::try_from(8 * AT_A_TIME)?,
        threads: 256,
        ..TimelineLimits::default()
    };
    let recording = Timeline::start(limits)?;
    load.go_on();
    while load.made() < AT_A_TIME && !load.has_failed() {
        std::thread::sleep(Duration::from_millis(1));
    }
    load.pause();
    Ok(recording.stop())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_serve_a_request_too_early_fail_the_run_and_pools_do_not() {
        let seen = |contender, inversions, lost| ContenderFigures {
            inversions,
            lost,
            ..ContenderFigures::new(contender)
        };
        let fine = [seen(Serving::Lanes, 0, 0), seen(Serving::Pool, 9, 0)];
        assert_eq!(judge(&fine, false), [""; 0]);
        let early = [seen(Serving::Lanes, 1, 0)];
        assert!(judge(&early, false)[0].contains("1 requests were served"));
        assert_eq!(judge(&early, true), [""; 0]);
        let lost = [seen(Serving::BufferedPool, 0, 3)];
        assert!(judge(&lost, true)[0].contains("3 records were lost"));
    }
}
