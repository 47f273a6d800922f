//! `punctual group serve`: object groups as a server.

use super::web;
use crate::flags::{Flags, Table};
use crate::naming::registry::InNaming;
use punctual_groups_service::{LISTEN, open, settings};
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};

/// It prints the ReplicationManager's reference and runs until it is interrupted or terminated. The LoadManager is at the same
/// endpoints, as corbaloc:…/LoadManager.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags<Groups>,
}

/// Settings of the service, and of its page.
#[derive(Debug)]
struct Groups;

impl Table for Groups {
    fn settings() -> Vec<&'static Setting> {
        [settings().as_slice(), web::SETTINGS].concat()
    }
}

pub(super) fn serve(options: &Serve, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    let run = run.with_companion(web::page(&values)?);
    run_service(|| open(&values), run)
}
