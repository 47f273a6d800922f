//! `punctual notify filter`: constraints without a service.

mod check;
mod events;

use crate::call::Problem;
use clap::Subcommand;

/// Subcommands of `punctual notify filter`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Compile a constraint, and try it on events.
    Check(check::Check),
}

pub(super) fn run(options: &Options) -> Result<(), Problem> {
    match options {
        Options::Check(options) => check::run(options),
    }
}
