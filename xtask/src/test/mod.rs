//! `cargo xtask test`: the tests that `cargo test --workspace` leaves out, and the suite on a busy machine.
//!
//! A test program that needs valgrind, network namespaces, SCHED_FIFO, a browser or minutes is a target with
//! `test = false` in its crate's manifest: `cargo test` neither builds nor runs it, `cargo xtask test --slow` does.

mod load;
mod programs;
mod report;
mod slow;

use crate::run::Result;
use load::Load;
use programs::Program;
use report::{Round, Verdict};
use std::path::PathBuf;

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("suite").required(true))]
pub(crate) struct Options {
    /// Run the test programs that `cargo test --workspace` leaves out.
    #[arg(long, group = "suite")]
    slow: bool,
    /// Run the suite on one processor, with twice as many busy loops as processors beside it.
    #[arg(long, group = "suite")]
    under_load: bool,
    /// Measure programs, tests, processor time and disk space of `cargo test --workspace`.
    #[arg(long, group = "suite")]
    cost: bool,
    /// Runs of the suite under load.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    times: u32,
    /// With `--under-load`: only programs with this in their package's or their own name.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// With `--under-load` and `--cost`: write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.slow {
        return slow::run();
    }
    let built = programs::build(&[])?;
    let mut programs = built.programs;
    if let Some(only) = &options.only {
        programs.retain(|one| one.package.contains(only) || one.name.contains(only));
    }
    let (times, load) = match options.under_load {
        true => (options.times, Some(Load::start()?)),
        false => (1, None),
    };
    let rounds = (1..=times)
        .map(|number| round(number, &programs, load.as_ref()))
        .collect::<Result<Vec<Round>>>()?;
    drop(load);
    report::print(&rounds, &programs, built.seconds);
    if let Some(file) = &options.json {
        report::write(file, &rounds, built.seconds)?;
    }
    report::failures(&rounds)
}

fn round(number: u32, programs: &[Program], load: Option<&Load>) -> Result<Round> {
    let mut verdicts = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        eprint!(
            "\r\x1b[Kround {number}, program {} of {}: {}",
            place + 1,
            programs.len(),
            program.shown()
        );
        let verdict = Verdict::of(program, load)?;
        for failure in &verdict.failures {
            eprintln!("\r\x1b[K{}: {failure} failed", program.shown());
        }
        verdicts.push(verdict);
    }
    eprintln!("\r\x1b[Kround {number} done");
    Ok(Round { number, verdicts })
}
