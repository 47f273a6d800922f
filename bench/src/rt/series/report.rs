//! Figures of an experiment over the number of low clients, as a table for people and as JSON.

use crate::machine::Machine;
use crate::placement::Placement;
use crate::rt::report::{number, remarks};
use crate::rt::setup::{Contender, Link};
use crate::statistics::Moments;
use crate::table::Table;
use serde::Serialize;
use std::fmt;

/// Results of one run; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub(in crate::rt) struct Report {
    pub(in crate::rt) machine: Machine,
    pub(in crate::rt) experiment: &'static str,
    pub(in crate::rt) link: Link,
    /// Scheduling of the threads, in words.
    pub(in crate::rt) scheduling: &'static str,
    /// Calls of the high client, for each number of low ones in a round.
    pub(in crate::rt) calls: u32,
    pub(in crate::rt) rounds: u32,
    /// Processor time of an upcall, in microseconds.
    pub(in crate::rt) work: u64,
    pub(in crate::rt) skipped: Vec<String>,
    pub(in crate::rt) failed: Vec<String>,
    pub(in crate::rt) rows: Vec<Row>,
}

/// Contender beside a number of low clients.
#[derive(Clone, Debug, Serialize)]
pub(in crate::rt) struct Row {
    pub(in crate::rt) placement: Placement,
    pub(in crate::rt) contender: Contender,
    /// Number of low clients.
    pub(in crate::rt) low: u16,
    pub(in crate::rt) high: Times,
    /// Times of all low clients together; `None` where they made no calls.
    pub(in crate::rt) low_ones: Option<Times>,
}

/// Times of calls.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::rt) struct Times {
    pub(in crate::rt) calls: u64,
    pub(in crate::rt) mean: f64,
    /// Standard deviation of the times.
    pub(in crate::rt) jitter: f64,
}

impl Times {
    /// Returns the times; `None` without calls.
    pub(in crate::rt) fn of(moments: Moments) -> Option<Self> {
        Some(Self {
            calls: moments.calls,
            mean: moments.mean()?,
            jitter: moments.deviation()?,
        })
    }
}

impl Report {
    fn table(&self, placement: Placement) -> Table {
        let micros = |time: Option<f64>| number(time.map(|time| time / 1000.0), 1);
        #[allow(clippy::cast_precision_loss)]
        let row = |row: &Row| {
            let low = row.low_ones;
            let cells = vec![
                micros(Some(row.high.mean)),
                micros(Some(row.high.jitter)),
                number(Some(row.high.calls as f64), 0),
                micros(low.map(|low| low.mean)),
                micros(low.map(|low| low.jitter)),
                number(low.map(|low| low.calls as f64), 0),
            ];
            (format!("{} {}", row.low, row.contender), cells)
        };
        let columns = [
            "high: mean",
            "jitter",
            "calls",
            "low: mean",
            "jitter",
            "calls",
        ];
        let rows = self.rows.iter().filter(|row| row.placement == placement);
        Table {
            title: format!("{placement}: by low clients; µs"),
            columns: columns.map(str::to_owned).to_vec(),
            rows: rows.map(row).collect(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        writeln!(
            f,
            "{}, {}, {}: {} calls of the high client at full load in each of {} rounds, upcalls of {} µs; jitter is the standard deviation",
            self.experiment, self.link, self.scheduling, self.calls, self.rounds, self.work
        )?;
        for placement in [Placement::Same, Placement::Cross] {
            if self.rows.iter().any(|row| row.placement == placement) {
                writeln!(f, "\n{}", self.table(placement))?;
            }
        }
        remarks(f, &self.skipped, &self.failed)
    }
}
