//! Program of the benchmarks, to which `punctual bench` hands over.

use clap::Parser;
use punctual_bench::child;
use punctual_bench::command::{self, Command};
use punctual_bench::contender::Harness;
use std::process::ExitCode;

/// Benchmarks: Punctual, raw sockets and other ORBs, interleaved in one run.
#[derive(Debug, Parser)]
#[command(name = "punctual-bench", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let done = child::end_with_parent()
        .and_then(|()| Harness::this())
        .and_then(|harness| command::run(&harness, &command));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
