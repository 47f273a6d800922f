//! `punctual bench`: runs `punctual-bench`, a separate program, so that this command does not
//! contain the code for measurements.

use crate::fail;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Name of the measuring program.
const PROGRAM: &str = "punctual-bench";

/// Measures this machine's calls, by the program `punctual-bench`: it stands beside this one or on the PATH.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Arguments of `punctual-bench`; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Replaces the process by `punctual-bench`; returns only if that cannot be started.
pub(crate) fn run(options: &Options) -> ExitCode {
    let beside = std::env::current_exe().map(|this| this.with_file_name(PROGRAM));
    let beside = beside.ok().filter(|program| program.is_file());
    let program = beside.unwrap_or_else(|| PROGRAM.into());
    let error = Command::new(&program).args(&options.arguments).exec();
    fail(
        format!("{} does not start: {error}", program.display()),
        Some(
            "build it in the profile of this command, for example `cargo build --release -p punctual-bench` beside `cargo build --release -p punctual-cli`",
        ),
    )
}
