//! `stubs`: compiled and interpreted stubs of an interface of 200 operations: size of the programs,
//! and instructions of calls (Gokhale and Schmidt 1998 and Arulanthu et al. 2000 compare the two).

use crate::Result;
use crate::counting::Instrument;
use crate::machine::Environment;
use crate::output::Json;
use crate::table::{Cell, Table, Tone};
use clap::Args;
use object::{Object, ObjectSection, SectionKind};
use serde::Serialize;
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Number of operations of the interface.
const OPERATIONS: u32 = 200;
/// Kinds of the operations, ten in turn; one of each is called.
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

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Calls of the shorter run.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    calls: u32,
    #[command(flatten)]
    json: Json,
}

/// Report of sizes and counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Environment on which the counts depend.
    pub environment: Environment,
    /// Bytes of the programs beyond those of one without stubs.
    pub sizes: Vec<Row>,
    /// User-space instructions of the client for a call.
    pub instructions: Vec<Row>,
}

/// Figure of each kind of stub.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Measured quantity.
    pub what: &'static str,
    /// Figure of compiled stubs.
    pub compiled: f64,
    /// Figure of interpreted stubs.
    pub interpreted: f64,
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
    let base = Size::of(&none)?;
    let beyond = |program: &Path| -> Result<Size> { Ok(Size::of(program)?.beyond(base)) };
    let sizes = size_rows(beyond(&compiled)?, beyond(&interpreted)?);
    let server = Server::start(&server?)?;
    let mut instructions = Vec::new();
    for (operation, what) in KINDS.into_iter().enumerate() {
        let count = |program: &Path| server.a_call(program, operation, options.calls);
        instructions.push(Row {
            what,
            compiled: count(&compiled)?,
            interpreted: count(&interpreted)?,
        });
    }
    let report = Report {
        environment: Environment::this(),
        sizes,
        instructions,
    };
    options.json.show(&report)
}

fn size_rows(compiled: Size, interpreted: Size) -> Vec<Row> {
    let row = |what, of: fn(Size) -> u64| Row {
        what,
        compiled: of(compiled) as f64 / f64::from(OPERATIONS),
        interpreted: of(interpreted) as f64 / f64::from(OPERATIONS),
    };
    vec![
        row("code", |size| size.code),
        row("constants", |size| size.data),
        row("tables for unwinding", |size| size.unwinding),
        row("together", |size| size.code + size.data + size.unwinding),
    ]
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

/// Process of the server, which ends with its input.
struct Server {
    process: Child,
    reference: String,
}

impl Server {
    fn start(program: &Path) -> Result<Self> {
        let mut process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("a server without output")?;
        let mut reference = String::new();
        BufReader::new(output).read_line(&mut reference)?;
        let reference = reference.trim().to_owned();
        Ok(Self { process, reference })
    }

    /// Returns the instructions of a call: the difference of a longer and a shorter run leaves out
    /// the cost of the start.
    fn a_call(&self, program: &Path, operation: usize, calls: u32) -> Result<f64> {
        let count = |calls| self.count(program, operation, calls);
        let (short, long) = (count(calls)?, count(2 * calls)?);
        Ok(long.saturating_sub(short) as f64 / f64::from(calls))
    }

    fn count(&self, program: &Path, operation: usize, calls: u32) -> Result<u64> {
        let instrument = Instrument::Instructions;
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("count");
        let wrapper = instrument.wrapper(&file);
        let (valgrind, options) = wrapper.split_first().ok_or("no instrument")?;
        let status = Command::new(valgrind)
            .args(options)
            .arg(program)
            .args([&self.reference, &operation.to_string(), &calls.to_string()])
            .envs(instrument.environment())
            .status()?;
        match status.success() {
            true => instrument.read(&file),
            false => Err(format!("{} ended with {status}", program.display()).into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.environment)?;
        let table = |title: &str, rows: &[Row]| Table {
            title: title.to_owned(),
            columns: ["compiled", "interpreted", "of compiled"]
                .map(str::to_owned)
                .to_vec(),
            rows: rows.iter().map(shown).collect(),
        };
        let sizes = "octets an operation, of 200, beyond a program without stubs";
        writeln!(f, "{}", table(sizes, &self.sizes))?;
        let instructions = "the client's user-space instructions a call";
        write!(f, "{}", table(instructions, &self.instructions))
    }
}

fn shown(row: &Row) -> (String, Vec<Cell>) {
    let plain = |text: String| Cell::new(text, Tone::Plain);
    let share = 100.0 * row.interpreted / row.compiled;
    let cells = vec![
        plain(format!("{:.0}", row.compiled)),
        plain(format!("{:.0}", row.interpreted)),
        plain(format!("{share:.0} %")),
    ];
    (row.what.to_owned(), cells)
}
