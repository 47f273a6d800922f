//! `rt order`: test that requests are served in the order of their priorities. A timeline of
//! requests is recorded of a server and its clients, all in one process on one processor. Each
//! upcall is counted that began while a more urgent request had been sent but not begun.

mod load;
mod report;

use super::setup::{HIGH, LOWEST, Link, rt_orb};
use super::watchdog::Watchdog;
use super::{scheduled, verdict_of};
use crate::Result;
use crate::machine::Machine;
use crate::output::{Json, progress};
use crate::peer::run_at;
use clap::{Args, ValueEnum};
use load::Load;
use punctual::rt::timeline::{
    ThreadRecords, Timeline, TimelineLimits, Within, inversions, requests, write_chrome_trace,
};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Scheduling;
use report::{Report, Row};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Number of requests whose timeline is recorded at a time, so that it takes little memory.
const AT_A_TIME: u64 = 20_000;
/// Time limit of a stretch.
const LONGEST: Duration = Duration::from_secs(60);

/// Threads that serve the requests.
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

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Link of the calls.
    #[arg(long, default_value = "uiop")]
    link: Link,
    /// Threads that serve the requests.
    #[arg(long, value_delimiter = ',', default_values = ["lanes", "pool", "buffered-pool"])]
    contenders: Vec<Serving>,
    /// Least number of requests for each.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    requests: u64,
    /// Low clients, each of another priority.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=64))]
    low: u16,
    /// Threads of the pools.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
    /// Native priority at which a pool's threads read and choose; the high client's is 80, those of
    /// the low ones are from 10 on. Below the high client's, that client may send between a choice
    /// and the upcall.
    #[arg(long, default_value_t = HIGH, value_parser = clap::value_parser!(i16).range(1..=i64::from(HIGH)))]
    pool_priority: i16,
    /// Microseconds from a call of the high client to the next; low clients rest between calls for
    /// a time from none to this.
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
/// The machine does not grant real-time priorities, a call fails, a file cannot be written, or
/// lanes or a pool that buffers served a request before a more urgent one.
pub(super) fn run(options: &Options) -> Result<()> {
    if let Err(error) = rt_orb(options.best_effort) {
        return Err(format!("{error}; `--best-effort` runs without").into());
    }
    let machine = Machine::this();
    run_at(Some(0))?;
    let watchdog = Watchdog::start(options.thread("rt-watchdog", 99))?;
    let mut report = Report {
        machine,
        link: options.link,
        scheduling: scheduled(options.best_effort),
        low: options.low,
        pool_priority: options.pool_priority,
        pace: options.pace,
        work: options.work,
        rows: Vec::new(),
        failed: Vec::new(),
    };
    // The control thread's priority is above those of all clients.
    let control = options.thread("rt-control", 95);
    let own = options.clone();
    let rows = control.start(move || {
        let contenders = own.contenders.iter();
        contenders
            .map(|&serving| measure(&own, serving, &watchdog))
            .collect::<Result<Vec<Row>>>()
    })?;
    report.rows = rows.join().map_err(|_| "the measurement panicked")??;
    report.judge(options.best_effort);
    options.json.show(&report)?;
    verdict_of(&report.failed)
}

impl Options {
    fn thread(&self, name: &str, priority: i32) -> ThreadSpec {
        let spec = ThreadSpec::named(name.to_owned());
        match self.best_effort {
            true => spec,
            false => spec.scheduling(Scheduling::Fifo { priority }),
        }
    }

    /// Returns the priority of a client: the high one is 0.
    fn priority_of(&self, client: u16) -> i16 {
        match client.checked_sub(1) {
            None => HIGH,
            Some(low) => LOWEST.saturating_add_unsigned(low),
        }
    }
}

fn measure(options: &Options, serving: Serving, watchdog: &Watchdog) -> Result<Row> {
    watchdog.arm(LONGEST);
    let load = Load::start(options, serving)?;
    let mut row = Row::new(serving);
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

/// Records a timeline of some requests.
fn stretch(load: &Load) -> Result<Vec<ThreadRecords>> {
    let limits = TimelineLimits {
        records: usize::try_from(8 * AT_A_TIME)?,
        threads: 256,
    };
    let recording = Timeline::start(limits)?;
    load.go_on();
    while load.made() < AT_A_TIME && !load.has_failed() {
        std::thread::sleep(Duration::from_millis(1));
    }
    load.pause();
    Ok(recording.stop())
}
