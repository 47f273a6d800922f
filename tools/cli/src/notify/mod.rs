//! `punctual notify`: the Notification Service of the OMG.

mod bridge;
mod channel;
mod filter;
mod kinds;
mod pull;
mod push;
mod serve;
mod structured;
mod topology;
mod watch;
mod web;

pub(crate) use filter::refusal;

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
    /// Publish events of a channel on NATS subjects, and push messages on these into it.
    Bridge(bridge::Options),
    /// Show the proxies of a channel with their queues, and what was lost.
    Watch(watch::Options),
    /// Print channels with their administrators, filters and connections as TOML.
    Export(topology::Export),
    /// Make channels, administrators, filters and connections as a file of TOML says.
    Import(topology::Import),
    /// Check constraints of filters.
    #[command(subcommand)]
    Filter(filter::Options),
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Serve(options) => serve::run(options, orb_options).map_err(Problem::from),
        Options::Channels(options) => channel::list(options, orb_options),
        Options::Create(options) => channel::create(options, orb_options),
        Options::Push(options) => push::run(options, orb_options),
        Options::Pull(options) => pull::run(options, orb_options),
        Options::Bridge(options) => bridge::run(options, orb_options),
        Options::Watch(options) => watch::run(options, orb_options),
        Options::Export(options) => topology::export(options, orb_options),
        Options::Import(options) => topology::import(options, orb_options),
        Options::Filter(options) => filter::run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
