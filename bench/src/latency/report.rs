//! Report of the figures, as a table for people and as JSON.

use crate::contender::{Absent, Contender};
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::Figures;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Rounds of each case.
    pub rounds: u32,
    /// Calls of each contender in a round.
    pub calls: u32,
    /// Contenders that took part.
    pub contenders: Vec<Participant>,
    /// Parts left out, with the reasons.
    pub skipped: Vec<String>,
    /// Failures.
    pub failed: Vec<String>,
    /// Figures; times in nanoseconds.
    pub rows: Vec<Row>,
}

/// Contender that took part.
#[derive(Clone, Debug, Serialize)]
pub struct Participant {
    /// Name in the rows.
    pub name: &'static str,
    /// Description, with the version.
    pub description: String,
}

/// One contender in one case.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Processors of client and server.
    pub placement: Placement,
    /// Name of the operation.
    pub operation: &'static str,
    /// Number of elements of its sequence, if it has one.
    pub units: u32,
    /// Set if a sample is one call. For one-ways a sample is the mean of a batch.
    pub two_way: bool,
    /// Contender of the row.
    pub contender: &'static str,
    /// Times of its calls.
    #[serde(flatten)]
    pub figures: Figures,
    /// Raw contender of its kind.
    pub floor: &'static str,
    /// Median of the ratios of its medians to the floor's of the same rounds.
    pub ratio: Option<f64>,
    /// Median of the ratios of its 99th percentiles to the floor's of the same rounds.
    pub p99_ratio: Option<f64>,
    /// Set if its own medians or the floor's lie too far apart for the figures to be trusted.
    pub noisy: bool,
}

impl From<&Contender> for Participant {
    fn from(contender: &Contender) -> Self {
        Self {
            name: contender.name,
            description: contender.description.clone(),
        }
    }
}

pub(super) fn absence(absent: &Absent) -> String {
    format!("{}: {}", absent.name, absent.reason)
}

impl Report {
    fn table(&self, f: &mut fmt::Formatter<'_>, placement: Placement) -> fmt::Result {
        writeln!(
            f,
            "\n{placement}: median of {} rounds' medians; µs\n{:<22} {:<18} {:>9} {:>7} {:>9} {:>9} {:>9} {:>8} {:>8}",
            self.rounds,
            "case",
            "contender",
            "median",
            "spread",
            "p50",
            "p99",
            "p99.9",
            "× floor",
            "p99"
        )?;
        let mut before = None;
        for row in self.rows.iter().filter(|row| row.placement == placement) {
            let case = (row.operation, row.units);
            let title = if before.replace(case) == Some(case) {
                String::new()
            } else {
                title(row)
            };
            writeln!(f, "{title:<22} {row}")?;
        }
        Ok(())
    }

    /// Returns the number of cases in which a contender had too large a spread, and the number of
    /// all cases.
    fn noisy_cases(&self) -> (usize, usize) {
        let mut cases: BTreeMap<String, bool> = BTreeMap::new();
        for row in &self.rows {
            let case = format!("{} {}", row.placement, title(row));
            *cases.entry(case).or_default() |= row.noisy;
        }
        (cases.values().filter(|noisy| **noisy).count(), cases.len())
    }
}

fn title(row: &Row) -> String {
    let units = match row.units {
        0 => String::new(),
        units => format!(":{units}"),
    };
    format!("{}{units}", row.operation)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        for contender in &self.contenders {
            writeln!(f, "{}: {}", contender.name, contender.description)?;
        }
        for placement in [Placement::Same, Placement::Cross] {
            if self.rows.iter().any(|row| row.placement == placement) {
                self.table(f, placement)?;
            }
        }
        if self.rows.iter().any(|row| !row.two_way) {
            writeln!(
                f,
                "\nthrow_…: one-ways; the time of a batch that ends with a two-way, by call"
            )?;
        }
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        for failed in &self.failed {
            writeln!(f, "failed {failed}")?;
        }
        let (noisy, cases) = self.noisy_cases();
        if noisy > 0 {
            writeln!(
                f,
                "! too noisy to trust, as it or the floor varied between rounds: {noisy} of {cases} cases"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = &self.figures;
        write!(
            f,
            "{:<18} {:>9.2} {:>6.1}%",
            self.contender,
            figures.median / 1000.0,
            figures.spread * 100.0
        )?;
        for percentile in [figures.p50, figures.p99, figures.p999] {
            if self.two_way {
                write!(f, " {:>9.2}", microseconds(percentile))?;
            } else {
                write!(f, " {:>9}", "–")?;
            }
        }
        let of_single_calls = self.p99_ratio.filter(|_| self.two_way);
        for ratio in [self.ratio, of_single_calls] {
            match ratio {
                Some(ratio) => write!(f, " {ratio:>8.2}")?,
                None => write!(f, " {:>8}", "–")?,
            }
        }
        f.write_str(if self.noisy { " !" } else { "" })
    }
}

#[allow(clippy::cast_precision_loss)]
fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Record;

    fn row(operation: &'static str, two_way: bool, noisy: bool) -> Row {
        let mut record = Record::default();
        record.add_round(&[12_340; 10]);
        Row {
            placement: Placement::Same,
            operation,
            units: 8,
            two_way,
            contender: "floor",
            figures: record.figures().unwrap(),
            floor: "floor",
            ratio: Some(1.0),
            p99_ratio: Some(1.5),
            noisy,
        }
    }

    fn report(rows: Vec<Row>) -> Report {
        Report {
            machine: Machine::this(),
            rounds: 1,
            calls: 10,
            contenders: Vec::new(),
            skipped: vec!["omniorb: not here".to_owned()],
            failed: Vec::new(),
            rows,
        }
    }

    #[test]
    fn a_one_way_shows_no_percentiles_of_single_calls() {
        let text = report(vec![row("throw_octets", false, false)]).to_string();
        let line = text
            .lines()
            .find(|line| line.starts_with("throw_octets:8"))
            .unwrap();
        assert!(line.contains("12.34") && line.contains('–'), "{line}");
    }

    #[test]
    fn what_was_skipped_and_what_was_noisy_is_said() {
        let text = report(vec![row("take_octets", true, true)]).to_string();
        assert!(text.contains("skipped omniorb: not here"));
        assert!(text.contains("1.50 !\n"), "{text}");
        assert!(text.contains("too noisy to trust") && text.contains("1 of 1 cases"));
    }
}
