//! Tries our ORB against a peer ORB and prints a matrix: `punctual-interop omniorb`, or `jacorb`.
//!
//! The matrix goes to standard output and ends with the line `N passed, N failed, N skipped`;
//! progress goes to standard error. The exit status is 1 when anything failed.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bridged;
mod build;
mod capture;
mod directions;
mod jacorb;
mod matrix;
mod native;
mod omniorb;
mod peer;
mod process;
mod relay;
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

// Under `interop`, so that each file of generated code has a place of its own.
mod generated {
    #![allow(unreachable_pub, dead_code)]
    pub(crate) mod params {
        include!(concat!(env!("OUT_DIR"), "/params.rs"));
    }
    pub(crate) mod naming {
        include!(concat!(env!("OUT_DIR"), "/naming.rs"));
    }
}
use generated::naming;
use generated::params::params;

/// Tries our ORB against a peer ORB, both ways, in every version of GIOP.
#[derive(Debug, Parser)]
#[command(name = "punctual-interop", version)]
struct Options {
    /// The peer.
    peer: Peer,
    /// Fail if the peer, or the means to capture packets, is missing, instead of skipping it.
    #[arg(long)]
    require: bool,
    /// Print the matrix as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Peer {
    /// omniORB, as Debian has it.
    Omniorb,
    /// JacORB, as Maven fetches it.
    Jacorb,
}

/// Why a run could not be made.
pub(crate) type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let options = Options::parse();
    // What our ORB complains of goes the way of the progress.
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

/// Whether all is well.
fn run(options: &Options) -> Result<bool, Failure> {
    let (name, missing) = match options.peer {
        Peer::Omniorb => ("omniORB", omniorb::missing()),
        Peer::Jacorb => ("JacORB", jacorb::missing()),
    };
    if let Some(why) = missing {
        println!("{name} is skipped: {why}");
        return Ok(!options.require);
    }
    let mut matrix = matrix::Matrix::default();
    match options.peer {
        Peer::Omniorb => omniorb::run(&folder("interop-omniorb")?, &mut matrix)?,
        Peer::Jacorb => jacorb::run(&folder("interop-jacorb")?, &mut matrix)?,
    }
    if options.json {
        println!("{}", matrix.json()?);
    } else {
        println!("{matrix}");
    }
    let (_, failed, skipped) = matrix.counts();
    Ok(failed == 0 && (skipped == 0 || !options.require))
}

/// Where what is generated goes: beside this program, in the target folder.
fn folder(name: &str) -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let beside = program.parent().ok_or("this program is in no folder")?;
    Ok(beside.join(name))
}
