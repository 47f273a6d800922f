//! Report of the figures, as tables for people and as JSON, with the goals.

use super::client::Kind;
use super::{Figure, Series};
use crate::latency::NOISY;
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::{median, paired_ratio, spread};
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Requests of a run.
    pub requests: u32,
    /// Number of rounds.
    pub rounds: u32,
    /// Parts left out, with the reasons.
    pub skipped: Vec<String>,
    /// Rows of the tables.
    pub rows: Vec<Row>,
}

/// Requests of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Figure of the paper.
    pub figure: Figure,
    /// Processors of client and server.
    pub placement: Placement,
    /// Bytes of each request's argument.
    pub octets: usize,
    /// Kind of request.
    pub kind: String,
    /// Requests per second: the median of the rounds.
    pub rate: f64,
    /// Spread of the rounds: their interquartile range, divided by the median.
    pub spread: f64,
    /// Ratio of the rate to that of the first kind of its figure in the same round: the median of
    /// the rounds.
    pub ratio: f64,
    /// Set if the rounds of both lie close enough for the ratio to be known.
    pub known: bool,
    /// Least ratio wanted, for the kinds that have a goal.
    pub goal: Option<f64>,
}

/// Goals of each kind: of the best buffered kind of small requests, and of SYNC_WITH_SERVER where
/// client and server have a processor each.
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
    /// Returns the heading of the row's table.
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
