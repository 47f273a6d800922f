//! Options as a command line has them, for tests.

use clap::{Args, Parser};

#[derive(Parser)]
struct Command<O: Args> {
    #[command(flatten)]
    options: O,
}

/// The options that these arguments are.
pub(crate) fn parsed<O: Args>(arguments: &[&str]) -> Result<O, clap::Error> {
    let words = ["bench"].iter().chain(arguments);
    Command::try_parse_from(words).map(|command| command.options)
}
