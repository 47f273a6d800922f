//! Options of reading IDL, which all commands have that read some: what a diagnostic names is an
//! option of each.

use clap::{ArgMatches, Command, FromArgMatches};
use std::ops::Deref;
use std::path::PathBuf;

/// Options of reading IDL.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct IdlOptions {
    /// Search this folder for included files.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro.
    #[arg(short = 'D', value_name = "NAME[=V]")]
    define: Vec<String>,
    /// Encoding of the files; without it, ISO 8859-1 where they are not UTF-8.
    #[arg(long, value_enum, value_name = "ENCODING")]
    encoding: Option<Encoding>,
    /// Warn of what the standard refuses and other compilers accept, instead of refusing it: names that differ only in case,
    /// `default` beside labels for all values, an interface that inherits a local one.
    #[arg(long)]
    lenient: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Encoding {
    /// UTF-8; other bytes are an error but in comments.
    Utf8,
    /// ISO 8859-1.
    Latin1,
}

impl IdlOptions {
    /// Returns the options as the compiler takes them.
    pub(crate) fn front(&self) -> punctual_idl::Options {
        let defines = self
            .define
            .iter()
            .map(|define| match define.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (define.clone(), None),
            });
        punctual_idl::Options {
            include_dirs: self.include.clone(),
            defines: defines.collect(),
            encoding: match self.encoding {
                None => punctual_idl::Encoding::Guess,
                Some(Encoding::Utf8) => punctual_idl::Encoding::Utf8,
                Some(Encoding::Latin1) => punctual_idl::Encoding::Latin1,
            },
            lenient: self.lenient,
            ..punctual_idl::Options::default()
        }
    }
}

/// Options of reading IDL for commands that read the file of `--idl`, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct OptionsOfIdl(IdlOptions);

impl Deref for OptionsOfIdl {
    type Target = IdlOptions;

    fn deref(&self) -> &IdlOptions {
        &self.0
    }
}

impl clap::Args for OptionsOfIdl {
    fn augment_args(command: Command) -> Command {
        let command = IdlOptions::augment_args(command);
        command.mut_group("IdlOptions", |group| group.requires("idl"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionsOfIdl {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        IdlOptions::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}
