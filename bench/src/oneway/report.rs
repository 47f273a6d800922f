//! The figures, as tables for people and as JSON, with the goals.

use super::client::Kind;
use super::{Figure, Series};
use crate::latency::NOISY;
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::{median, paired_ratio, spread};
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// One run's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// Requests of a run.
    pub requests: u32,
    /// Rounds.
    pub rounds: u32,
    /// What was left out, and why.
    pub skipped: Vec<String>,
    /// The figures.
    pub rows: Vec<Row>,
}

/// Requests of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Of which figure.
    pub figure: Figure,
    /// Where client and server ran.
    pub placement: Placement,
    /// Bytes of each request's argument.
    pub octets: usize,
    /// What they are.
    pub kind: String,
    /// Requests a second: the median of the rounds.
    pub rate: f64,
    /// How far the rounds lie apart: their interquartile range, divided by the median.
    pub spread: f64,
    /// The rate divided by that of the first kind of its figure in the same round, in the median.
    pub ratio: f64,
    /// Whether the rounds of both lay close enough for that to be known.
    pub known: bool,
    /// The least ratio that is wanted, of the kinds that have a goal.
    pub goal: Option<f64>,
}

/// What is wanted of each kind (issue 16): of the best buffered kind of small requests, and of SYNC_WITH_SERVER where client
/// and server have a processor each.
const BUFFERED: f64 = 3.0;
const WITH_SERVER: f64 = 1.5;

impl Report {
    pub(super) fn add(&mut self, series: &Series, rates: &[Vec<f64>]) {
        let Some(base) = rates.first() else {
            return;
        };
        let apart = |rates: &[f64]| spread(rates).unwrap_or(f64::INFINITY);
        let rows = series.kinds.iter().zip(rates).filter_map(|(kind, own)| {
            Some(Row {
                figure: series.figure,
                placement: series.placement,
                octets: series.octets,
                kind: kind.to_string(),
                rate: median(own)?,
                spread: apart(own),
                ratio: paired_ratio(own, base)?,
                known: apart(own) <= NOISY && apart(base) <= NOISY,
                goal: goal(series, *kind),
            })
        });
        self.rows.extend(rows);
    }
}

fn goal(series: &Series, kind: Kind) -> Option<f64> {
    let most = series.kinds.iter().filter_map(|kind| match kind {
        Kind::Buffered(count) => Some(*count),
        _ => None,
    });
    match kind {
        Kind::Buffered(count) if most.max() == Some(count) && series.octets <= 64 => Some(BUFFERED),
        Kind::WithServer if series.placement == Placement::Cross => Some(WITH_SERVER),
        _ => None,
    }
}

impl Row {
    /// Of those of one table.
    pub(super) fn heading(&self) -> String {
        let what = match self.figure {
            Figure::Buffered => "figure 16: buffered one-ways",
            Figure::Reliable => "figure 17: reliable one-ways, 1,000 tests for a prime each",
        };
        let place = match self.placement {
            Placement::Same => "one processor",
            Placement::Cross => "a processor each",
        };
        format!("{what}, {} bytes, {place}", self.octets)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        for rows in self
            .rows
            .chunk_by(|one, other| one.heading() == other.heading())
        {
            write!(f, "\n{}", table(rows))?;
        }
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        if self.rows.iter().any(|row| !row.known) {
            let apart = NOISY * 100.0;
            writeln!(f, "! rounds lay more than {apart:.0} % apart: not known")?;
        }
        writeln!(
            f,
            "The paper's buffered one-ways reach more than 2 × unbuffered ones, its SYNC_WITH_SERVER more than 1.5 × two-way."
        )
    }
}

fn table(rows: &[Row]) -> Table {
    let cells = |row: &Row| {
        let (mark, tone) = match row.known {
            true => ("", Tone::Plain),
            false => ("!", Tone::Doubtful),
        };
        let goal = match (row.goal, row.known) {
            (None, _) => Cell::none(),
            (Some(_), false) => Cell::new("not known", Tone::Doubtful),
            (Some(goal), true) if row.ratio >= goal => {
                Cell::new(format!("ok (at least {goal:.1})"), Tone::Good)
            }
            (Some(goal), true) => Cell::new(format!("missed (at least {goal:.1})"), Tone::Bad),
        };
        let cells = vec![
            Cell::new(format!("{:.0}", row.rate), tone),
            Cell::new(format!("{:.1}", row.spread * 100.0), Tone::Faint),
            Cell::new(format!("{:.2}{mark}", row.ratio), tone),
            goal,
        ];
        (row.kind.clone(), cells)
    };
    Table {
        title: rows.first().map_or_else(String::new, Row::heading),
        columns: ["requests/s", "spread %", "× first", "goal"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.iter().map(cells).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_compared_with_the_first_within_a_round() {
        let mut report = Report {
            machine: Machine::this(),
            requests: 10,
            rounds: 3,
            skipped: Vec::new(),
            rows: Vec::new(),
        };
        let series = Series {
            figure: Figure::Reliable,
            placement: Placement::Cross,
            octets: 64,
            kinds: vec![Kind::TwoWay, Kind::WithServer],
        };
        let rates = [vec![100.0, 102.0, 104.0], vec![160.0, 163.2, 166.4]];
        report.add(&series, &rates);
        let row = &report.rows[1];
        assert!((row.ratio - 1.6).abs() < 1e-9 && row.known);
        let text = report.to_string();
        assert!(
            text.contains("ok (at least 1.5)") && text.contains("1.60"),
            "{text}"
        );
    }
}
