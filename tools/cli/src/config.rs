//! `punctual config`: settings of an ORB, and the check of a configuration file.

use punctual::OrbConfig;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `punctual config`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Prints a configuration file with every setting of an ORB, its meaning and its default, to \
                  copy from. A program takes such a file with -ORBConfigFile FILE."
)]
pub(crate) struct Options {
    /// List the -ORB options of programs instead.
    #[arg(long)]
    options: bool,
    /// Check a configuration file instead.
    #[arg(long, value_name = "FILE", conflicts_with = "options")]
    check: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    if let Some(file) = &options.check {
        return match OrbConfig::default().apply_file(file) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => crate::fail(
                error,
                Some("`punctual config` prints a file with every key, its form and its default"),
            ),
        };
    }
    match options.options {
        true => print_options(),
        false => anstream::print!("{}", OrbConfig::sample()),
    }
    ExitCode::SUCCESS
}

fn print_options() {
    let bold = anstyle::Style::new().bold();
    for (name, value, meaning) in OrbConfig::options() {
        anstream::println!("{bold}{name}{bold:#} {value}\n    {meaning}");
    }
}
