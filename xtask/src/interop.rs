//! `cargo xtask interop PEER`: the interoperability matrix.

use crate::run::{Result, cargo, succeed};

/// Options of `cargo xtask interop`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The peer: `omniorb` or `jacorb`.
    peer: String,
    /// Fail if the peer is not installed, instead of skipping it.
    #[arg(long)]
    require: bool,
    /// Print the matrix as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = cargo();
    // Selecting it by its name alone builds it with the same crates and features as the command
    // `punctual`.
    command.args(["run", "--quiet", "--bin", "punctual-interop"]);
    command.args(["--features", "punctual-interop/matrix", "--", &options.peer]);
    if options.require {
        command.arg("--require");
    }
    if options.json {
        command.arg("--json");
    }
    succeed(&mut command)
}
