//! Options parsed from a command line, for tests.

use clap::{Args, Parser};

#[derive(Parser)]
struct Command<O: Args> {
    #[command(flatten)]
    options: O,
}

/// Returns the options parsed from these arguments.
pub(crate) fn parsed<O: Args>(arguments: &[&str]) -> Result<O, clap::Error> {
    let words = ["bench"].iter().chain(arguments);
    Command::try_parse_from(words).map(|command| command.options)
}
