//! `punctual config`: settings of an ORB, and the check of a configuration file.

use punctual::{InitError, Orb, OrbConfig};
use std::path::{Path, PathBuf};
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
    /// Check a configuration file as the start of a program does instead; shared libraries are not loaded.
    #[arg(long, value_name = "FILE", conflicts_with = "options")]
    check: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    if let Some(file) = &options.check {
        return match check(file) {
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

/// Checks a file as the start of a program does. Shared libraries are not loaded, as they are code;
/// the protocols that they may add are not checked then.
fn check(file: &Path) -> Result<(), InitError> {
    let mut libraries = Vec::new();
    let builder = Orb::builder()
        .file(file)?
        .configure(|config| libraries = std::mem::take(&mut config.libraries));
    match builder.check() {
        Err(InitError::Protocol(error)) if !libraries.is_empty() => {
            let file = file.display();
            anstream::eprintln!(
                "note: {file} names shared libraries, which are not loaded here, so that this is not checked: {error}"
            );
            Ok(())
        }
        checked => checked,
    }
}

fn print_options() {
    let bold = anstyle::Style::new().bold();
    for (name, value, meaning) in OrbConfig::options() {
        anstream::println!("{bold}{name}{bold:#} {value}\n    {meaning}");
    }
}
