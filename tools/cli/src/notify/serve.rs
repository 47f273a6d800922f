//! `punctual notify serve`.

use super::web;
use crate::flags::{Flags, Table};
use crate::naming::registry::InNaming;
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};
use punctual_notification::{LISTEN, open, settings};

/// It prints a reference to a `CosNotifyChannelAdmin::EventChannelFactory`, and runs until it is interrupted or
/// terminated. The factory is at `corbaloc:iiop:HOST:PORT/NotifyEventChannelFactory`.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags<NotificationService>,
}

/// Settings of the service, and of its page.
#[derive(Debug)]
struct NotificationService;

impl Table for NotificationService {
    fn settings() -> Vec<&'static Setting> {
        [settings().as_slice(), web::SETTINGS].concat()
    }
}

pub(super) fn run(options: &Serve, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    let run = run.with_companion(web::page(&values)?);
    run_service(|| open(&values), run)
}
