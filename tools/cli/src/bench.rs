//! `punctual bench`: hands over to `punctual-bench`, a program of its own, so that nobody who calls objects
//! carries what measures them.

use crate::fail;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The program that measures.
const PROGRAM: &str = "punctual-bench";

/// Measures this machine's calls, by the program `punctual-bench`: it stands beside this one or on the PATH.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// What it is told; `--help` for what it knows.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes that program; returns only where there is none.
pub(crate) fn run(options: &Options) -> ExitCode {
    let beside = std::env::current_exe().map(|this| this.with_file_name(PROGRAM));
    let beside = beside.ok().filter(|program| program.is_file());
    let program = beside.unwrap_or_else(|| PROGRAM.into());
    let error = Command::new(&program).args(&options.arguments).exec();
    fail(
        format!("{} does not start: {error}", program.display()),
        Some("`cargo build --release -p punctual-bench` builds it beside this command"),
    )
}
