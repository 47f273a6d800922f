//! Report of the figures, as tables for people and as JSON.

use super::Kind;
use super::contest::Entrant;
use crate::latency::NOISY;
use crate::machine::Machine;
use crate::omniorb;
use crate::statistics::{median, paired_ratio, spread};
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Rounds of each attempt.
    pub rounds: u32,
    /// Two-way calls of a round.
    pub calls: u32,
    /// Parts left out, with the reasons.
    pub skipped: Vec<String>,
    /// Failures.
    pub failed: Vec<String>,
    /// Rows of the tables.
    pub rows: Vec<Row>,
}

/// Rate of one contender.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Kind of throughput.
    #[serde(flatten)]
    pub kind: Kind,
    /// Contender of the row.
    pub contender: &'static str,
    /// Calls per second: the median of the rounds.
    pub rate: f64,
    /// Spread of the rounds: their interquartile range, divided by the median.
    pub spread: f64,
    /// Set if the spread is too large for the rate to be trusted.
    pub noisy: bool,
    /// Raw contender of its kind.
    pub floor: &'static str,
    /// Median of the ratios of its rates to the floor's of the same rounds.
    pub ratio: Option<f64>,
    /// Set if that ratio is known: neither its own rounds nor the floor's lie too far apart.
    pub known: bool,
    /// Median of the ratios of its rates to omniORB's of the same rounds and the same kind of link.
    pub beside_omniorb: Option<f64>,
    /// Set if that ratio is known.
    pub beside_omniorb_known: bool,
}

/// Returns a row for each contender of a kind.
pub(super) fn rows(kind: Kind, entrants: &[Entrant<'_>]) -> Vec<Row> {
    let row = |entrant: &Entrant<'_>| {
        let contender = entrant.contender;
        let mut others = entrants.iter();
        let floor = others.find(|other| other.contender.name == contender.floor);
        let mut others = entrants.iter();
        let omniorb = others.find(|other| {
            let its = other.contender;
            its.name.starts_with(omniorb::NAME) && its.floor == contender.floor
        });
        let omniorb = omniorb.filter(|other| other.contender.name != contender.name);
        let (ratio, known) = compared(entrant, floor);
        let (beside_omniorb, beside_omniorb_known) = compared(entrant, omniorb);
        let spread = spread(&entrant.rates)?;
        Some(Row {
            kind,
            contender: contender.name,
            rate: median(&entrant.rates)?,
            spread,
            noisy: spread > NOISY,
            floor: contender.floor,
            ratio,
            known,
            beside_omniorb,
            beside_omniorb_known,
        })
    };
    entrants.iter().filter_map(row).collect()
}

/// Returns the ratio of two contenders' rates, and whether both spreads are small enough for it to
/// be known; without `other`, whether the spread of `one` is.
fn compared(one: &Entrant<'_>, other: Option<&Entrant<'_>>) -> (Option<f64>, bool) {
    let is_calm = |it: &Entrant<'_>| spread(&it.rates).is_some_and(|spread| spread <= NOISY);
    let ratio = other.and_then(|other| paired_ratio(&one.rates, &other.rates));
    (ratio, is_calm(one) && other.is_none_or(is_calm))
}

impl Report {
    pub(super) fn skip(&mut self, reason: String) {
        if !self.skipped.contains(&reason) {
            self.skipped.push(reason);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        let same_table = |one: &Row, other: &Row| one.kind.heading() == other.kind.heading();
        for rows in self.rows.chunk_by(same_table) {
            write!(f, "\n{}", table(rows))?;
        }
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        for failed in &self.failed {
            writeln!(f, "failed {failed}")?;
        }
        if self.rows.iter().any(|row| row.noisy) {
            writeln!(
                f,
                "! its rounds lay more than {:.0} % apart: neither the rate nor a ratio of it is known",
                NOISY * 100.0
            )?;
        }
        Ok(())
    }
}

fn table(rows: &[Row]) -> Table {
    let cells = |row: &Row| {
        let (mark, tone) = match row.noisy {
            true => ("!", Tone::Doubtful),
            false => ("", Tone::Plain),
        };
        let name = match row.kind.references {
            None => row.contender.to_owned(),
            Some(_) => format!("{:>3} × {}", row.kind.threads, row.contender),
        };
        let cells = vec![
            Cell::new(format!("{:.0}{mark}", row.rate), tone),
            Cell::new(format!("{:.1}", row.spread * 100.0), Tone::Faint),
            ratio(row.ratio, row.known),
            ratio(row.beside_omniorb, row.beside_omniorb_known),
        ];
        (name, cells)
    };
    Table {
        title: rows
            .first()
            .map_or_else(String::new, |row| row.kind.heading()),
        columns: ["calls/s", "spread %", "× floor", "× omniORB"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.iter().map(cells).collect(),
    }
}

fn ratio(ratio: Option<f64>, known: bool) -> Cell {
    match (ratio, known) {
        (None, _) => Cell::none(),
        (Some(_), false) => Cell::new("not known", Tone::Doubtful),
        (Some(ratio), true) => Cell::new(format!("{ratio:.2}"), Tone::Plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Contender;
    use crate::throughput::Pinning;

    fn measured(rates: [(&'static str, [f64; 3]); 3]) -> Vec<Row> {
        let contenders = rates.map(|(name, _)| Contender::imagined(name, "raw-tcp"));
        let entrants: Vec<_> = contenders
            .iter()
            .zip(rates)
            .map(|(contender, (_, rates))| Entrant {
                contender,
                running: None,
                rates: rates.to_vec(),
            })
            .collect();
        rows(Kind::one_way(Pinning::Same), &entrants)
    }

    #[test]
    fn rates_are_compared_within_a_round_with_the_floor_and_with_omniorb() {
        let rows = measured([
            ("raw-tcp", [100.0, 104.0, 102.0]),
            ("punctual", [80.0, 83.2, 81.6]),
            ("omniorb", [40.0, 41.6, 40.8]),
        ]);
        let ours = &rows[1];
        assert!((ours.ratio.unwrap() - 0.8).abs() < 1e-9);
        assert!((ours.beside_omniorb.unwrap() - 2.0).abs() < 1e-9);
        assert!((ours.rate - 81.6).abs() < 1e-9);
        assert!(ours.known && ours.beside_omniorb_known && !ours.noisy);
        assert_eq!(rows[2].beside_omniorb, None);
    }

    #[test]
    fn a_ratio_of_which_one_side_was_restless_is_not_known() {
        let rows = measured([
            ("raw-tcp", [100.0, 200.0, 400.0]),
            ("punctual", [80.0, 80.0, 80.0]),
            ("omniorb", [40.0, 40.0, 40.0]),
        ]);
        let ours = &rows[1];
        assert!(!ours.known && ours.beside_omniorb_known && !ours.noisy);
        assert!(rows[0].noisy);
        let text = table(&rows).to_string();
        assert!(
            text.contains("not known") && text.contains("2.00"),
            "{text}"
        );
    }
}
