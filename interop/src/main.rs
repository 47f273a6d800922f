//! Tries our ORB against a peer ORB and prints a matrix: `punctual-interop omniorb`, or `jacorb`.
//!
//! The matrix goes to standard output and ends with the line `N passed, N failed, N skipped`;
//! progress goes to standard error. The exit status is 1 when anything failed.

mod accounts;
mod asynchronous;
mod bridged;
mod build;
mod callbacks;
mod capture;
mod channels;
mod desks;
mod directions;
mod exchange;
mod groups;
mod hooks;
mod jacorb;
mod lanes;
mod later;
mod matrix;
mod names;
mod native;
mod omniorb;
mod peer;
mod process;
mod quality;
mod relay;
mod role;
mod secured;
mod servants;
mod services;
mod sides;
mod sockets;
mod tls;
mod transport;
mod values;
mod words;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

// The module is under `interop`, so that each file of generated code has a path of its own.
mod generated {
    #![allow(unreachable_pub, dead_code)]
    pub(crate) mod params {
        include!(concat!(env!("OUT_DIR"), "/params.rs"));
    }
    pub(crate) mod adapters {
        include!(concat!(env!("OUT_DIR"), "/adapters.rs"));
    }
    pub(crate) mod asynchronous {
        include!(concat!(env!("OUT_DIR"), "/asynchronous.rs"));
    }
    pub(crate) mod callbacks {
        include!(concat!(env!("OUT_DIR"), "/callbacks.rs"));
    }
    pub(crate) mod groups {
        include!(concat!(env!("OUT_DIR"), "/groups.rs"));
    }
    pub(crate) mod plain {
        include!(concat!(env!("OUT_DIR"), "/plain.rs"));
    }
    pub(crate) mod values {
        include!(concat!(env!("OUT_DIR"), "/values.rs"));
    }
    pub(crate) mod naming {
        include!(concat!(env!("OUT_DIR"), "/naming.rs"));
    }
}
use generated::adapters::adapters;
use generated::asynchronous::ami;
use generated::callbacks::callbacks as callback;
use generated::groups::groups as groups_idl;
use generated::naming;
use generated::params::params;
use generated::plain::plain;
use generated::values::values as v;

/// Tries our ORB against a peer ORB, both ways, in every version of GIOP.
#[derive(Debug, Parser)]
#[command(name = "punctual-interop", version)]
struct Options {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, clap::Subcommand)]
enum Role {
    /// Against omniORB, as Debian has it.
    Omniorb(Shown),
    /// Against JacORB, as Maven fetches it.
    Jacorb(Shown),
    /// Run the server of the accounts test, which is stopped and started again.
    #[command(hide = true)]
    ServeAccounts(accounts::Options),
    /// Run a member or a client of a multicast group.
    #[command(hide = true)]
    Group(groups::Options),
}

/// Choice of the tested part, and the matrix's form.
#[derive(Debug, clap::Args)]
struct Shown {
    /// Try values, Anys and asynchronous calls alone.
    #[arg(long)]
    values: bool,
    /// Try asynchronous calls, callbacks, interceptors and the policies of Messaging alone.
    #[arg(long)]
    calls: bool,
    /// Try event channels and notification channels alone.
    #[arg(long)]
    channels: bool,
    /// Try multicast groups alone.
    #[arg(long)]
    groups: bool,
    /// Fail if the peer, or the means to capture packets, is missing, instead of skipping it.
    #[arg(long)]
    require: bool,
    /// Print the matrix as JSON.
    #[arg(long)]
    json: bool,
}

/// Part of the matrix to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All cases.
    All,
    /// Values, Anys and asynchronous calls.
    Values,
    /// Asynchronous calls, callbacks, interceptors and the policies of Messaging.
    Calls,
    /// Event channels and notification channels.
    Channels,
    /// Multicast groups.
    Groups,
}

impl Shown {
    fn part(&self) -> Part {
        match (self.channels, self.calls, self.values) {
            _ if self.groups => Part::Groups,
            (true, ..) => Part::Channels,
            (false, true, _) => Part::Calls,
            (false, false, true) => Part::Values,
            (false, false, false) => Part::All,
        }
    }
}

/// Reason why a run could not be made.
pub(crate) type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let options = Options::parse();
    // Warnings of our ORB go where the progress goes.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command; returns whether no case failed.
fn run(options: &Options) -> Result<bool, Failure> {
    let mut matrix = matrix::Matrix::default();
    match &options.role {
        Role::Omniorb(shown) => {
            if let Some(why) = omniorb::missing() {
                return Ok(skipped("omniORB", &why, shown));
            }
            omniorb::run(&folder("interop-omniorb")?, shown.part(), &mut matrix)?;
            show(&matrix, shown)
        }
        Role::Jacorb(shown) => {
            if let Some(why) = jacorb::missing() {
                return Ok(skipped("JacORB", &why, shown));
            }
            jacorb::run(&folder("interop-jacorb")?, shown.part(), &mut matrix)?;
            show(&matrix, shown)
        }
        Role::ServeAccounts(options) => accounts::serve(options).map(|()| true),
        Role::Group(options) => groups::part(options).map(|()| true),
    }
}

fn skipped(peer: &str, why: &str, shown: &Shown) -> bool {
    println!("{peer} is skipped: {why}");
    !shown.require
}

fn show(matrix: &matrix::Matrix, shown: &Shown) -> Result<bool, Failure> {
    if shown.json {
        println!("{}", matrix.json()?);
    } else {
        println!("{matrix}");
    }
    let (_, failed, skipped) = matrix.counts();
    Ok(failed == 0 && (skipped == 0 || !shown.require))
}

/// Returns the folder of generated files: beside this program, in the target folder.
fn folder(name: &str) -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let beside = program.parent().ok_or("this program is in no folder")?;
    Ok(beside.join(name))
}
