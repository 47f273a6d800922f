//! Comparison of counts with their budgets.

use super::{Budget, Budgets};
use crate::case::Case;
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::machine::Environment;
use serde::Serialize;
use std::collections::BTreeMap;

/// Allowed deviation of an instruction count from its budget, as a fraction of the budget.
const INSTRUCTIONS: f64 = 0.02;
/// Allowed change of the counts of system calls and allocations, per call: events that happen once
/// in a run contribute a fraction.
const OTHERS: f64 = 0.05;

/// Verdict on a count and its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// Count within the budget.
    Kept,
    /// Count outside the budget.
    Moved,
    /// Outside the budget, but the budget was counted in another environment.
    Elsewhere,
    /// Count that has no budget yet.
    New,
}

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "budgets",
    "whether calls cost what the budgets kept in the tree say",
)
.conditions("{elsewhere_note}")
.tables(&[Tabled::listing(
    "rows",
    "{outside} of {counts} counts are outside of their budgets",
    "{what}",
    &[
        Column::text("unit", "unit"),
        Column::figure("budget", "budget"),
        Column::figure("now", "now"),
        Column::percent("change", "change")
            .with_signs()
            .followed_by(" %"),
        Column::text("verdict", "verdict"),
    ],
)
.only(|row| !row.is("verdict", "kept"))])
.remarks(&["{within} of {counts} counts are within their budgets"]);

/// Counts compared with their budgets.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    /// Environment of the budgets and the current one, if they differ.
    elsewhere: Option<(Environment, Environment)>,
    /// Rows of the comparison, one for each count.
    pub(super) rows: Vec<Row>,
}

pub(super) fn compare(budgets: &Budgets, now: &Budgets) -> Compared {
    let here = budgets.environment == now.environment && budgets.optimised == now.optimised;
    let mut rows = Vec::new();
    let none = BTreeMap::new();
    let variants = now.variants.iter();
    let variants =
        variants.map(|(how, now)| (&**how, now, budgets.variants.get(how).unwrap_or(&none)));
    let usual = ("", &now.cases, &budgets.cases);
    for (how, now, budgets) in std::iter::once(usual).chain(variants) {
        for (case, sides) in now {
            let before = budgets.get(case);
            for (side, now, before) in [
                ("client", sides.client, before.map(|sides| sides.client)),
                ("server", sides.server, before.map(|sides| sides.server)),
            ] {
                let what = name(how, case, side);
                rows.extend(compare_side(&what, before, now, here));
            }
        }
    }
    for (what, &now) in &now.demultiplexing {
        let before = budgets.demultiplexing.get(what).copied();
        rows.push(compare_instructions(what, before, now, here));
    }
    Compared {
        elsewhere: (!here).then(|| (budgets.environment.clone(), now.environment.clone())),
        rows,
    }
}

/// Returns the name of a side of a case, by a variant; the usual way of calling has no name.
fn name(how: &str, case: &str, side: &str) -> String {
    match how {
        "" => format!("{case} {side}"),
        _ => format!("{how} {case} {side}"),
    }
}

fn compare_side(what: &str, before: Option<Budget>, now: Budget, here: bool) -> [Row; 3] {
    let row = |unit, budget, now| compare_count(what, unit, budget, now, OTHERS, true);
    let instructions = before.map(|budget| budget.instructions);
    let system_calls = before.map(|budget| budget.system_calls);
    let allocations = before.map(|budget| budget.allocations);
    [
        compare_instructions(what, instructions, now.instructions, here),
        row("system calls", system_calls, now.system_calls),
        row("allocations", allocations, now.allocations),
    ]
}

fn compare_instructions(what: &str, budget: Option<f64>, now: f64, here: bool) -> Row {
    let room = budget.unwrap_or_default() * INSTRUCTIONS;
    compare_count(what, "instructions", budget, now, room, here)
}

fn compare_count(
    what: &str,
    unit: &'static str,
    budget: Option<f64>,
    now: f64,
    room: f64,
    judged: bool,
) -> Row {
    let verdict = match budget {
        None => Verdict::New,
        Some(budget) if (now - budget).abs() <= room => Verdict::Kept,
        Some(_) if judged => Verdict::Moved,
        Some(_) => Verdict::Elsewhere,
    };
    let change = budget.filter(|budget| *budget > 0.0);
    Row::default()
        .with("what", what)
        .with("unit", unit)
        .with("budget", budget)
        .with("now", now)
        .with("verdict", verdict)
        .with("change", change.map(|budget| now / budget - 1.0))
}

impl Compared {
    /// Returns whether the client's or the server's count of this case is outside its budget.
    pub(super) fn has_moved(&self, how: &str, case: &Case) -> bool {
        let case = case.to_string();
        let sides = ["client", "server"].map(|side| name(how, &case, side));
        sides.iter().any(|side| self.moved_at(side))
    }

    /// Returns whether a count of this name is outside its budget.
    pub(super) fn moved_at(&self, what: &str) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.is("what", what) && row.is("verdict", "moved"))
    }

    /// Returns the number of counts that are outside their budgets or have none.
    pub(super) fn moved(&self) -> usize {
        let bad = |row: &&Row| row.is("verdict", "moved") || row.is("verdict", "new");
        self.rows.iter().filter(bad).count()
    }

    /// Returns the report of the comparison.
    pub(super) fn report(self) -> Report {
        let kept = |row: &&Row| row.is("verdict", "kept");
        let (kept, counts) = (self.rows.iter().filter(kept).count(), self.rows.len());
        let note = self.elsewhere.as_ref().map(|(budgets, here)| {
            format!(
                "the budgets are of another place, so that instructions are not judged\n  \
        budgets: {budgets}\n  here:    {here}"
            )
        });
        let settings = Row::default()
            .with("elsewhere", &self.elsewhere)
            .with("elsewhere_note", note)
            .with("counts", counts)
            .with("within", kept)
            .with("outside", counts - kept);
        let mut report = Report::new(&EXPERIMENT, settings);
        report.add("rows", self.rows);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sides, rounded};
    use super::*;
    use crate::counting::Instrument;

    fn budgets(instructions: f64, system_calls: f64, compiler: &str) -> Budgets {
        let side = Budget {
            instructions,
            system_calls,
            allocations: 0.0,
        };
        let sides = Sides {
            client: side,
            server: side,
        };
        Budgets {
            environment: Environment {
                processor: "p".to_owned(),
                library: "l".to_owned(),
                compiler: compiler.to_owned(),
            },
            optimised: true,
            variables: BTreeMap::new(),
            cases: BTreeMap::from([("cube_void".to_owned(), sides)]),
            variants: BTreeMap::new(),
            demultiplexing: BTreeMap::new(),
        }
    }

    #[test]
    fn instructions_may_move_by_two_per_cent_either_way() {
        let before = budgets(1000.0, 2.0, "c");
        for (now, moved) in [(1020.0, 0), (980.0, 0), (1021.0, 2), (979.0, 2)] {
            assert_eq!(
                compare(&before, &budgets(now, 2.0, "c")).moved(),
                moved,
                "{now}"
            );
        }
    }

    #[test]
    fn a_system_call_more_or_less_is_never_within_the_budget() {
        let before = budgets(1000.0, 2.0, "c");
        for compiler in ["c", "another"] {
            for calls in [1.0, 2.1, 3.0] {
                assert_eq!(
                    compare(&before, &budgets(1000.0, calls, compiler)).moved(),
                    2
                );
            }
        }
    }

    #[test]
    fn which_cases_moved_is_told_and_the_least_of_two_counts_holds() {
        use crate::case::Operation;
        let void = Case::plain(Operation::CubeVoid);
        let (before, now) = (budgets(1000.0, 2.0, "c"), budgets(1000.0, 2.1, "c"));
        let report = compare(&before, &now);
        assert!(report.has_moved("", &void));
        assert!(!report.has_moved("DII", &void));
        assert!(!report.has_moved("", &Case::plain(Operation::CubeLong)));
        let sides = |budgets: &Budgets| budgets.cases["cube_void"];
        assert_eq!(sides(&now).least(sides(&before)), sides(&before));
        assert_eq!(sides(&before).least(sides(&now)), sides(&before));
    }

    #[test]
    fn instructions_counted_elsewhere_are_shown_and_not_judged() {
        let report = compare(&budgets(1000.0, 2.0, "c"), &budgets(2000.0, 2.0, "d"));
        assert_eq!(report.moved(), 0);
        let text = anstream::adapter::strip_str(&report.report().to_string()).to_string();
        assert!(
            text.contains("another place") && text.contains("+100.0 %"),
            "{text}"
        );
    }

    #[test]
    fn a_case_without_a_budget_is_not_within_one() {
        let mut before = budgets(1000.0, 2.0, "c");
        before.cases.clear();
        assert_eq!(compare(&before, &budgets(1.0, 2.0, "c")).moved(), 6);
    }

    #[test]
    fn finding_an_object_among_many_has_a_budget_of_instructions() {
        let with = |count: f64| Budgets {
            demultiplexing: BTreeMap::from([("random".to_owned(), count)]),
            ..budgets(1000.0, 2.0, "c")
        };
        assert_eq!(compare(&with(1000.0), &with(1020.0)).moved(), 0);
        let moved = compare(&with(1000.0), &with(1021.0));
        assert_eq!(moved.moved(), 1);
        assert!(moved.moved_at("random") && !moved.moved_at("cube_void server"));
        assert_eq!(compare(&budgets(1000.0, 2.0, "c"), &with(1.0)).moved(), 1);
    }

    #[test]
    fn what_happens_once_in_a_run_is_no_part_of_a_call() {
        assert!((rounded(Instrument::SystemCalls, 2.004) - 2.0).abs() < 1e-9);
        assert!(rounded(Instrument::Allocations, -0.01).is_sign_positive());
        assert!((rounded(Instrument::Instructions, 900.4) - 900.0).abs() < 1e-9);
    }
}
