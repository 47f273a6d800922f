//! `cargo xtask chaos`: builds the chaos test of object groups, and runs it (docs/chaos.md).

use crate::run::{Result, cargo, succeed};

/// Options of `cargo xtask chaos`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build it in the release profile; by default it is built without optimisation, as the tests are.
    #[arg(long)]
    release: bool,
    /// Minutes of faults, and the other options: --seed, --plot FILE, --logs FOLDER, --require.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    options: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = cargo();
    // By its name alone, so that it shares its crates and their features with the command `punctual`.
    command.args(["run", "--quiet", "--bin", "punctual-chaos"]);
    if options.release {
        command.arg("--release");
    }
    succeed(command.arg("--").args(&options.options))
}
