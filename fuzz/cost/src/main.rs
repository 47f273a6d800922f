//! `cargo run --release -p punctual-cost`: the table of what inputs cost that are made to be dear.
//!
//! Instructions are counted by valgrind's callgrind, of inputs of two lengths: what the longer takes more, for each
//! octet that it is longer. Where that grows with the length, the work is not linear.

use clap::Parser;
use punctual_cost::{Cost, Counted, SHAPES, Shape, shape};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// How much more an octet may take of an input twice as long, for the work to be called linear.
const LINEAR: f64 = 1.4;

/// Instructions for each octet by which two runs may differ: what is refused takes none, but for its input to be read
/// from a file.
const NOISE: f64 = 1.0;

/// What inputs cost that are made to be dear: octets allocated and instructions, for each octet received.
#[derive(Parser)]
struct Options {
    /// Only shapes whose decoder or name holds this.
    only: Option<String>,
    /// How long the shortest of three inputs is, in octets; each is twice the one before.
    #[arg(long, default_value_t = 1 << 15)]
    from: usize,
    /// Count no instructions, for which valgrind is needed.
    #[arg(long)]
    without_instructions: bool,
    /// Read one input and end: what callgrind counts.
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
        // How it ends was checked where memory was counted.
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
    /// Of the longest input.
    cost: Cost,
    /// Instructions for each octet, of a short input and of one twice as long.
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

    /// Octets for each one received, of what is counted beyond what is allowed beside.
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

/// Instructions for each octet that an input is longer than one half as long.
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
