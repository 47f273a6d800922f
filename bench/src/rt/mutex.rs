//! `rt mutex`: three-thread inversion test of locks. On one processor an ordinary thread (*low*)
//! holds a lock and is in the middle of its critical section when an urgent one (*high*) wants the
//! lock, and one in between (*medium*), which wants no lock, begins to compute for much longer. The
//! figure is how long high waits.
//!
//! With a lock that inherits priorities, or has a priority ceiling, high waits for the rest of the
//! critical section; with a plain one for medium, too.

use super::setup::{HIGH, LOWEST, corba, rt_orb};
use super::watchdog::Watchdog;
use super::{verdict_of, work};
use crate::Result;
use crate::machine::Machine;
use crate::output::Json;
use crate::peer::{nanoseconds_since, run_at};
use crate::statistics::{Figures, Record};
use crate::table::{Cell, Table, Tone};
use clap::Args;
use punctual::rt::RtMutex;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Scheduling;
use serde::Serialize;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Native priority between [`LOWEST`] and [`HIGH`].
const MEDIUM: i32 = 40;
/// Time limit of a contender.
const LONGEST: Duration = Duration::from_secs(60);

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processor time of the critical section, in microseconds; high comes when half of it is over.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    section: u64,
    /// Processor time of the thread in between, in microseconds.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    medium: u64,
    /// Number of times that high wants each lock.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    rounds: u32,
    #[command(flatten)]
    json: Json,
}

/// Results of one run; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
struct Report {
    machine: Machine,
    /// Length of the critical section, in microseconds.
    section: u64,
    /// Processor time of the thread in between, in microseconds.
    medium: u64,
    rows: Vec<Row>,
    failed: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    lock: &'static str,
    /// Time from when low lets high go on until high has the lock.
    wait: Figures,
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
    let mut report = Report {
        machine: Machine::this(),
        section: options.section,
        medium: options.medium,
        rows: Vec::new(),
        failed: Vec::new(),
    };
    for (name, lock) in locks {
        watchdog.arm(LONGEST);
        let mut record = Record::default();
        record.add_round(&waits(&lock, options)?);
        let wait = record.figures().ok_or("high never had the lock")?;
        report.rows.push(Row { lock: name, wait });
    }
    watchdog.disarm();
    report.judge();
    options.json.show(&report)?;
    verdict_of(&report.failed)
}

fn thread(name: &str, priority: i32) -> ThreadSpec {
    ThreadSpec::named(name.to_owned()).scheduling(Scheduling::Fifo { priority })
}

/// Returns the time that high waits, in each round.
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

/// Makes the threads do each round, and waits until all have done it.
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

/// Calls `each` for every message, until the sender is gone.
fn for_each<T>(told: &Receiver<T>, mut each: impl FnMut(T) -> Result<()>) -> Result<()> {
    while let Ok(one) = told.recv() {
        each(one)?;
    }
    Ok(())
}

impl Report {
    /// Records the figures that miss their bounds.
    fn judge(&mut self) {
        for row in self.rows.iter().filter(|row| row.lock != "plain") {
            if row.wait.p99 > self.section * 1_000 {
                self.failed.push(format!(
                    "{}: the urgent thread waited for more than the critical section",
                    row.lock
                ));
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        let micros = |nanos: u64| format!("{}.{}", nanos / 1000, nanos % 1000 / 100);
        let row = |row: &Row| {
            let tone = match row.wait.p99 <= self.section * 1_000 {
                true => Tone::Good,
                false => Tone::Plain,
            };
            let times = [row.wait.p50, row.wait.p99, row.wait.max];
            let cells = times.map(|time| Cell::new(micros(time), tone)).to_vec();
            (row.lock.to_owned(), cells)
        };
        let table = Table {
            title: format!(
                "µs that an urgent thread waits for a lock of whose section ({} µs) half is over, while one in between \
                 computes for {} µs (SCHED_FIFO, one processor)",
                self.section, self.medium
            ),
            columns: ["median", "p99", "max"].map(str::to_owned).to_vec(),
            rows: self.rows.iter().map(row).collect(),
        };
        write!(f, "{table}")?;
        self.failed
            .iter()
            .try_for_each(|line| writeln!(f, "{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_time_lock_whose_waiters_wait_for_more_than_the_section_fails_the_run() {
        let row = |lock, p99| {
            let mut record = Record::default();
            record.add_round(&[p99]);
            let wait = record.figures().unwrap();
            Row { lock, wait }
        };
        let mut report = Report {
            machine: Machine::this(),
            section: 100,
            medium: 1_000,
            rows: vec![
                row("plain", 900_000),
                row("inherits", 90_000),
                row("ceiling", 200_000),
            ],
            failed: Vec::new(),
        };
        report.judge();
        assert_eq!(report.failed.len(), 1);
        assert!(report.failed[0].starts_with("ceiling:"));
    }
}
