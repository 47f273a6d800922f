//! `punctual notify filter`: constraints without a service.

mod check;
mod events;

use crate::call::Problem;
use crate::shown;
use clap::Subcommand;
use punctual_constraint::{Constraint, Grammar, Limits};

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

/// Returns the error for a constraint that a service refuses, with what is wrong with it as far as this program knows.
pub(crate) fn refusal(grammar: &str, text: &str) -> String {
    let refused = format!("the service refuses the constraint `{}`", shown::peer(text));
    let Some(grammar) = Grammar::named(grammar) else {
        return refused;
    };
    match Constraint::compile(grammar, text, &Limits::DEFAULT) {
        Ok(_) => refused,
        Err(mistake) => format!("{refused}: {mistake}"),
    }
}
