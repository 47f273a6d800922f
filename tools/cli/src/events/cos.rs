//! `punctual events cos`: the Event Service of the OMG as a server.

use crate::fail;
use crate::flags::{Flags, Table};
use crate::naming::registry::InNaming;
use clap::Subcommand;
use punctual_cosevent::{LISTEN, open, settings};
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};
use std::process::ExitCode;

/// Subcommands of `punctual events cos`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Serve an Event Service (`CosEventChannelAdmin`) until interrupted, and print the reference to its default channel.
    Serve(Serve),
}

/// It prints a reference to a `CosEventChannelAdmin::EventChannel`, and runs until it is interrupted or terminated. A
/// factory of further channels, with the interface of omniEvents, is at `corbaloc:iiop:HOST:PORT/EventChannelFactory`, and
/// as `omniEvents` for `eventc`; with --idl or --ifr, a typed channel is at `corbaloc:iiop:HOST:PORT/TypedEventChannel`.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags<EventService>,
}

/// Settings of the service.
#[derive(Debug)]
struct EventService;

impl Table for EventService {
    fn settings() -> Vec<&'static Setting> {
        settings()
    }
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let Options::Serve(options) = options;
    match serve(options, orb_options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem, problem.help()),
    }
}

fn serve(options: &Serve, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    run_service(|| open(&values), run)
}
