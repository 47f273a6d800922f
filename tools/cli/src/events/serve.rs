//! `punctual events serve`: a real-time event channel as a server.

use super::web;
use crate::flags::{Flags, Table};
use crate::naming::registry::InNaming;
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};
use punctual_rtevent_service::{LISTEN, open, settings};

/// It prints a reference to an `RtecEventChannelAdmin::EventChannel`, whose interface is TAO's, and runs until it is
/// interrupted or terminated. Programs of TAO find it by the name `EventService` in a Naming Service:
/// `--bind-name EventService`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    flags: Flags<RealTimeEvents>,
}

/// Settings of the service, and of its page.
#[derive(Debug)]
struct RealTimeEvents;

impl Table for RealTimeEvents {
    fn settings() -> Vec<&'static Setting> {
        [settings().as_slice(), web::SETTINGS].concat()
    }
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    let run = run.with_companion(web::page(&values)?);
    run_service(|| open(&values), run)
}
