//! `punctual completions SHELL`.

use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;

/// For example: `punctual completions bash > ~/.local/share/bash-completion/completions/punctual`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The shell to complete for.
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let mut command = crate::Options::command();
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "punctual", &mut script);
    // The reader may have closed the pipe.
    let _ = std::io::stdout().write_all(&script);
    ExitCode::SUCCESS
}
