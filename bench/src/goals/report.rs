//! The table.

use super::Evidence;
use super::figure::Found;
use super::line::{Bound, Line};
use crate::machine::Machine;
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// More processes than this want to run besides: times are then not to be trusted.
const BUSY: f64 = 0.5;

/// One run's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// Processes that wanted to run in the minute before it began, on average.
    pub load_before: Option<f64>,
    /// The lines.
    pub lines: Vec<Outcome>,
}

/// A line with what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// What it is asked for by.
    pub name: &'static str,
    /// What was measured.
    pub what: &'static str,
    /// What is wanted of it.
    pub bound: Bound,
    /// The unit of both.
    pub unit: &'static str,
    /// What was reached.
    pub reached: Option<f64>,
    /// How far that uses the bound up: at most 1 where it is kept.
    pub share: Option<f64>,
    /// Whether it is enough.
    pub verdict: Verdict,
    /// Of what it is, or why it is absent.
    pub note: String,
    /// Whether the machine was too restless to trust it.
    pub noisy: bool,
}

/// Whether a goal is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is.
    Ok,
    /// It is not.
    Missed,
    /// It could not be measured.
    Absent,
}

impl Report {
    pub(super) fn new(
        machine: Machine,
        load_before: Option<f64>,
        lines: &[&Line],
        evidence: &Evidence,
    ) -> Self {
        Self {
            machine,
            load_before,
            lines: lines.iter().map(|line| outcome(line, evidence)).collect(),
        }
    }

    fn number(&self, verdict: Verdict) -> usize {
        let is = |line: &&Outcome| line.verdict == verdict;
        self.lines.iter().filter(is).count()
    }
}

fn outcome(line: &Line, evidence: &Evidence) -> Outcome {
    let found = (line.find)(evidence);
    let mut outcome = Outcome {
        name: line.name,
        what: line.what,
        bound: line.bound,
        unit: line.unit,
        reached: None,
        share: None,
        verdict: Verdict::Absent,
        note: String::new(),
        noisy: false,
    };
    match found {
        Ok(Found { value, note, noisy }) => {
            outcome.reached = Some(value);
            outcome.share = Some(line.bound.share(value));
            outcome.verdict = match line.bound.keeps(value) {
                true => Verdict::Ok,
                false => Verdict::Missed,
            };
            (outcome.note, outcome.noisy) = (note, noisy);
        }
        Err(reason) => outcome.note = reason,
    }
    outcome
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        if let Some(load) = self.load_before.filter(|load| *load > BUSY) {
            writeln!(
                f,
                "the machine was busy before it began (load {load}): its times are not to be trusted"
            )?;
        }
        let table = Table {
            title: "the goals of the data path".to_owned(),
            columns: ["goal", "reached", "verdict"].map(str::to_owned).to_vec(),
            rows: self.lines.iter().map(row).collect(),
        };
        write!(f, "{table}")?;
        for line in self.lines.iter().filter(|line| !line.note.is_empty()) {
            writeln!(f, "{}: {}", line.name, line.note)?;
        }
        let noisy = self.lines.iter().filter(|line| line.noisy).count();
        if noisy > 0 {
            writeln!(
                f,
                "! in {noisy} lines the rounds lay more than 10 % apart: not to be trusted before it is repeated"
            )?;
        }
        writeln!(
            f,
            "{} reached, {} missed, {} absent",
            self.number(Verdict::Ok),
            self.number(Verdict::Missed),
            self.number(Verdict::Absent)
        )
    }
}

fn row(line: &Outcome) -> (String, Vec<Cell>) {
    let (word, tone) = match line.verdict {
        Verdict::Ok => ("ok", Tone::Good),
        Verdict::Missed => ("missed", Tone::Bad),
        Verdict::Absent => ("absent", Tone::Doubtful),
    };
    let mark = if line.noisy { "!" } else { "" };
    let reached = line.reached.map_or_else(Cell::none, |value| {
        Cell::new(format!("{}{mark}", shown(value)), tone)
    });
    let cells = vec![
        Cell::new(format!("{} {}", line.bound, line.unit), Tone::Plain),
        reached,
        Cell::new(word, tone),
    ];
    (line.what.to_owned(), cells)
}

/// Three figures where they say something.
pub(super) fn shown(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value.fract() == 0.0 => format!("{value}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(verdict: Verdict, noisy: bool) -> String {
        let reached = (verdict != Verdict::Absent).then_some(1.234);
        let report = Report {
            machine: Machine::this(),
            load_before: Some(3.0),
            lines: vec![Outcome {
                name: "same",
                what: "a call",
                bound: Bound::AtMost(1.08),
                unit: "× floor",
                reached,
                share: reached,
                verdict,
                note: "the reason".to_owned(),
                noisy,
            }],
        };
        anstream::adapter::strip_str(&report.to_string()).to_string()
    }

    #[test]
    fn a_line_shows_its_goal_what_was_reached_and_a_verdict() {
        let text = report(Verdict::Missed, false);
        assert!(
            text.contains("≤ 1.08 × floor") && text.contains("1.23") && text.contains("missed")
        );
        assert!(text.contains("the machine was busy"), "{text}");
        assert!(text.contains("0 reached, 1 missed, 0 absent"));
    }

    #[test]
    fn what_is_absent_says_why_and_what_is_noisy_is_marked() {
        assert!(report(Verdict::Absent, false).contains("same: the reason"));
        let noisy = report(Verdict::Ok, true);
        assert!(
            noisy.contains("1.23!") && noisy.contains("not to be trusted"),
            "{noisy}"
        );
    }
}
