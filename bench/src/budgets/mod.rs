//! `budgets`: allowed cost of a warm call, kept in the source tree and compared with its current
//! cost.
//!
//! A budget is a count for a case and a side: instructions, which may move by 2%, and system calls
//! and allocations, which may not. A move in either direction fails, so that gains are recorded,
//! too. Instructions depend on the compiler, the C library and the processor by which it chooses
//! its own functions: in an environment other than that of the file they are shown but not judged.

mod compare;

pub(crate) use compare::EXPERIMENT;

use crate::Result;
use crate::case::{self, Case, Operation};
use crate::contender::{self, Harness, Selection};
use crate::counting::{self, Instrument};
use crate::demux;
use crate::machine::Environment;
use crate::output::Json;
use clap::Args;
use compare::compare;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Contender whose calls have budgets.
const CONTENDER: &str = "punctual";
/// Set of contenders beside the usual one whose calls have budgets: name in the file and in
/// reports, contender, and operations.
struct Variant {
    name: &'static str,
    contender: &'static str,
    operations: &'static [Operation],
}

/// All variants.
const VARIANTS: [Variant; 9] = [
    Variant {
        name: "DII",
        contender: "punctual-dii",
        operations: &[
            Operation::CubeVoid,
            Operation::CubeLong,
            Operation::CubeStruct,
        ],
    },
    // A servant without a skeleton, by the dynamic skeleton interface.
    Variant {
        name: "DSI",
        contender: "punctual-dsi",
        operations: &[Operation::CubeVoid],
    },
    // A service context of a fixed length in each request.
    Variant {
        name: "context",
        contender: "punctual-context",
        operations: &[Operation::CubeVoid],
    },
    // To an object group: a request that a server keeps the reply of.
    Variant {
        name: "group",
        contender: "punctual-group",
        operations: &[Operation::CubeVoid],
    },
    // An interceptor that does nothing at each side.
    Variant {
        name: "intercepted",
        contender: "punctual-intercepted",
        operations: &[Operation::CubeVoid],
    },
    // Built like a user's program, with the default release profile.
    Variant {
        name: "plain",
        contender: crate::outsider::NAME,
        operations: &[Operation::CubeVoid, Operation::CubeLong],
    },
    // Real-time CORBA, with a lane at each side.
    Variant {
        name: "lane",
        contender: "punctual-lane",
        operations: &[Operation::CubeVoid],
    },
    // Asynchronous calls, one at a time. Those with reply handlers and futures have no budgets: when
    // their threads wait for each other is a matter of time.
    Variant {
        name: "poller",
        contender: "punctual-poller",
        operations: &[Operation::CubeVoid],
    },
    Variant {
        name: "Unix socket",
        contender: "punctual-uiop",
        operations: &[Operation::CubeVoid],
    },
];

/// Instruments with which the budgets are counted.
const INSTRUMENTS: [Instrument; 3] = [
    Instrument::Instructions,
    Instrument::SystemCalls,
    Instrument::Allocations,
];

/// Options of the command `budgets`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Write the current costs of calls to the file.
    #[arg(long, conflicts_with = "check")]
    update: bool,
    /// Fail when a cost is not within its budget; without it and --update, show only.
    #[arg(long)]
    check: bool,
    /// Fail when an instrument is not installed, instead of skipping it.
    #[arg(long)]
    require: bool,
    /// File of the budgets.
    #[arg(long, value_name = "FILE", default_value = "bench/budgets.json")]
    file: PathBuf,
    /// Only these cases.
    #[arg(long, value_delimiter = ',')]
    cases: Vec<Case>,
    /// Calls in the shorter of the two runs whose difference is counted.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    calls: u32,
    #[command(flatten)]
    json: Json,
}

/// Contents of the budgets file: how many instructions, allocations and system calls a call may
/// cost, and where they were counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Environment of the counts.
    pub environment: Environment,
    /// Set if the counted program was optimised.
    pub optimised: bool,
    /// Environment variables of the processes whose instructions were counted.
    pub variables: BTreeMap<String, String>,
    /// Budgets by case.
    pub cases: BTreeMap<String, Sides>,
    /// Budgets of other ways of calling, by their names and by case.
    #[serde(default)]
    pub variants: BTreeMap<String, BTreeMap<String, Sides>>,
    /// Server's instructions for a call of one object among many.
    #[serde(default)]
    pub demultiplexing: BTreeMap<String, f64>,
}

/// Budgets of a case's two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    /// Client's share of a call.
    pub client: Budget,
    /// Server's share of a call.
    pub server: Budget,
}

/// Cost of one side's share of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// User-space instructions.
    pub instructions: f64,
    /// System calls.
    pub system_calls: f64,
    /// Calls of the allocator.
    pub allocations: f64,
}

/// Runs the command.
///
/// # Errors
/// A budget is not kept, a contender or an instrument fails, or the file is invalid.
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
    let mut now = count(harness, CONTENDER, &cases, options.calls)?;
    if options.cases.is_empty() {
        for variant in &VARIANTS {
            let counted = count(harness, variant.contender, &variant.cases(), options.calls)?;
            now.variants.insert(variant.name.to_owned(), counted.cases);
        }
        now.demultiplexing = demultiplexing(harness)?;
    }
    if options.update {
        fs::write(&options.file, serde_json::to_string_pretty(&now)? + "\n")?;
        println!("{} cases, {}", now.cases.len(), options.file.display());
        return Ok(());
    }
    let budgets = read(&options.file)?;
    if options.check {
        take_again(harness, &budgets, &mut now, (&cases, options.calls))?;
    }
    let compared = compare(&budgets, &now);
    let (moved, counts) = (compared.moved(), compared.rows.len());
    options.json.deliver(&compared.report())?;
    match moved {
        0 => Ok(()),
        _ if !options.check => Ok(()),
        _ => Err(format!(
            "{moved} of {counts} counts are not within their budgets; if that is meant, run it with --update"
        )
        .into()),
    }
}

/// Repeats counts that are outside of their budgets, twice at most; the least counts. Other work on
/// the machine adds to them (a message that comes in two pieces, a connection that is handed over
/// as its thread waits for a processor), and never lowers them.
fn take_again(
    harness: &Harness,
    budgets: &Budgets,
    now: &mut Budgets,
    (cases, calls): (&[Case], u32),
) -> Result<()> {
    for _ in 0..2 {
        let report = compare(budgets, now);
        let usual = (CONTENDER, "", cases.to_vec());
        let variants = VARIANTS.iter();
        let variants = variants.map(|one| (one.contender, one.name, one.cases()));
        for (contender, how, cases) in std::iter::once(usual).chain(variants) {
            let moved = cases.iter().filter(|case| report.has_moved(how, case));
            let moved: Vec<Case> = moved.copied().collect();
            if moved.is_empty() {
                continue;
            }
            eprintln!(
                "{} of {contender}'s cases are counted once more",
                moved.len()
            );
            let once_more = count(harness, contender, &moved, calls)?.cases;
            let counted = now.variants.get_mut(how).unwrap_or(&mut now.cases);
            for (case, sides) in once_more {
                if let Some(before) = counted.get_mut(&case) {
                    *before = before.least(sides);
                }
            }
        }
        if now.demultiplexing.keys().any(|what| report.moved_at(what)) {
            eprintln!("calls of one object among many are counted once more");
            for (what, count) in demultiplexing(harness)? {
                let least = now.demultiplexing.entry(what).or_insert(count);
                *least = least.min(count);
            }
        }
    }
    Ok(())
}

/// Counts the server's instructions for calls of one object among many.
fn demultiplexing(harness: &Harness) -> Result<BTreeMap<String, f64>> {
    let counts = demux::counts::budgeted(harness)?.into_iter();
    Ok(counts.map(|(what, count)| (what, count.round())).collect())
}

/// Returns the cases with budgets: those of the goals, and one whose result is received into a buffer
/// of the caller's. Where the client allocates the result, the count depends on the C library's
/// heap: even another length of the program's path makes it 1,738 instead of 1,489.
fn with_budgets() -> Vec<Case> {
    let mut cases = case::of_the_goals();
    cases.push(Case::sized(Operation::EchoOctetsInto, 1024));
    cases
}

fn read(file: &Path) -> Result<Budgets> {
    let named = |error: &dyn fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| named(&error))?;
    Ok(serde_json::from_str(&text).map_err(|error| named(&error))?)
}

fn count(harness: &Harness, contender: &str, cases: &[Case], calls: u32) -> Result<Budgets> {
    let wanted = Selection::of(&[contender])?.without_floors();
    let (contenders, absent) = contender::known(harness, &wanted);
    let mut budgets = Budgets {
        environment: Environment::this(),
        optimised: !cfg!(debug_assertions),
        variables: BTreeMap::new(),
        cases: BTreeMap::new(),
        variants: BTreeMap::new(),
        demultiplexing: BTreeMap::new(),
    };
    for instrument in INSTRUMENTS {
        let report = counting::measure(instrument, &contenders, &absent, cases, calls)?;
        if let Some(reason) = report.skipped.first() {
            return Err(reason.clone().into());
        }
        let variables = instrument.environment().into_iter();
        budgets
            .variables
            .extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for cost in report.frame("costs") {
            let sides = budgets.cases.entry(cost.text("case")).or_default();
            let count = |side| rounded(instrument, cost.number(side).unwrap_or_default());
            *sides.client.count(instrument) = count("client");
            *sides.server.count(instrument) = count("server");
        }
    }
    Ok(budgets)
}

/// Rounds a count to its meaningful precision.
fn rounded(instrument: Instrument, count: f64) -> f64 {
    match instrument {
        Instrument::Instructions => count.round(),
        // Adding zero turns "-0" into "0".
        _ => (count * 10.0).round() / 10.0 + 0.0,
    }
}

impl Variant {
    fn cases(&self) -> Vec<Case> {
        self.operations.iter().copied().map(Case::plain).collect()
    }
}

impl Sides {
    /// Returns the lesser value of each count.
    fn least(self, other: Self) -> Self {
        Self {
            client: self.client.least(other.client),
            server: self.server.least(other.server),
        }
    }
}

impl Budget {
    fn least(self, other: Self) -> Self {
        Self {
            instructions: self.instructions.min(other.instructions),
            system_calls: self.system_calls.min(other.system_calls),
            allocations: self.allocations.min(other.allocations),
        }
    }

    fn count(&mut self, instrument: Instrument) -> &mut f64 {
        match instrument {
            Instrument::Instructions => &mut self.instructions,
            Instrument::SystemCalls | Instrument::ContextSwitches => &mut self.system_calls,
            Instrument::Allocations | Instrument::CopiedBytes => &mut self.allocations,
        }
    }
}
