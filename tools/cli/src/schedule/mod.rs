//! `punctual schedule`: proves that operations meet their deadlines, before they run, and serves their schedule.

mod assign;
mod changed;
mod check;
mod compare;
mod comparison;
mod draw;
mod explain;
mod here;
mod kernel_share;
mod measured_file;
mod noise;
mod record;
mod rehearse;
mod serve;
mod source;
mod text;
mod values;

use clap::Subcommand;
use std::process::ExitCode;

pub(crate) use draw::write_picture;
pub(crate) use values::picture;

/// Subcommands of `punctual schedule`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Check that all operations of a model meet their deadlines; the exit status is 1 if some do not.
    Check(check::Options),
    /// Print the priority of each operation, and what it costs to have fewer lanes than priorities.
    Assign(assign::Options),
    /// Explain the response time of an operation, term by term.
    Explain(explain::Options),
    /// Check a model with some values changed, beside the model as it is.
    WhatIf(changed::Options),
    /// Draw the time line of a model from a simulation: releases, preemptions, blocking, deadlines.
    Draw(draw::Options),
    /// Execute a model on this machine, with stand-ins that use the planned processor time; the exit status is 1 if
    /// a deadline was missed or a response took longer than computed.
    Rehearse(rehearse::Options),
    /// Measure the time that the platform takes of a processor, above all priorities: for the key `interference`.
    Noise(noise::Options),
    /// Serve a real-time scheduling service (`RtecScheduler`) until interrupted, and print its reference.
    Serve(serve::Options),
    /// Run a program, and make a model of the execution times and periods that its ORB measures.
    Record(record::Options),
    /// Compare a model with what ran, measured times or a time line; the exit status is 1 if something needed more than planned.
    Compare(compare::Options),
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let outcome = match options {
        Options::Check(options) => check::run(options),
        Options::Assign(options) => assign::run(options),
        Options::Explain(options) => explain::run(options),
        Options::WhatIf(options) => changed::run(options),
        Options::Draw(options) => draw::run(options),
        Options::Rehearse(options) => rehearse::run(options),
        Options::Noise(options) => noise::run(options),
        Options::Serve(options) => serve::run(options, orb_options),
        Options::Record(options) => record::run(options),
        Options::Compare(options) => compare::run(options),
    };
    outcome.unwrap_or_else(|code| code)
}
