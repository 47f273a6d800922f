//! `budgets`: what a warm call may cost, kept in the tree and compared with what it costs now.
//!
//! A budget is a count for a case and a side: instructions, which may move by 2%, and system calls and
//! allocations, which may not. Moving either way fails, so that what was gained is written down, too.
//! Instructions depend on the compiler, the C library and the processor by which it chooses its own
//! functions: where these are others than those of the file, they are shown and not judged.

use crate::Result;
use crate::case::{self, Case, Operation};
use crate::contender::{self, Harness, Wanted};
use crate::counting::{self, Instrument};
use crate::machine::Environment;
use crate::output::Json;
use crate::table::{Cell, Table, Tone};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Whose calls have budgets.
const CONTENDER: &str = "punctual";
/// How far instructions may move.
const INSTRUCTIONS: f64 = 0.02;
/// How far other counts may seem to move: what happens once in a run is not a call's.
const OTHERS: f64 = 0.05;
/// What is counted.
const INSTRUMENTS: [Instrument; 3] = [
    Instrument::Instructions,
    Instrument::SystemCalls,
    Instrument::Allocations,
];

/// What to do.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Write what calls cost now to the file.
    #[arg(long, conflicts_with = "check")]
    update: bool,
    /// Fail when a cost is not within its budget; without it and --update, show only.
    #[arg(long)]
    check: bool,
    /// Fail when an instrument is not installed, rather than skip.
    #[arg(long)]
    require: bool,
    /// The budgets.
    #[arg(long, value_name = "FILE", default_value = "bench/budgets.json")]
    file: PathBuf,
    /// Only these cases.
    #[arg(long, value_delimiter = ',')]
    cases: Vec<Case>,
    /// Calls of the shorter run.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    #[command(flatten)]
    json: Json,
}

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Where they were counted.
    pub environment: Environment,
    /// Whether by an optimised program.
    pub optimised: bool,
    /// Variables that the processes had for instructions to be counted.
    pub variables: BTreeMap<String, String>,
    /// By case.
    pub cases: BTreeMap<String, Sides>,
}

/// A case's two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    /// The client's share of a call.
    pub client: Budget,
    /// The server's.
    pub server: Budget,
}

/// What a side's share of a call costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// User-space instructions.
    pub instructions: f64,
    /// Entries into the kernel.
    pub system_calls: f64,
    /// Calls of the allocator.
    pub allocations: f64,
}

/// What a count and its budget say of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Within it.
    Kept,
    /// Not within it.
    Moved,
    /// Not within it, but counted elsewhere.
    Elsewhere,
    /// There is none.
    New,
}

/// All counts beside their budgets.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The budgets' environment, and this one, when they differ.
    pub elsewhere: Option<(Environment, Environment)>,
    /// Each count.
    pub rows: Vec<Row>,
}

/// A count beside its budget.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The case and the side.
    pub what: String,
    /// What was counted.
    pub unit: &'static str,
    /// The budget.
    pub budget: Option<f64>,
    /// What it costs now.
    pub now: f64,
    /// What they say of each other.
    pub verdict: Verdict,
}

/// Runs the command.
///
/// # Errors
/// When a budget is not kept, a contender or an instrument fails, or the file makes no sense.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    for instrument in INSTRUMENTS {
        match instrument.check() {
            Err(reason) if options.require => return Err(reason),
            Err(reason) => {
                println!("skipped: {reason}");
                return Ok(());
            }
            Ok(()) => {}
        }
    }
    let cases = match options.cases.is_empty() {
        true => with_budgets(),
        false => options.cases.clone(),
    };
    let now = count(harness, &cases, options.calls)?;
    if options.update {
        fs::write(&options.file, serde_json::to_string_pretty(&now)? + "\n")?;
        println!("{} cases, {}", now.cases.len(), options.file.display());
        return Ok(());
    }
    let report = compare(&read(&options.file)?, &now);
    options.json.show(&report)?;
    match report.moved() {
        0 => Ok(()),
        _ if !options.check => Ok(()),
        moved => Err(format!(
            "{moved} of {} counts are not within their budgets; if that is meant, run it with --update",
            report.rows.len()
        )
        .into()),
    }
}

/// Those of the goals, and one whose result has to be allocated, with and without memory at hand.
fn with_budgets() -> Vec<Case> {
    let mut cases = case::of_the_goals();
    let echoes = [Operation::EchoOctets, Operation::EchoOctetsInto];
    cases.extend(echoes.map(|operation| Case::sized(operation, 1024)));
    cases
}

fn read(file: &Path) -> Result<Budgets> {
    let named = |error: &dyn fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| named(&error))?;
    Ok(serde_json::from_str(&text).map_err(|error| named(&error))?)
}

fn count(harness: &Harness, cases: &[Case], calls: u32) -> Result<Budgets> {
    let (contenders, absent) =
        contender::known(harness, &Wanted::of(&[CONTENDER])?.without_floors());
    let mut budgets = Budgets {
        environment: Environment::this(),
        optimised: !cfg!(debug_assertions),
        variables: BTreeMap::new(),
        cases: BTreeMap::new(),
    };
    for instrument in INSTRUMENTS {
        let report = counting::measure(instrument, &contenders, &absent, cases, calls)?;
        if let Some(reason) = report.skipped.first() {
            return Err(reason.clone().into());
        }
        let variables = report.variables.iter();
        budgets
            .variables
            .extend(variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        for cost in report.costs {
            let sides = budgets.cases.entry(cost.case).or_default();
            *sides.client.count(instrument) = rounded(instrument, cost.client);
            *sides.server.count(instrument) = rounded(instrument, cost.server);
        }
    }
    Ok(budgets)
}

/// As exactly as it is meant.
fn rounded(instrument: Instrument, count: f64) -> f64 {
    match instrument {
        Instrument::Instructions => count.round(),
        // No "-0" either.
        _ => (count * 10.0).round() / 10.0 + 0.0,
    }
}

impl Budget {
    fn count(&mut self, instrument: Instrument) -> &mut f64 {
        match instrument {
            Instrument::Instructions => &mut self.instructions,
            Instrument::SystemCalls | Instrument::ContextSwitches => &mut self.system_calls,
            Instrument::Allocations => &mut self.allocations,
        }
    }
}

fn compare(budgets: &Budgets, now: &Budgets) -> Report {
    let here = budgets.environment == now.environment && budgets.optimised == now.optimised;
    let mut rows = Vec::new();
    for (case, sides) in &now.cases {
        let before = budgets.cases.get(case);
        for (side, now, before) in [
            ("client", sides.client, before.map(|sides| sides.client)),
            ("server", sides.server, before.map(|sides| sides.server)),
        ] {
            let what = format!("{case} {side}");
            rows.extend(compare_side(&what, before, now, here));
        }
    }
    Report {
        elsewhere: (!here).then(|| (budgets.environment.clone(), now.environment.clone())),
        rows,
    }
}

fn compare_side(what: &str, before: Option<Budget>, now: Budget, here: bool) -> [Row; 3] {
    let row = |unit, budget: Option<f64>, now: f64, room: f64, judged: bool| Row {
        what: what.to_owned(),
        unit,
        budget,
        now,
        verdict: match budget {
            None => Verdict::New,
            Some(budget) if (now - budget).abs() <= room => Verdict::Kept,
            Some(_) if judged => Verdict::Moved,
            Some(_) => Verdict::Elsewhere,
        },
    };
    let instructions = before.map(|budget| budget.instructions);
    let room = instructions.unwrap_or_default() * INSTRUCTIONS;
    let system_calls = before.map(|budget| budget.system_calls);
    let allocations = before.map(|budget| budget.allocations);
    [
        row("instructions", instructions, now.instructions, room, here),
        row("system calls", system_calls, now.system_calls, OTHERS, true),
        row("allocations", allocations, now.allocations, OTHERS, true),
    ]
}

impl Report {
    /// How many counts are not within their budgets, or have none.
    fn moved(&self) -> usize {
        let bad = |row: &&Row| matches!(row.verdict, Verdict::Moved | Verdict::New);
        self.rows.iter().filter(bad).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((budgets, here)) = &self.elsewhere {
            writeln!(
                f,
                "the budgets are of another place, so that instructions are not judged\n  budgets: {budgets}\n  here:    {here}"
            )?;
        }
        let moved = self.rows.iter().filter(|row| row.verdict != Verdict::Kept);
        let rows: Vec<_> = moved.map(row).collect();
        if rows.is_empty() {
            return writeln!(f, "all {} counts are within their budgets", self.rows.len());
        }
        let table = Table {
            title: format!("{} of {} counts moved", rows.len(), self.rows.len()),
            columns: ["unit", "budget", "now", "change", "verdict"]
                .map(str::to_owned)
                .to_vec(),
            rows,
        };
        write!(f, "{table}")
    }
}

fn row(row: &Row) -> (String, Vec<Cell>) {
    let tone = match row.verdict {
        Verdict::Kept => Tone::Plain,
        Verdict::Elsewhere => Tone::Doubtful,
        Verdict::New => Tone::Bad,
        Verdict::Moved if row.budget.is_some_and(|budget| row.now < budget) => Tone::Good,
        Verdict::Moved => Tone::Bad,
    };
    let plain = |text: String| Cell::new(text, Tone::Plain);
    let change = row.budget.filter(|budget| *budget > 0.0).map(|budget| {
        let percent = (row.now / budget - 1.0) * 100.0;
        Cell::new(format!("{percent:+.1} %"), tone)
    });
    let verdict = match row.verdict {
        Verdict::Kept => "kept",
        Verdict::Moved => "moved",
        Verdict::Elsewhere => "elsewhere",
        Verdict::New => "no budget",
    };
    let cells = vec![
        plain(row.unit.to_owned()),
        row.budget
            .map_or_else(Cell::none, |budget| plain(budget.to_string())),
        plain(row.now.to_string()),
        change.unwrap_or_else(Cell::none),
        Cell::new(verdict, tone),
    ];
    (row.what.clone(), cells)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn instructions_counted_elsewhere_are_shown_and_not_judged() {
        let report = compare(&budgets(1000.0, 2.0, "c"), &budgets(2000.0, 2.0, "d"));
        assert_eq!(report.moved(), 0);
        let text = anstream::adapter::strip_str(&report.to_string()).to_string();
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
    fn what_happens_once_in_a_run_is_no_part_of_a_call() {
        assert!((rounded(Instrument::SystemCalls, 2.004) - 2.0).abs() < 1e-9);
        assert!(rounded(Instrument::Allocations, -0.01).is_sign_positive());
        assert!((rounded(Instrument::Instructions, 900.4) - 900.0).abs() < 1e-9);
    }
}
