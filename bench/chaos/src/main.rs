//! Chaos test of object groups: three hosts, each with a member of etcd, a group service and members of groups of each style;
//! clients on a fourth. Processes are killed and stopped and links are cut at random, and a checker looks for what no client may
//! see: an addition that was acknowledged and is lost, a value of the past, two primaries at one time.
//!
//! The hosts are network namespaces ([`net`]), their processes a [`fleet`]. [`run`] is the process of the clients ([`load`]), which
//! causes the [`faults`], too; [`member`] and the service are processes of their own. What clients were answered is a [`history`],
//! which the [`checker`] looks at in the end, and there are a [`report`] and a [`plot`].
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod active;
mod checker;
mod faults;
mod fleet;
mod history;
#[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
mod idl;
mod load;
mod logged;
mod member;
mod net;
mod plot;
#[allow(dead_code, reason = "the soak needs more of it")]
#[path = "../../soak/src/random.rs"]
mod random;
mod replica;
mod report;
mod run;
mod subject;

use clap::{Parser, Subcommand};
use punctual_groups_service::{LISTEN, open, settings};
use punctual_host::run::{RunOptions, run as run_service};
use punctual_host::settings::Values;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Chaos test of object groups: faults at random on three hosts, and a checker of what clients were answered.
#[derive(Debug, Parser)]
#[command(
    name = "punctual-chaos",
    version,
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    #[command(flatten)]
    options: run::Options,
    #[command(subcommand)]
    role: Option<Role>,
}

/// Role of a process of the test.
#[derive(Debug, Subcommand)]
#[command(hide = true)]
enum Role {
    /// Run the clients, and cause faults.
    Drive {
        prefix: String,
        #[command(flatten)]
        options: run::Options,
    },
    /// Run a group service.
    Serve { settings: PathBuf },
    /// Run a member of a group.
    Member(member::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.role {
        None => run::run(&arguments.options),
        Some(Role::Drive { prefix, options }) => run::drive(prefix, options),
        Some(Role::Serve { settings }) => serve(settings),
        Some(Role::Member(options)) => member::run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let red = anstyle::AnsiColor::Red.on_default().bold();
            anstream::eprintln!("{red}error{red:#}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(file: &Path) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let values = Values::from_toml(&settings(), &file.display().to_string(), &text)?;
    let options = RunOptions::of(&values, &LISTEN)?;
    Ok(run_service(|| open(&values), options)?)
}
