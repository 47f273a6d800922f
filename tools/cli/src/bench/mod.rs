//! `punctual bench`: measurements that need nothing but this command.
//!
//! What compares Punctual with other ORBs, call by call and size by size, is the `bench` crate; this
//! command reuses its statistics.

mod cubit;

use crate::fail;
use clap::Subcommand;
use std::process::ExitCode;

/// Measures this machine's calls.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Paper 000's figure 16: every messaging protocol over every link, by type of data.
    Cubit(cubit::Options),
    /// A side of a contender; the measurement starts it.
    #[command(hide = true)]
    Peer(cubit::Peer),
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let done = match &options.what {
        What::Cubit(options) => cubit::run(options),
        What::Peer(peer) => cubit::run_peer(peer),
    };
    done.map_or_else(|problem| fail(problem, None), |()| ExitCode::SUCCESS)
}
