//! Table of goals and figures.

use super::Evidence;
use super::figure::Found;
use super::line::{Bound, Line};
use crate::latency::NOISY;
use crate::machine::Machine;
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// Number of other runnable processes above which times are not to be trusted.
const BUSY: f64 = 0.5;

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Average number of runnable processes in the minute before the run.
    pub load_before: Option<f64>,
    /// Number of lines by verdict.
    pub verdicts: Verdicts,
    /// Lines of the table.
    pub lines: Vec<Outcome>,
}

/// Number of lines by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// Lines whose goal is reached.
    pub ok: usize,
    /// Lines whose goal is not reached.
    pub missed: usize,
    /// Lines whose figure has too large a spread to be judged.
    pub not_known: usize,
    /// Lines that could not be measured.
    pub absent: usize,
}

/// Line with its figure.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Name by which the line is selected.
    pub name: &'static str,
    /// Measured quantity.
    pub what: &'static str,
    /// Goal of the line.
    pub bound: Bound,
    /// Unit of figure and goal.
    pub unit: &'static str,
    /// Figure reached.
    pub reached: Option<f64>,
    /// Share of the bound that the figure uses: at most 1 if the bound is kept.
    pub share: Option<f64>,
    /// Verdict on the figure.
    pub verdict: Verdict,
    /// Note on the figure, or the reason why it is absent.
    pub note: String,
    /// Set if the spread was too large for the figure to be trusted.
    pub noisy: bool,
}

/// Verdict on a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Goal reached.
    Ok,
    /// Goal not reached.
    Missed,
    /// Unknown: rounds of the figure lie too far apart.
    NotKnown,
    /// Figure that could not be measured.
    Absent,
}

impl Report {
    pub(super) fn new(
        machine: Machine,
        load_before: Option<f64>,
        lines: &[&Line],
        evidence: &Evidence,
    ) -> Self {
        let lines: Vec<Outcome> = lines.iter().map(|line| outcome(line, evidence)).collect();
        Self {
            machine,
            load_before,
            verdicts: Verdicts::of(&lines),
            lines,
        }
    }
}

impl Verdicts {
    fn of(lines: &[Outcome]) -> Self {
        let number = |verdict| lines.iter().filter(|line| line.verdict == verdict).count();
        Self {
            ok: number(Verdict::Ok),
            missed: number(Verdict::Missed),
            not_known: number(Verdict::NotKnown),
            absent: number(Verdict::Absent),
        }
    }
}

impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ok,
            missed,
            not_known,
            absent,
        } = self;
        write!(
            f,
            "{ok} reached, {missed} missed, {not_known} not known, {absent} absent"
        )
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
                _ if noisy => Verdict::NotKnown,
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
        if self.verdicts.not_known > 0 {
            writeln!(
                f,
                "! varied too much, by more than {:.0} % between rounds, to know whether the goal is reached",
                NOISY * 100.0
            )?;
        }
        writeln!(f, "{}", self.verdicts)
    }
}

fn row(line: &Outcome) -> (String, Vec<Cell>) {
    let (word, tone) = match line.verdict {
        Verdict::Ok => ("ok", Tone::Good),
        Verdict::Missed => ("missed", Tone::Bad),
        Verdict::NotKnown => ("not known", Tone::Doubtful),
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

/// Formats a value: without decimals from 100 on and for integers, otherwise with two.
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
    use crate::goals::figure::{Finding, Need};

    fn restless(value: f64) -> Found {
        Found {
            noisy: true,
            ..Found::of(value, "")
        }
    }

    fn report(verdict: Verdict, noisy: bool) -> String {
        let reached = (verdict != Verdict::Absent).then_some(1.234);
        let lines = vec![Outcome {
            name: "same",
            what: "a call",
            bound: Bound::AtMost(1.08),
            unit: "× floor",
            reached,
            share: reached,
            verdict,
            note: "the reason".to_owned(),
            noisy,
        }];
        let report = Report {
            machine: Machine::this(),
            load_before: Some(3.0),
            verdicts: Verdicts::of(&lines),
            lines,
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
        assert!(text.contains("0 reached, 1 missed, 0 not known, 0 absent"));
    }

    #[test]
    fn what_is_absent_says_why_and_what_is_noisy_is_not_known() {
        assert!(report(Verdict::Absent, false).contains("same: the reason"));
        let noisy = report(Verdict::NotKnown, true);
        assert!(
            noisy.contains("1.23!") && noisy.contains("1 not known, 0 absent"),
            "{noisy}"
        );
    }

    #[test]
    fn a_restless_figure_neither_reaches_its_goal_nor_misses_it() {
        let verdict = |find: fn(&Evidence) -> Finding| {
            let bound = Bound::AtMost(1.0);
            let line = Line {
                name: "",
                what: "",
                bound,
                unit: "",
                need: Need::Same,
                find,
            };
            outcome(&line, &Evidence::default()).verdict
        };
        assert_eq!(verdict(|_| Ok(Found::of(0.5, ""))), Verdict::Ok);
        assert_eq!(verdict(|_| Ok(Found::of(1.5, ""))), Verdict::Missed);
        assert_eq!(verdict(|_| Ok(restless(0.5))), Verdict::NotKnown);
        assert_eq!(verdict(|_| Ok(restless(1.5))), Verdict::NotKnown);
    }
}
