//! `cargo xtask soak`: builds the soak and its dependencies, and runs it (docs/soak.md).

use crate::run::{Result, cargo, succeed};

/// Options of `cargo xtask soak`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build the soak in the release profile; by default it is built without optimisation, as the
    /// tests are.
    #[arg(long)]
    release: bool,
    /// Minutes of load, and the soak's other options: --seed, --json[=FILE], --plot FILE, --require.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    options: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = cargo();
    // Selecting it by its name alone builds it with the same crates and features as the command
    // `punctual`.
    command.args(["run", "--quiet", "--bin", "punctual-soak"]);
    if options.release {
        command.arg("--release");
    }
    succeed(command.arg("--").args(&options.options))
}
