//! `punctual bench`: what this machine's calls cost.
//!
//! What compares Punctual with raw sockets and other ORBs is the `bench` crate, whose commands stand here
//! beside the matrix of protocols, which needs nothing but this command.

mod cubit;

use crate::fail;
use clap::Subcommand;
use punctual_bench::command;
use punctual_bench::contender::Harness;
use std::process::ExitCode;

/// Measures this machine's calls.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(flatten)]
    Compared(command::Command),
    /// Paper 000's figure 16: every messaging protocol over every link, by type of data.
    Cubit(cubit::Options),
    /// A side of a contender of the matrix; the measurement starts it.
    #[command(hide = true)]
    CubitPeer(cubit::Peer),
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let done = match &options.what {
        What::Compared(what) => Harness::this(&["bench"])
            .and_then(|harness| command::run(&harness, what))
            .map_err(|error| error.to_string()),
        What::Cubit(options) => cubit::run(options),
        What::CubitPeer(peer) => cubit::run_peer(peer),
    };
    done.map_or_else(|problem| fail(problem, None), |()| ExitCode::SUCCESS)
}
