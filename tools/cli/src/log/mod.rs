//! `punctual log`: the Telecom Log Service of the OMG.

mod factory;
mod query;
mod serve;
mod write;

use crate::call::Problem;
use clap::Subcommand;
use std::process::ExitCode;

/// Subcommands of `punctual log`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Serve a Telecom Log Service (`DsLogAdmin`) until interrupted, and print the reference to its factory.
    Serve(serve::Serve),
    /// List the logs of a Telecom Log Service of any ORB: their records, sizes and states.
    Logs(factory::List),
    /// Create a log, and print its id.
    Create(factory::Create),
    /// Write records into a log, which are durable when the command has ended.
    Write(write::Options),
    /// Print the records of a log that meet a constraint, each as JSON on a line.
    Query(query::Options),
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Serve(options) => serve::run(options, orb_options).map_err(Problem::from),
        Options::Logs(options) => factory::list(options, orb_options),
        Options::Create(options) => factory::create(options, orb_options),
        Options::Write(options) => write::run(options, orb_options),
        Options::Query(options) => query::run(options, orb_options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
