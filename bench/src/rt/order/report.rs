//! Figures of `rt order`.

use super::Serving;
use crate::machine::Machine;
use crate::rt::setup::{HIGH, Link};
use crate::table::{Cell, Table, Tone};
use punctual::rt::timeline::{Inversion, ServedRequest};
use serde::Serialize;
use std::fmt;

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) machine: Machine,
    pub(super) link: Link,
    pub(super) scheduling: &'static str,
    pub(super) low: u16,
    /// Native priority at which a pool's threads read and choose.
    pub(super) pool_priority: i16,
    /// Microseconds from a call of the high client to the next.
    pub(super) pace: u64,
    /// Processor time of an upcall, in microseconds.
    pub(super) work: u64,
    pub(super) rows: Vec<Row>,
    pub(super) failed: Vec<String>,
}

/// Row of one contender; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) contender: Serving,
    /// Number of requests whose upcall was recorded.
    pub(super) requests: u64,
    /// Number of those that are the high client's.
    pub(super) high: u64,
    /// Number of those with a record of when they were sent.
    pub(super) sent: u64,
    /// Number of upcalls that began while a more urgent request had been sent but not begun.
    pub(super) inversions: u64,
    /// Number of those during which the high client's request waited.
    pub(super) of_high: u64,
    /// Longest time from reading a request of the high client to its upcall.
    pub(super) worst_high: u64,
    /// Longest time from reading any request to its upcall.
    pub(super) worst: u64,
    /// Number of records for which there was no room.
    pub(super) lost: u64,
}

impl Row {
    pub(super) fn new(contender: Serving) -> Self {
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

    /// Adds a stretch.
    pub(super) fn add(&mut self, served: &[ServedRequest], inversions: &[Inversion]) {
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
}

impl Report {
    /// Records the figures that miss their bounds.
    pub(super) fn judge(&mut self, best_effort: bool) {
        for row in &self.rows {
            if row.lost > 0 {
                self.failed
                    .push(format!("{}: {} records were lost", row.contender, row.lost));
            }
            let is_to_be_in_order = row.contender == Serving::Lanes && !best_effort;
            if is_to_be_in_order && row.inversions > 0 {
                self.failed.push(format!(
                    "{}: {} requests were served before a more urgent one",
                    row.contender, row.inversions
                ));
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        let columns = [
            "requests",
            "of high",
            "seen sent",
            "inversions",
            "high waiting",
            "worst µs, high",
            "worst µs",
        ];
        let micros = |nanos: u64| format!("{}.{}", nanos / 1000, nanos % 1000 / 100);
        let row = |row: &Row| {
            let tone = match row.inversions {
                0 => Tone::Good,
                _ => Tone::Plain,
            };
            let cells = vec![
                Cell::new(row.requests.to_string(), Tone::Plain),
                Cell::new(row.high.to_string(), Tone::Plain),
                Cell::new(row.sent.to_string(), Tone::Plain),
                Cell::new(row.inversions.to_string(), tone),
                Cell::new(row.of_high.to_string(), tone),
                Cell::new(micros(row.worst_high), Tone::Plain),
                Cell::new(micros(row.worst), Tone::Plain),
            ];
            (row.contender.to_string(), cells)
        };
        let table = Table {
            title: format!(
                "upcalls that began while a more urgent request had been sent ({}, {}, one processor, {} low clients, pools choose at {})",
                self.link, self.scheduling, self.low, self.pool_priority
            ),
            columns: columns.map(str::to_owned).to_vec(),
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
    fn lanes_that_serve_a_request_too_early_fail_the_run_and_pools_do_not() {
        let row = |contender, inversions, lost| Row {
            inversions,
            lost,
            ..Row::new(contender)
        };
        let judged = |rows: &[Row], best_effort| {
            let mut report = Report {
                machine: Machine::this(),
                link: Link::Uiop,
                scheduling: "SCHED_FIFO",
                low: 1,
                pool_priority: HIGH,
                pace: 1,
                work: 0,
                rows: rows.to_vec(),
                failed: Vec::new(),
            };
            report.judge(best_effort);
            report.failed
        };
        let fine = [row(Serving::Lanes, 0, 0), row(Serving::Pool, 9, 0)];
        assert_eq!(judged(&fine, false), [""; 0]);
        let early = [row(Serving::Lanes, 1, 0)];
        assert!(judged(&early, false)[0].contains("1 requests were served"));
        assert_eq!(judged(&early, true), [""; 0]);
        let lost = [row(Serving::BufferedPool, 0, 3)];
        assert!(judged(&lost, true)[0].contains("3 records were lost"));
    }
}
