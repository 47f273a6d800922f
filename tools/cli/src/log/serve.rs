//! `punctual log serve`.

use crate::flags::{Flags, Table};
use crate::naming::registry::InNaming;
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};
use punctual_log::{LISTEN, open, settings};

/// It prints a reference to a `DsLogAdmin::BasicLogFactory`, and runs until it is interrupted or terminated. The factory
/// is at `corbaloc:iiop:HOST:PORT/BasicLogFactory`, those of logs that are channels of the Event Service and of the
/// Notification Service at `EventLogFactory` and `NotifyLogFactory`.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags<LogService>,
}

/// Settings of the service.
#[derive(Debug)]
struct LogService;

impl Table for LogService {
    fn settings() -> Vec<&'static Setting> {
        settings()
    }
}

pub(super) fn run(options: &Serve, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    run_service(|| open(&values), run)
}
