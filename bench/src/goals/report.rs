//! Table of goals and figures.

use super::Evidence;
use super::figure::FoundFigure;
use super::line::Line;
use crate::experiment::{Column, Experiment, Report, Row, Tabled, Verdict};
use serde_json::{Value, json};

/// Number of other runnable processes above which times are unreliable.
const BUSY: f64 = 0.5;

pub(crate) static EXPERIMENT: Experiment =
    Experiment::new("goals", "which goals of the data path are reached here")
        .frames(&["lines"])
        .conditions("{busy}")
        .tables(&[Tabled::listing(
            "lines",
            "the goals of the data path",
            "{what}",
            &[
                Column::text("goal", "goal"),
                Column::figure("reached", "reached").marked_by("noisy"),
                Column::text("verdict", "verdict"),
                Column::text("of", "note").faint(),
            ],
        )])
        .remarks(&[
            "{verdicts.ok} reached, {verdicts.missed} missed, {verdicts.not_known} \
        not known, {verdicts.absent} absent",
        ]);

/// Returns the report; `load_before` is the average number of runnable processes in the minute
/// before the run.
pub(super) fn report(load_before: Option<f64>, lines: &[&Line], evidence: &Evidence) -> Report {
    let rows: Vec<Row> = lines.iter().map(|line| row(line, evidence)).collect();
    let busy = load_before.filter(|load| *load > BUSY).map(|load| {
        format!(
            "the machine was busy before it began (load {load}): its times are not to \
        be trusted"
        )
    });
    let settings = Row::default()
        .with("load_before", load_before)
        .with("busy", busy)
        .with("verdicts", verdicts(&rows));
    let mut report = Report::new(&EXPERIMENT, settings);
    report.add("lines", rows);
    report
}

/// Returns the number of goals with each verdict.
fn verdicts(rows: &[Row]) -> Value {
    let number = |verdict| rows.iter().filter(|row| row.is("verdict", verdict)).count();
    json!({
        "ok": number("ok"),
        "missed": number("missed"),
        "not_known": number("not_known"),
        "absent": number("absent"),
    })
}

fn row(line: &Line, evidence: &Evidence) -> Row {
    let found = (line.find)(evidence);
    let row = Row::default()
        .with("name", line.name)
        .with("what", line.what)
        .with("bound", line.bound)
        .with("unit", line.unit)
        .with("goal", line.goal().trim_end());
    match found {
        Ok(FoundFigure { value, note, noisy }) => row
            .with("reached", value)
            .with("share", line.bound.share(value))
            .with("verdict", line.bound.verdict(Some(value), noisy))
            .with("note", note)
            .with("noisy", noisy),
        Err(reason) => row
            .with("verdict", Verdict::Absent)
            .with("note", reason)
            .with("noisy", false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Bound;
    use crate::goals::figure::{Finding, Need};

    fn restless(value: f64) -> FoundFigure {
        FoundFigure {
            noisy: true,
            ..FoundFigure::of(value, "")
        }
    }

    fn line(find: fn(&Evidence) -> Finding) -> Line {
        Line {
            name: "same",
            what: "a call",
            bound: Bound::AtMost(1.08),
            unit: "× floor",
            need: Need::Same,
            find,
        }
    }

    fn text(find: fn(&Evidence) -> Finding) -> String {
        let report = report(Some(3.0), &[&line(find)], &Evidence::default());
        anstream::adapter::strip_str(&report.to_string()).to_string()
    }

    #[test]
    fn a_line_shows_its_goal_what_was_reached_and_a_verdict() {
        let text = text(|_| Ok(FoundFigure::of(1.234, "")));
        assert!(
            text.contains("≤ 1.08 × floor") && text.contains("1.23") && text.contains("missed")
        );
        assert!(text.contains("the machine was busy"), "{text}");
        assert!(text.contains("0 reached, 1 missed, 0 not known, 0 absent"));
    }

    #[test]
    fn what_is_absent_says_why_and_what_is_noisy_is_not_known() {
        assert!(text(|_| Err("the reason".to_owned())).contains("the reason"));
        let noisy = text(|_| Ok(restless(1.234)));
        assert!(
            noisy.contains("1.23!") && noisy.contains("1 not known, 0 absent"),
            "{noisy}"
        );
    }

    #[test]
    fn a_restless_figure_neither_reaches_its_goal_nor_misses_it() {
        let verdict = |find| row(&line(find), &Evidence::default()).text("verdict");
        assert_eq!(verdict(|_| Ok(FoundFigure::of(0.5, ""))), "ok");
        assert_eq!(verdict(|_| Ok(FoundFigure::of(1.5, ""))), "missed");
        assert_eq!(verdict(|_| Ok(restless(0.5))), "not_known");
        assert_eq!(verdict(|_| Ok(restless(1.5))), "not_known");
    }
}
