//! `punctual events`: event channels as servers.

mod cos;

use clap::Subcommand;
use std::process::ExitCode;

/// Subcommands of `punctual events`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// The Event Service of the OMG: channels that push and pull.
    #[command(subcommand)]
    Cos(cos::Options),
}

pub(crate) fn run(options: &Options) -> ExitCode {
    match options {
        Options::Cos(options) => cos::run(options),
    }
}
