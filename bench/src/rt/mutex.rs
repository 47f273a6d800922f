//! `rt mutex`: three-thread inversion test of locks. On one processor an ordinary thread (*low*)
//! holds a lock and is in the middle of its critical section when an urgent one (*high*) wants the
//! lock, and one in between (*medium*), which wants no lock, begins to compute for much longer. The
//! figure is how long high waits.
//!
//! With a lock that inherits priorities, or has a priority ceiling, high waits for the rest of the
//! critical section; with a plain one for medium, too.

use super::setup::{HIGH, LOWEST, corba, rt_orb};
use super::watchdog::Watchdog;
use super::work;
use crate::Result;
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::output::Json;
use crate::peer::{nanoseconds_since, run_at};
use crate::statistics::{Figures, Record};
use clap::Args;
use punctual::rt::RtMutex;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Scheduling;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Native priority of the medium thread, between [`LOWEST`] and [`HIGH`].
const MEDIUM: i32 = 40;
/// Time limit for the measurement of one lock.
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "rt mutex",
    "how long an urgent thread waits for a lock while one in between computes",
)
.conditions("SCHED_FIFO, one processor")
.tables(&[Tabled::listing(
    "rows",
    "µs that an urgent thread waits for a lock of whose section ({section} \
        µs) half is over, while one in between computes for {medium} µs",
    "{lock}",
    &[
        Column::micros("median", "wait.p50").decimals(1),
        Column::micros("p99", "wait.p99").decimals(1),
        Column::micros("max", "wait.max").decimals(1),
        Column::text("p99 within the section", "within"),
    ],
)]);

/// Options of the command `rt mutex`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processor time of the critical section, in microseconds; high comes when half of it is over.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    section: u64,
    /// Processor time of the thread in between, in microseconds.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    medium: u64,
    /// Number of times that the high thread acquires each lock.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    rounds: u32,
    #[command(flatten)]
    json: Json,
}

/// Kind of lock.
#[derive(Clone)]
enum Lock {
    Plain(Arc<Mutex<()>>),
    Real(Arc<RtMutex>),
}

impl Lock {
    fn during(&self, section: impl FnOnce() -> Result<()>) -> Result<()> {
        match self {
            Self::Plain(mutex) => {
                let _locked = mutex.lock().map_err(|_| "another thread has panicked")?;
                section()
            }
            Self::Real(mutex) => {
                let _locked = mutex.lock()?;
                section()
            }
        }
    }
}

/// Runs the command.
///
/// # Errors
/// The machine does not grant real-time priorities, a file cannot be written, or the urgent thread
/// waited for a real-time lock for longer than the critical section in a hundredth of the rounds.
pub(super) fn run(options: &Options) -> Result<()> {
    let settings = Row::default()
        .with("section", options.section)
        .with("medium", options.medium);
    let mut report = Report::new(&EXPERIMENT, settings);
    let rt = rt_orb(false)?;
    run_at(Some(0))?;
    let watchdog = Watchdog::start(thread("rt-watchdog", 99))?;
    let locks = [
        ("plain", Lock::Plain(Arc::default())),
        ("inherits", Lock::Real(Arc::new(rt.create_mutex()))),
        (
            "ceiling",
            Lock::Real(Arc::new(rt.create_mutex_with_ceiling(corba(HIGH)?)?)),
        ),
    ];
    for (name, lock) in locks {
        watchdog.arm(LONGEST);
        let mut record = Record::default();
        record.add_round(&waits(&lock, options)?);
        let wait = record.figures().ok_or("high never had the lock")?;
        add(&mut report, name, &wait, options.section);
    }
    watchdog.disarm();
    options.json.deliver(&report)
}

/// Adds a lock's figures to the report. A failure is recorded if the urgent thread waited for a
/// real-time lock for longer than the critical section of `section` microseconds.
fn add(report: &mut Report, lock: &str, wait: &Figures, section: u64) {
    let wait_of_high = Row::default().with_figures(wait);
    let within = wait.p99 <= section * 1_000;
    let row = Row::default()
        .with("lock", lock)
        .with("wait", wait_of_high)
        .with("within", within);
    report.add("rows", [row]);
    if !within && lock != "plain" {
        report.failed.push(format!(
            "{lock}: the urgent thread waited for more than the critical section"
        ));
    }
}

fn thread(name: &str, priority: i32) -> ThreadSpec {
    ThreadSpec::named(name.to_owned()).scheduling(Scheduling::Fifo { priority })
}

/// Returns the time that the high thread waits, in each round.
fn waits(lock: &Lock, options: &Options) -> Result<Vec<u64>> {
    let half = Duration::from_micros(options.section) / 2;
    let computes = Duration::from_micros(options.medium);
    let (go, goes) = channel::<()>();
    let (let_high, high_may) = channel::<Instant>();
    let (let_medium, medium_may) = channel::<()>();
    let (has_had, had) = channel::<u64>();
    let (record_done, done) = channel::<()>();

    let (of_low, low_done) = (lock.clone(), record_done.clone());
    let low = thread("rt-low", i32::from(LOWEST)).start(move || {
        for_each(&goes, |()| {
            of_low.during(|| {
                work::busy(half);
                // High runs at once, unless low has the ceiling, and medium runs when high waits.
                let_high.send(Instant::now())?;
                work::busy(half);
                Ok(())
            })?;
            Ok(low_done.send(())?)
        })
    })?;
    let of_high = lock.clone();
    let high = thread("rt-high", i32::from(HIGH)).start(move || {
        for_each(&high_may, |since| {
            let_medium.send(())?;
            let mut waited = 0;
            of_high.during(|| {
                waited = nanoseconds_since(since);
                Ok(())
            })?;
            Ok(has_had.send(waited)?)
        })
    })?;
    let medium = thread("rt-medium", MEDIUM).start(move || {
        for_each(&medium_may, |()| {
            work::busy(computes);
            Ok(record_done.send(())?)
        })
    })?;
    let waits = rounds(options.rounds, (&go, &had, &done));
    // Each thread ends once the one before it has gone.
    drop(go);
    for thread in [low, high, medium] {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    Ok(waits?)
}

/// Makes the threads perform the given number of rounds, and waits until they have finished each;
/// returns the times that the high thread waited.
fn rounds(
    rounds: u32,
    (go, had, done): (&Sender<()>, &Receiver<u64>, &Receiver<()>),
) -> std::result::Result<Vec<u64>, RecvError> {
    let mut waits = Vec::new();
    for _ in 0..rounds {
        if go.send(()).is_err() {
            return Err(RecvError);
        }
        waits.push(had.recv()?);
        // Low and medium.
        done.recv()?;
        done.recv()?;
    }
    Ok(waits)
}

/// Calls `each` for every message, until the channel is closed.
fn for_each<T>(told: &Receiver<T>, mut each: impl FnMut(T) -> Result<()>) -> Result<()> {
    while let Ok(one) = told.recv() {
        each(one)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_time_lock_whose_waiters_wait_for_more_than_the_section_fails_the_run() {
        let mut report = Report::new(&EXPERIMENT, Row::default());
        for (lock, p99) in [
            ("plain", 900_000),
            ("inherits", 90_000),
            ("ceiling", 200_000),
        ] {
            let mut record = Record::default();
            record.add_round(&[p99]);
            add(&mut report, lock, &record.figures().unwrap(), 100);
        }
        assert_eq!(report.failed.len(), 1);
        assert!(report.failed[0].starts_with("ceiling:"));
    }
}
