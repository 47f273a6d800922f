//! `punctual ifr serve`: a repository as a server.

use super::idl::load_all;
use crate::flags::{Flags, Table};
use crate::idl_options::IdlOptions;
use crate::naming::registry::InNaming;
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::{NAMING, Setting};
use punctual_ifr::{LISTEN, open, settings};
use std::path::PathBuf;

/// It prints a reference to the repository, which `punctual call --ifr` and other ORBs' clients take, and
/// runs until it is interrupted or terminated. The objects of the ORBs that know it, by
/// `-ORBInitRef InterfaceRepository=REFERENCE`, describe their interfaces by it (`_get_interface`).
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    flags: Flags<Repository>,
    #[command(flatten)]
    idl: IdlOptions,
    /// IDL files to load first.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Settings of the service.
#[derive(Debug)]
struct Repository;

impl Table for Repository {
    fn settings() -> Vec<&'static Setting> {
        settings()
    }
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let values = options.flags.values()?;
    let run = RunOptions::of(&values, &LISTEN)?.with_orb_options(orb_options);
    let run = run.registered_in(InNaming(values.get(&NAMING)));
    let open = || {
        let server = open(&values)?;
        load_all(&server.repository, &options.files, &options.idl)?;
        Ok(server)
    };
    run_service(open, run)
}
