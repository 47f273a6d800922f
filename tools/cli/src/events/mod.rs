//! `punctual events`: channels of events.

mod channel;
mod cos;
mod push;
mod serve;
mod subscribe;
mod watch;
mod web;

use crate::call::Problem;
use clap::Subcommand;
use std::process::ExitCode;

/// Subcommands of `punctual events`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Serve a real-time event channel (`RtecEventChannelAdmin`) until interrupted, and print its reference.
    Serve(serve::Options),
    /// Push events to a real-time event channel of any ORB.
    Push(push::Options),
    /// Print the events of a real-time event channel of any ORB, a line for each.
    Subscribe(subscribe::Options),
    /// Show the types, sources and rates of events that pass through a real-time event channel of any ORB.
    Watch(watch::Options),
    /// Serve the Event Service of the OMG: channels that push and pull.
    #[command(subcommand)]
    Cos(cos::Options),
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Cos(options) => return cos::run(options, orb_options),
        Options::Serve(options) => serve::run(options, orb_options).map_err(Problem::from),
        Options::Push(options) => push::run(options, orb_options),
        Options::Subscribe(options) => subscribe::run(options, orb_options),
        Options::Watch(options) => watch::run(options, orb_options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
