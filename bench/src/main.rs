//! The benchmarks' command.

use clap::{Parser, Subcommand};
use punctual_bench::contender::{self, Absent, Contender, FLOOR};
use punctual_bench::instructions::Instrument;
use punctual_bench::{Result, instructions, latency, peer};
use std::path::PathBuf;
use std::process::ExitCode;

/// Benchmarks: Punctual, a raw socket and other ORBs, interleaved in one run.
#[derive(Debug, Parser)]
#[command(name = "punctual-bench", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// How long calls take, beside a raw socket and other ORBs.
    Latency(latency::Options),
    /// User-space instructions a call, under valgrind.
    Instructions(instructions::Options),
    /// System calls a call, under strace.
    SystemCalls(instructions::Options),
    /// A side of a contender; the harness starts it.
    #[command(hide = true)]
    Peer {
        program: peer::Program,
        #[command(subcommand)]
        side: peer::Side,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Latency(options) => measure_latency(&options),
        Command::Instructions(options) => count(Instrument::Callgrind, &options),
        Command::SystemCalls(options) => count(Instrument::Strace, &options),
        Command::Peer { program, side } => peer::run(program, &side),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure_latency(options: &latency::Options) -> Result<()> {
    if cfg!(debug_assertions) {
        eprintln!("warning: not optimised; use cargo run --release");
    }
    let (contenders, absent) = contenders(|name| options.wants(name))?;
    print!("{}", latency::run(&contenders, &absent, options)?);
    Ok(())
}

fn count(instrument: Instrument, options: &instructions::Options) -> Result<()> {
    if let Err(reason) = instrument.check() {
        println!("skipped: {reason}");
        return Ok(());
    }
    let wanted = &options.contenders;
    let (contenders, absent) = contenders(|name| {
        if wanted.is_empty() {
            name != FLOOR
        } else {
            wanted.iter().any(|it| it == name)
        }
    })?;
    for Absent { name, reason } in &absent {
        eprintln!("skipped {name}: {reason}");
    }
    let costs = instructions::run(instrument, &contenders, options)?;
    print!("{}", instructions::table(instrument, &costs));
    Ok(())
}

fn contenders(wanted: impl Fn(&str) -> bool) -> Result<(Vec<Contender>, Vec<Absent>)> {
    let harness = std::env::current_exe()?;
    let directory = harness.parent().map_or_else(PathBuf::new, PathBuf::from);
    Ok(contender::known(
        &harness,
        &directory.join("bench-peers"),
        wanted,
    ))
}
