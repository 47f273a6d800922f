//! Figures of `rt latency`, as a table for people and as JSON.

use super::goals::{Judged, Verdict, judge};
use super::setup::{Contender, Link};
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::{Figures, Record, paired_ratio};
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// Spread of the rounds' medians above which figures are not to be trusted.
const NOISY: f64 = 0.10;

/// Results of one run; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) machine: Machine,
    pub(super) link: Link,
    /// Scheduling of the threads, in words.
    pub(super) scheduling: &'static str,
    /// Number of low clients.
    pub(super) low: u16,
    /// Upper bound of the high client's calls in a round.
    pub(super) calls: u32,
    /// Microseconds from a call of the high client to the next.
    pub(super) pace: u64,
    pub(super) rounds: u32,
    /// Processor time of an upcall, in microseconds.
    pub(super) work: u64,
    /// Native priority of a pool's threads between upcalls.
    pub(super) pool_priority: i16,
    pub(super) skipped: Vec<String>,
    pub(super) failed: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) goals: Vec<Judged>,
}

/// One contender at one placement.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) placement: Placement,
    pub(super) contender: Contender,
    pub(super) alone: Option<Run>,
    pub(super) loaded: Option<Run>,
    /// Ratio of the loaded times to the times alone.
    pub(super) beside_alone: Shares,
    /// Ratios to the floor's times, both alone and both loaded.
    pub(super) alone_beside_floor: Option<Shares>,
    pub(super) loaded_beside_floor: Option<Shares>,
    /// Calls per second of the low clients.
    pub(super) low_rate: Option<f64>,
    /// Ratio of that rate to the floor's.
    pub(super) low_beside_floor: Option<f64>,
}

/// Times of the high client.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Run {
    #[serde(flatten)]
    pub(super) figures: Figures,
    pub(super) p90: u64,
    /// Points of the plot: for each number, the least time of the slowest call in so many.
    #[serde(skip)]
    pub(super) one_in: Vec<(u32, u64)>,
}

/// Ratios of times: the median of the rounds' ratios, and for p99.9, of which a round has too few
/// samples, the ratio of all rounds together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Shares {
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) p999: Option<f64>,
}

impl Run {
    /// Returns the times of all rounds; `None` if there was none.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let figures = record.figures()?;
        // From all calls to the slowest, in steps of about 1.26.
        let steps = (0..).map(|step| 10_f64.powf(f64::from(step) / 10.0));
        #[allow(clippy::cast_precision_loss)]
        let steps = steps.take_while(|one_in| *one_in <= figures.samples as f64);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let point = |one_in: f64| (one_in.round() as u32, record.quantile(1.0 - 1.0 / one_in));
        Some(Self {
            figures,
            p90: record.quantile(0.9),
            one_in: steps.map(point).collect(),
        })
    }
}

impl Shares {
    /// Returns the ratios of one record to the other.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn of(one: &Record, other: &Record) -> Self {
        let p999 = || Some((one.figures()?.p999 as f64, other.figures()?.p999 as f64));
        Self {
            p50: paired_ratio(one.medians(), other.medians()),
            p99: paired_ratio(one.p99s(), other.p99s()),
            p999: p999().map(|(one, other)| one / other),
        }
    }
}

impl Row {
    /// Returns whether the rounds lie too far apart.
    pub(super) fn is_noisy(&self) -> bool {
        let runs = [&self.alone, &self.loaded];
        let mut runs = runs.into_iter().flatten();
        runs.any(|run| run.figures.spread > NOISY)
    }
}

impl Report {
    /// Judges the figures by the goals.
    pub(super) fn judge(&mut self, best_effort: bool) {
        self.goals = judge(&self.rows, best_effort);
    }

    fn times(&self, placement: Placement) -> Table {
        let columns = [
            "calls",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "max",
            "p50/alone",
            "p99",
            "p99.9",
            "p50/floor",
            "p99",
            "p99.9",
            "low calls/s",
            "/floor",
        ];
        let mut rows = Vec::new();
        for row in self.rows.iter().filter(|row| row.placement == placement) {
            let alone = times(row.alone.as_ref());
            let alone = alone.chain([Cell::none(), Cell::none(), Cell::none()]);
            let alone = alone.chain(shares(row.alone_beside_floor));
            rows.push((format!("{} alone", row.contender), alone.collect()));
            let loaded = times(row.loaded.as_ref()).chain(shares(Some(row.beside_alone)));
            let loaded = loaded
                .chain(shares(row.loaded_beside_floor))
                .chain([number(row.low_rate, 0), number(row.low_beside_floor, 2)]);
            rows.push((format!("{} loaded", row.contender), loaded.collect()));
        }
        Table {
            title: format!("{placement}: the high client's calls, µs"),
            columns: columns.map(str::to_owned).to_vec(),
            rows,
        }
    }

    fn judged(&self) -> Table {
        let row = |one: &Judged| {
            let tone = match one.verdict {
                Verdict::Met => Tone::Good,
                Verdict::Missed => Tone::Bad,
                Verdict::NotJudged => Tone::Faint,
            };
            let mark = if one.noisy { " !" } else { "" };
            let cells = vec![
                Cell::new(one.bound.to_string(), Tone::Plain),
                number(one.reached, 2),
                Cell::new(format!("{}{mark}", one.verdict), tone),
            ];
            (format!("{}: {}", one.placement, one.what), cells)
        };
        Table {
            title: "goals of lanes (!: rounds lay more than 10 % apart)".to_owned(),
            columns: ["goal", "reached", ""].map(str::to_owned).to_vec(),
            rows: self.goals.iter().map(row).collect(),
        }
    }
}

fn times(run: Option<&Run>) -> impl Iterator<Item = Cell> {
    let cells: Vec<Cell> = match run {
        None => vec![Cell::none(); 6],
        Some(run) => {
            let figures = &run.figures;
            let tone = if figures.spread > NOISY {
                Tone::Doubtful
            } else {
                Tone::Plain
            };
            let micros = [figures.p50, run.p90, figures.p99, figures.p999, figures.max];
            let calls = Cell::new(figures.samples.to_string(), Tone::Faint);
            let cells = micros.map(|nanoseconds| Cell::new(micros_of(nanoseconds), tone));
            [calls].into_iter().chain(cells).collect()
        }
    };
    cells.into_iter()
}

#[allow(clippy::cast_precision_loss)]
fn micros_of(nanoseconds: u64) -> String {
    format!("{:.1}", nanoseconds as f64 / 1000.0)
}

fn shares(shares: Option<Shares>) -> impl Iterator<Item = Cell> {
    let parts = shares.map_or([None; 3], |shares| [shares.p50, shares.p99, shares.p999]);
    parts.into_iter().map(|part| number(part, 2))
}

/// Formats a value with so many decimals.
pub(super) fn number(value: Option<f64>, decimals: usize) -> Cell {
    value.map_or_else(Cell::none, |value| {
        Cell::new(format!("{value:.decimals$}"), Tone::Plain)
    })
}

/// Writes what was skipped and what failed.
pub(super) fn remarks(
    f: &mut fmt::Formatter<'_>,
    skipped: &[String],
    failed: &[String],
) -> fmt::Result {
    for reason in skipped {
        writeln!(f, "left out: {reason}")?;
    }
    for reason in failed {
        writeln!(f, "failed: {reason}")?;
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        writeln!(
            f,
            "{}, {}: a call each {} µs beside {} low clients, {} rounds, upcalls of {} µs; a pool's threads at {}",
            self.link,
            self.scheduling,
            self.pace,
            self.low,
            self.rounds,
            self.work,
            self.pool_priority
        )?;
        for placement in [Placement::Same, Placement::Cross] {
            if self.rows.iter().any(|row| row.placement == placement) {
                writeln!(f, "\n{}", self.times(placement))?;
            }
        }
        writeln!(f, "{}", self.judged())?;
        remarks(f, &self.skipped, &self.failed)
    }
}
