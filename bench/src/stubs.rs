//! `stubs`: compiled and interpreted stubs of an interface of 200 operations: size of the programs,
//! and instructions of calls (Gokhale and Schmidt 1998 and Arulanthu et al. 2000 compare the two).

use crate::Result;
use crate::child::Process;
use crate::counting::{Instrument, of_one};
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::machine::{ENVIRONMENT, Environment};
use crate::output::Json;
use clap::Args;
use object::{Object, ObjectSection, SectionKind};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of operations of the interface.
const OPERATIONS: u32 = 200;
/// Kinds of operations, which the interface repeats; one operation of each kind is called.
const KINDS: [&str; 10] = [
    "nothing",
    "a long there and back",
    "a string there and back",
    "a struct of numbers there and back",
    "4 longs there and back",
    "a long and a string there, a double back",
    "an inout long, and an exception declared",
    "a struct of a string and 2 longs there and back",
    "an enum there and back, a double there",
    "a string inout, a sequence of strings there and back",
];

const COLUMNS: &[Column] = &[
    Column::number("compiled", "compiled"),
    Column::number("interpreted", "interpreted"),
    Column::percent("of compiled", "of_compiled")
        .decimals(0)
        .followed_by(" %"),
];

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "stubs",
    "how large compiled and interpreted stubs are, and what their calls cost",
)
.frames(&["sizes", "instructions"])
.conditions(ENVIRONMENT)
.tables(&[
    Tabled::listing(
        "sizes",
        "octets an operation, of 200, beyond a program without stubs",
        "{what}",
        COLUMNS,
    ),
    Tabled::listing(
        "instructions",
        "the client's user-space instructions a call",
        "{what}",
        COLUMNS,
    ),
]);

/// Options of the command `stubs`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Calls of the shorter run.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    calls: u32,
    #[command(flatten)]
    json: Json,
}

/// Size of a program in memory, in bytes.
#[derive(Clone, Copy, Debug)]
struct Size {
    code: u64,
    data: u64,
    unwinding: u64,
}

/// Runs the command.
///
/// # Errors
/// A program is not built, or fails, or valgrind is not installed.
pub fn run(options: &Options) -> Result<()> {
    Instrument::Instructions.check()?;
    let [none, compiled, interpreted, server] = [
        "stubs-none",
        "stubs-compiled",
        "stubs-interpreted",
        "stubs-server",
    ]
    .map(program);
    let (none, compiled, interpreted) = (none?, compiled?, interpreted?);
    let mut report = Report::new(&EXPERIMENT, Environment::this().on(Row::default()));
    let base = Size::of(&none)?;
    let beyond = |program: &Path| -> Result<Size> { Ok(Size::of(program)?.beyond(base)) };
    report.add("sizes", sizes(beyond(&compiled)?, beyond(&interpreted)?));
    let server = Process::start(&mut Command::new(server?))?;
    for (operation, what) in KINDS.into_iter().enumerate() {
        let count = |program: &Path| a_call(program, server.said(), operation, options.calls);
        report.add(
            "instructions",
            [row(what, count(&compiled)?, count(&interpreted)?)],
        );
    }
    server.stop()?;
    options.json.deliver(&report)
}

fn row(what: &str, compiled: f64, interpreted: f64) -> Row {
    Row::default()
        .with("what", what)
        .with("compiled", compiled)
        .with("interpreted", interpreted)
        .with("of_compiled", interpreted / compiled)
}

#[allow(clippy::cast_precision_loss)]
fn sizes(compiled: Size, interpreted: Size) -> [Row; 4] {
    let row = |what, of: fn(Size) -> u64| {
        let each = |size| of(size) as f64 / f64::from(OPERATIONS);
        row(what, each(compiled), each(interpreted))
    };
    [
        row("code", |size| size.code),
        row("constants", |size| size.data),
        row("tables for unwinding", |size| size.unwinding),
        row("together", |size| size.code + size.data + size.unwinding),
    ]
}

/// Returns the client's instructions of a call.
fn a_call(program: &Path, reference: &str, operation: usize, calls: u32) -> Result<f64> {
    let [count] = of_one(calls, |calls| {
        let mut client = Command::new(program);
        client.args([reference, &operation.to_string(), &calls.to_string()]);
        Ok([Instrument::Instructions.count(&client)?])
    })?;
    Ok(count)
}

/// Returns the path of a program that is built beside this one.
fn program(name: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    if path.is_file() {
        return Ok(path);
    }
    let release = if cfg!(debug_assertions) {
        ""
    } else {
        " --release"
    };
    let build = format!("cargo build{release} --package punctual-bench-stubs");
    Err(format!("{} is not built: {build}", path.display()).into())
}

impl Size {
    fn of(program: &Path) -> Result<Self> {
        let octets = fs::read(program)?;
        let file = object::File::parse(&*octets)?;
        let mut this = Self {
            code: 0,
            data: 0,
            unwinding: 0,
        };
        for section in file.sections() {
            let name = section.name().unwrap_or_default();
            match section.kind() {
                SectionKind::Text => this.code += section.size(),
                _ if name.starts_with(".eh_frame") || name == ".gcc_except_table" => {
                    this.unwinding += section.size();
                }
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString | SectionKind::Data => {
                    this.data += section.size();
                }
                _ => {}
            }
        }
        Ok(this)
    }

    fn beyond(self, base: Self) -> Self {
        Self {
            code: self.code.saturating_sub(base.code),
            data: self.data.saturating_sub(base.data),
            unwinding: self.unwinding.saturating_sub(base.unwinding),
        }
    }
}
