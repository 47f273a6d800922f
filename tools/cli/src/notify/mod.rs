//! `punctual notify`: the Notification Service of the OMG.

mod channel;
mod pull;
mod push;
mod serve;

use crate::call::Problem;
use clap::Subcommand;
use std::process::ExitCode;

/// Subcommands of `punctual notify`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Serve a Notification Service (`CosNotifyChannelAdmin`) until interrupted, and print the reference to its factory.
    Serve(serve::Serve),
    /// List the channels of a Notification Service of any ORB, with the numbers of their administrators.
    Channels(channel::List),
    /// Create a channel, and print its id.
    Create(channel::Create),
    /// Push structured events into a channel.
    Push(push::Options),
    /// Pull structured events out of a channel, and print each as JSON on a line.
    Pull(pull::Options),
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Serve(options) => serve::run(options).map_err(Problem::from),
        Options::Channels(options) => channel::list(options, orb_options),
        Options::Create(options) => channel::create(options, orb_options),
        Options::Push(options) => push::run(options, orb_options),
        Options::Pull(options) => pull::run(options, orb_options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
