//! `punctual naming serve`: a naming service as a server.

use super::process::NamingProcess;
use super::{web, with_groups};
use crate::flags::{Flags, Table};
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::Setting;
use punctual_naming::{LISTEN, open, settings};

/// It prints the root context's reference and runs until it is interrupted or terminated. Clients
/// find it at `corbaloc::HOST:PORT/NameService`, too. Each change is durable before it is
/// acknowledged. Every client that reaches it may read and change all of it, unless --allow says
/// otherwise. With --groups, the process serves object groups, too, and prints the ReplicationManager's
/// reference in a second line.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    flags: Flags<Naming>,
}

/// Settings of the service, of the groups beside it, and of its page.
#[derive(Debug)]
struct Naming;

impl Table for Naming {
    fn settings() -> Vec<&'static Setting> {
        [settings().as_slice(), with_groups::SETTINGS, web::SETTINGS].concat()
    }
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.with_companion(web::page(&values)?);
    let run = run.with_companion(with_groups::reference(&values));
    let opened = || {
        let groups = with_groups::opened(&values)?;
        let names = open(&values)?;
        Ok(NamingProcess { names, groups })
    };
    run_service(opened, run)
}
