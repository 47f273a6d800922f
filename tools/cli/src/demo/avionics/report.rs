//! Planned beside measured.

use super::flight::Flown;
use super::protocol::Ran;
use anstyle::{AnsiColor, Style};
use punctual_scheduling::{Level, Time};
use punctual_scheduling_runtime::{Activity, Schedule};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Report of a run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// No operation of high or very high criticality missed a deadline or lost an event.
    pub(super) is_as_required: bool,
    /// The kernel scheduled by the plan's priorities.
    is_real_time: bool,
    /// Number of processors of this machine that the boards had.
    processors: usize,
    /// Number of boards.
    boards: usize,
    rates: Vec<Rate>,
    operations: Vec<Row>,
}

/// Operation as it was planned, and as it ran. Times are in nanoseconds.
#[derive(Debug, Serialize)]
struct Row {
    board: String,
    criticality: Level,
    period: Time,
    wcet: Time,
    /// Computed worst-case response time, from the release of the chain.
    computed: Option<Time>,
    deadline: Time,
    #[serde(flatten)]
    ran: Ran,
    /// Jobs whose event did not arrive, or that a conjunction united with the one before, as its suppliers ran apart.
    lost: u64,
}

/// All operations of a rate and criticality.
#[derive(Debug, Serialize)]
struct Rate {
    hertz: u64,
    criticality: Level,
    jobs: u64,
    missed: u64,
    lost: u64,
}

impl Report {
    /// Makes the report of a run of these boards.
    pub(super) fn new(schedules: &[Arc<Schedule>], flown: &Flown) -> Self {
        let rows = flown.ran.iter().zip(&flown.expected);
        let rows = rows.filter_map(|(ran, expected)| row(schedules, ran, *expected));
        let operations: Vec<_> = rows.collect();
        let is_kept = |row: &Row| row.criticality < Level::High || row.missed_or_lost() == 0;
        Self {
            is_as_required: operations.iter().all(is_kept),
            is_real_time: flown.is_real_time,
            processors: flown.processors,
            boards: schedules.len(),
            rates: rates(&operations),
            operations,
        }
    }

    /// Prints the report for people.
    pub(super) fn print(&self) {
        anstream::println!("{BOLD}{}{BOLD:#}", HEAD.join(" "));
        for row in &self.operations {
            let style = if row.missed_or_lost() > 0 {
                BAD
            } else {
                Style::new()
            };
            anstream::println!("{style}{}{style:#}", row.line());
        }
        println!();
        for rate in &self.rates {
            println!(
                "{:>3} Hz {:<9} {:>7} jobs, {} missed their deadline, {} lost",
                rate.hertz, rate.criticality, rate.jobs, rate.missed, rate.lost
            );
        }
        println!("\n{}", self.verdict());
    }

    /// Returns what the priorities and processors of the run were.
    fn verdict(&self) -> String {
        let priorities = match self.is_real_time {
            true => "with SCHED_FIFO",
            false => "without real-time priorities, so that the proof does not hold for this run",
        };
        let shared = match self.processors < self.boards {
            true => format!(
                "; {} boards shared {} processors, which the plan does not have",
                self.boards, self.processors
            ),
            false => String::new(),
        };
        let kept = match self.is_as_required {
            true => "all deadlines of high criticality were met",
            false => "deadlines of high criticality were missed",
        };
        format!("{kept}, {priorities}{shared}")
    }
}

const BOLD: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

const HEAD: [&str; 11] = [
    "operation       ",
    "board  ",
    "  Hz",
    "criticality",
    "computed",
    "deadline",
    "   jobs",
    "     p50",
    "     p99",
    "     max",
    "missed  lost timeouts",
];

impl Row {
    fn missed_or_lost(&self) -> u64 {
        self.ran.missed.saturating_add(self.lost)
    }

    fn line(&self) -> String {
        let time = |nanos| shown(Time::from_nanos(nanos));
        format!(
            "{:<16} {:<7} {:>4} {:<11} {:>8} {:>8} {:>7} {:>8} {:>8} {:>8} {:>6} {:>5} {:>8}",
            self.ran.operation,
            self.board,
            hertz(self.period),
            self.criticality,
            self.computed.map_or("-".to_owned(), shown),
            shown(self.deadline),
            self.ran.jobs,
            time(self.ran.p50),
            time(self.ran.p99),
            time(self.ran.max),
            self.ran.missed,
            self.lost,
            self.ran.timeouts,
        )
    }
}

fn row(schedules: &[Arc<Schedule>], ran: &Ran, expected: u64) -> Option<Row> {
    let found = |schedule: &Arc<Schedule>| -> Option<(String, Arc<Activity>)> {
        let activity = schedule.activity(&ran.operation).ok()?;
        Some((schedule.host().to_owned(), activity))
    };
    let (board, activity) = schedules.iter().find_map(found)?;
    Some(Row {
        board,
        criticality: activity.criticality(),
        period: activity.period(),
        wcet: activity.wcet(),
        computed: activity.response(),
        deadline: activity.deadline(),
        lost: expected.saturating_sub(ran.jobs),
        ran: ran.clone(),
    })
}

/// Returns the sums of each rate and criticality, the fastest first.
fn rates(rows: &[Row]) -> Vec<Rate> {
    let mut sums: BTreeMap<(u64, Level), Rate> = BTreeMap::new();
    for row in rows {
        let (hertz, criticality) = (hertz(row.period), row.criticality);
        let sum = sums.entry((hertz, criticality)).or_insert(Rate {
            hertz,
            criticality,
            jobs: 0,
            missed: 0,
            lost: 0,
        });
        sum.jobs += row.ran.jobs;
        sum.missed += row.ran.missed;
        sum.lost += row.lost;
    }
    sums.into_values().rev().collect()
}

/// Returns the rate of a period, rounded.
fn hertz(period: Time) -> u64 {
    let nanos = period.as_nanos().max(1);
    (1_000_000_000 + nanos / 2) / nanos
}

/// Returns a time in milliseconds, for people.
fn shown(time: Time) -> String {
    let micros = time.as_nanos().div_ceil(1_000);
    format!("{}.{:02}ms", micros / 1_000, micros % 1_000 / 10)
}
