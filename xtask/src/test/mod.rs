//! `cargo xtask test`: the tests that `cargo test --workspace` leaves out, and the suite on a busy machine.
//!
//! A test program that needs valgrind, network namespaces, SCHED_FIFO, a browser or minutes is a target with
//! `test = false` in its crate's manifest: `cargo test` neither builds nor runs it, `cargo xtask test --slow` does.

mod delays;
mod load;
mod machine;
mod programs;
mod report;
mod slow;

use crate::run::Result;
use delays::Delays;
use load::Load;
use machine::Machine;
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
    /// Run the suite with delays after some system calls of each thread (needs strace).
    #[arg(long, group = "suite")]
    delayed: bool,
    /// Measure programs, tests, processor time and disk space of `cargo test --workspace`.
    #[arg(long, group = "suite")]
    cost: bool,
    /// Runs of the suite under load, or with delays.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    times: u32,
    /// With `--under-load` and `--delayed`: only programs with this in their package's or their own name.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// With `--under-load`, `--delayed` and `--cost`: write the results to this file, as JSON.
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
    if options.delayed {
        Delays::check()?;
    }
    let load = match options.under_load {
        true => Some(Load::start()?),
        false => None,
    };
    let times = match options.cost {
        true => 1,
        false => options.times,
    };
    let rounds = (1..=times)
        .map(|number| {
            let machine = match &load {
                Some(load) => Machine::Busy(load),
                None if options.delayed => Machine::Delayed(Delays::of(number)),
                None => Machine::Quiet,
            };
            round(number, &programs, machine)
        })
        .collect::<Result<Vec<Round>>>()?;
    drop(load);
    report::print(&rounds, &programs, built.seconds);
    if let Some(file) = &options.json {
        report::write(file, &rounds, built.seconds)?;
    }
    report::failures(&rounds)
}

fn round(number: u32, programs: &[Program], machine: Machine<'_>) -> Result<Round> {
    let mut verdicts = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        eprint!(
            "\r\x1b[Kround {number}, program {} of {}: {}",
            place + 1,
            programs.len(),
            program.shown()
        );
        let verdict = Verdict::of(program, machine)?;
        for failure in &verdict.failures {
            eprintln!("\r\x1b[K{}: {failure} failed", program.shown());
        }
        verdicts.push(verdict);
    }
    eprintln!("\r\x1b[Kround {number} done");
    Ok(Round { number, verdicts })
}
