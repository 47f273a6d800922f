//! `punctual imr serve` and `punctual imr activator`: the repository and activators as servers.

use crate::flags::{Flags, Table};
use crate::naming::registry::InNaming;
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};
use punctual_imr::{LISTEN, activator_settings, open, open_activator, settings};
use signal_hook::consts::SIGTERM;
use signal_hook::low_level::raise;

/// It prints the repository's reference and runs until it is interrupted or terminated. Servers find it by -ORBUseImR 1 and
/// -ORBImplRepoServiceIOR REFERENCE. With --activator it starts processes itself. Servers are added, started and ended by who runs
/// as the same user and comes by a Unix socket, unless --allow says otherwise: let it listen at one first.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags<Repository>,
}

/// It starts processes of this host for a repository, and says when these end. The processes go on when it ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Activate {
    #[command(flatten)]
    flags: Flags<Activator>,
}

/// Settings of the repository.
#[derive(Debug)]
struct Repository;

/// Settings of an activator.
#[derive(Debug)]
struct Activator;

impl Table for Repository {
    fn settings() -> Vec<&'static Setting> {
        settings()
    }
}

impl Table for Activator {
    fn settings() -> Vec<&'static Setting> {
        activator_settings()
    }
}

/// Ends this process as a signal from outside would, in good order.
fn end() {
    if let Err(error) = raise(SIGTERM) {
        tracing::error!("this process cannot be ended: {error}");
    }
}

pub(super) fn serve(options: &Serve, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    let open = || {
        let service = open(&values)?;
        service.set_end(end);
        Ok(service)
    };
    run_service(open, run)
}

pub(super) fn activate(options: &Activate, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    let open = || {
        let service = open_activator(&values)?;
        service.set_end(end);
        Ok(service)
    };
    run_service(open, run)
}
