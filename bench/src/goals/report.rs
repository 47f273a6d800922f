//! The table.

use super::Evidence;
use super::figure::Found;
use super::line::{Bound, Line};
use crate::latency::NOISY;
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
    /// How many lines have which verdict.
    pub verdicts: Verdicts,
    /// The lines.
    pub lines: Vec<Outcome>,
}

/// How many lines have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// Lines whose goal is reached.
    pub ok: usize,
    /// Lines whose goal is not.
    pub missed: usize,
    /// Lines whose figure was too restless to say.
    pub not_known: usize,
    /// Lines that could not be measured.
    pub absent: usize,
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
    /// Rounds of its figure lay too far apart to say.
    NotKnown,
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
