//! `punctual naming serve`: a naming service as a server.

use super::web;
use crate::flags::{Flags, Table};
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::Setting;
use punctual_naming::{LISTEN, open, settings};

/// It prints the root context's reference and runs until it is interrupted or terminated. Clients
/// find it at `corbaloc::HOST:PORT/NameService`, too. Each change is durable before it is
/// acknowledged. Every client that reaches it may read and change all of it, unless --allow says
/// otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    flags: Flags<Naming>,
}

/// Settings of the service, and of its page.
#[derive(Debug)]
struct Naming;

impl Table for Naming {
    fn settings() -> Vec<&'static Setting> {
        [settings().as_slice(), web::SETTINGS].concat()
    }
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.with_companion(web::page(&values)?);
    run_service(|| open(&values), run)
}
