//! `punctual events`: channels of events.

mod serve;

use clap::Subcommand;
use std::process::ExitCode;

/// Subcommands of `punctual events`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Serve a real-time event channel (`RtecEventChannelAdmin`) until interrupted, and print its reference.
    Serve(serve::Options),
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let outcome = match options {
        Options::Serve(options) => serve::run(options),
    };
    outcome.unwrap_or_else(|code| code)
}
