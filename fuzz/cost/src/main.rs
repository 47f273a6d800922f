//! `cargo run --release -p punctual-cost`: table of the cost of expensive inputs.
//!
//! Valgrind's callgrind counts instructions for inputs of two lengths: the difference, for each
//! byte by which the longer one is longer. If that grows with the length, the work is not linear.

use clap::Parser;
use punctual_cost::{Cost, Counted, SHAPES, Shape, shape};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Upper bound of the ratio between the instructions per byte of an input and of one half as long:
/// up to it the work counts as linear.
const LINEAR: f64 = 1.4;

/// Instructions per byte that are allowed on top of the ratio [`LINEAR`]: input that is refused
/// early costs hardly any, except for reading it from a file.
const NOISE: f64 = 1.0;

/// Measures the cost of expensive inputs: bytes allocated and instructions, for each octet received.
#[derive(Parser)]
struct Options {
    /// Only shapes whose decoder or name contains this.
    only: Option<String>,
    /// Length of the shortest of three inputs, in bytes; each is twice as long as the one before.
    #[arg(long, default_value_t = 1 << 15)]
    from: usize,
    /// Do not count instructions, which needs valgrind.
    #[arg(long)]
    without_instructions: bool,
    /// Read one input and end: the part that callgrind counts.
    #[arg(long, num_args = 3, value_names = ["DECODER", "SHAPE", "FILE"], hide = true)]
    read: Option<Vec<String>>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    if let Some([decoder, name, file]) = options.read.as_deref() {
        let shape = shape(decoder, name).ok_or("there is no such shape")?;
        // The outcome was checked when memory was counted.
        let _ = (shape.read)(&std::fs::read(file)?);
        return Ok(true);
    }
    let chosen = |one: &&Shape| {
        let wanted = options.only.as_deref().unwrap_or_default();
        one.decoder.contains(wanted) || one.name.contains(wanted)
    };
    let mut holds = true;
    anstream::println!(
        "| decoder | shape | read | allocated / octet | at a time | of | instructions / octet | twice as long |"
    );
    anstream::println!("|---|---|---|--:|--:|--:|--:|--:|");
    for shape in SHAPES.iter().flat_map(|some| some.iter()).filter(chosen) {
        let row = Row::of(shape, options)?;
        holds &= row.holds();
        row.print();
    }
    Ok(holds)
}

struct Row {
    shape: &'static Shape,
    /// Cost of the longest input: its length, allocations and outcome.
    cost: Cost,
    /// Instructions per byte, for a short input and for one twice as long.
    instructions: Option<[f64; 2]>,
}

impl Row {
    fn of(shape: &'static Shape, options: &Options) -> Result<Self, Box<dyn Error>> {
        let lengths = [1, 2, 4].map(|times| times * options.from);
        let counts = !options.without_instructions;
        Ok(Self {
            shape,
            cost: shape.cost(lengths[2]),
            instructions: counts.then(|| per_octet(shape, lengths)).transpose()?,
        })
    }

    fn is_linear(&self) -> bool {
        self.instructions
            .is_none_or(|[short, long]| long <= short * LINEAR + NOISE)
    }

    fn holds(&self) -> bool {
        let Cost {
            received,
            allocated,
            ref outcome,
        } = self.cost;
        self.shape.bounded(allocated) <= self.shape.allowed(received)
            && self.shape.end.is(received, outcome)
            && self.is_linear()
    }

    /// Returns the allocated bytes per byte of input, after subtracting those that are allowed for
    /// any input.
    fn per_octet(&self, counted: usize) -> f64 {
        ratio(
            counted.saturating_sub(self.shape.beside),
            self.cost.received,
        )
    }

    fn print(&self) {
        let Shape {
            decoder,
            name,
            times,
            counted,
            ..
        } = self.shape;
        let of_these = match counted {
            Counted::InAll => "",
            Counted::AtATime => " at a time",
        };
        let read = match &self.cost.outcome {
            Ok(()) => "whole".to_owned(),
            Err(refusal) => format!("to {}: {}", refusal.at, refusal.why),
        };
        let counts = match self.instructions {
            Some([short, long]) => format!("{short:.0} | {long:.0}"),
            None => "not counted | ".to_owned(),
        };
        let mark = if self.holds() { "" } else { " !" };
        let (total, peak) = (self.cost.allocated.total, self.cost.allocated.peak);
        let (total, peak) = (self.per_octet(total), self.per_octet(peak));
        anstream::println!(
            "| {decoder} | {name} | {read} | {total:.1} | {peak:.1} | {times}{of_these} | {counts}{mark} |"
        );
    }
}

#[expect(clippy::cast_precision_loss)]
fn ratio(of: usize, to: usize) -> f64 {
    of as f64 / to as f64
}

/// Returns the instructions per byte for two steps: each is the difference between an input and one
/// of half its length, divided by the difference in length.
fn per_octet(shape: &Shape, lengths: [usize; 3]) -> Result<[f64; 2], Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut counts = Vec::new();
    for length in lengths {
        let input = (shape.make)(length);
        let file = folder.path().join("input");
        std::fs::write(&file, &input)?;
        counts.push((input.len(), instructions(shape, &file, folder.path())?));
    }
    let more = |at: usize| {
        let ((short, few), (long, many)) = (counts[at], counts[at + 1]);
        ratio(many.saturating_sub(few), long - short)
    };
    Ok([more(0), more(1)])
}

fn instructions(shape: &Shape, file: &Path, folder: &Path) -> Result<usize, Box<dyn Error>> {
    let out: PathBuf = folder.join("callgrind");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe()?)
        .args(["--read", shape.decoder, shape.name])
        .arg(file)
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("valgrind could not be started: {error}"))?;
    if !status.success() {
        return Err(format!("{}, {}: {status}", shape.decoder, shape.name).into());
    }
    let told = std::fs::read_to_string(&out)?;
    let total = told.lines().find_map(|line| line.strip_prefix("summary: "));
    Ok(total
        .ok_or("callgrind has counted nothing")?
        .trim()
        .parse()?)
}
