//! IDL of the papers' benchmarks, its servant, and the calls that verify it.
//!
//! `cubit-server` writes its reference to `--ior-file`; `cubit-client` takes it as `--ior`. Both
//! programs are thin wrappers of [`server::run`] and [`client::run`].
#![forbid(unsafe_code)]

pub mod calls;
pub mod client;
mod servant;
pub mod server;

pub use servant::CubitImpl;

use clap::Parser;
use punctual::Orb;
use std::error::Error;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Rust that the IDL compiler generates from `cubit.idl`.
pub mod idl {
    include!(concat!(env!("OUT_DIR"), "/cubit.rs"));
}

/// Starts an ORB, runs a program with the arguments that the ORB has left, and prints its error, if
/// any, to standard error.
pub fn main_with<P: Parser>(
    arguments: impl IntoIterator<Item = String>,
    run: impl FnOnce(&Orb, &P) -> Result<(), Box<dyn Error>>,
) -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let (orb, rest) = match Orb::init(arguments) {
        Ok(started) => started,
        Err(error) => return failed(&error),
    };
    let options = P::parse_from(rest);
    let result = run(&orb, &options);
    // No request is in progress: the program's own calls are over, a server's run has returned.
    let _ = orb.shutdown(false);
    result.map_or_else(|error| failed(&*error), |()| ExitCode::SUCCESS)
}

fn failed(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
