//! `punctual schedule serve`: the scheduling service as a server.

use crate::fail;
use crate::flags::{Flags, Table};
use crate::naming::registry::InNaming;
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};
use punctual_scheduler::{LISTEN, open, settings};
use std::process::ExitCode;

/// It prints a reference to an `RtecScheduler::Scheduler`, whose interface is TAO's, and runs until it is
/// interrupted or terminated. Programs of TAO find it by the name `ScheduleService` in a Naming Service:
/// `--bind-name ScheduleService`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    flags: Flags<Scheduler>,
}

/// Settings of the service.
#[derive(Debug)]
struct Scheduler;

impl Table for Scheduler {
    fn settings() -> Vec<&'static Setting> {
        settings()
    }
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<ExitCode, ExitCode> {
    let served = serve(options, orb_options).map(|()| ExitCode::SUCCESS);
    served.map_err(|problem| fail(&problem, problem.help()))
}

fn serve(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    run_service(|| open(&values), run)
}
