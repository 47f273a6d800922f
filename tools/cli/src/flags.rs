//! Flags of a service, from the table of its settings.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use punctual_host::Problem;
use punctual_host::settings::{Kind, SETTINGS, Setting, Values, check};
use std::marker::PhantomData;
use std::path::PathBuf;

const ON_SETTINGS: &str =
    "`--help` explains each setting; a key of the file has underscores instead of dashes";

/// Command with a table of settings.
pub(crate) trait Table: std::fmt::Debug {
    /// Returns the settings, in the order of `--help`.
    fn settings() -> Vec<&'static Setting>;
}

/// Settings given on the command line.
#[derive(Debug)]
pub(crate) struct Flags<T> {
    given: Vec<(&'static str, Vec<String>)>,
    table: PhantomData<T>,
}

impl<T: Table> Flags<T> {
    /// Returns the values of all settings, those of the settings file among them.
    pub(crate) fn values(&self) -> Result<Values, Problem> {
        let name = SETTINGS.setting.name;
        let file = self.given.iter().find(|(given, _)| *given == name);
        let file = file.and_then(|(_, texts)| texts.last().map(PathBuf::from));
        let values = Values::read(&T::settings(), file.as_deref(), self.given.iter().cloned());
        values.map_err(|error| Problem::new(error, ON_SETTINGS))
    }
}

impl<T: Table> clap::Args for Flags<T> {
    fn augment_args(command: Command) -> Command {
        command.args(T::settings().into_iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Table> clap::FromArgMatches for Flags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let settings = T::settings().into_iter();
        let given = settings.filter_map(|setting| Some((setting.name, texts(matches, setting)?)));
        Ok(Self {
            given: given.collect(),
            table: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the flag of a setting. Required settings may be in the settings file, and are checked
/// later.
fn flag(setting: &'static Setting) -> Arg {
    // As clap does for flags declared in other ways.
    let help = setting.doc.trim_end_matches('.');
    let flag = Arg::new(setting.name).long(setting.name).help(help);
    let flag = flag.conflicts_with_all(setting.conflicts);
    if matches!(setting.kind, Kind::Flag) {
        return flag.action(ArgAction::SetTrue);
    }
    let action = match setting.is_list {
        true => ArgAction::Append,
        false => ArgAction::Set,
    };
    let parse = |text: &str| check(setting, text).map(|()| text.to_owned());
    let mut flag = flag.action(action).value_parser(parse);
    flag = flag.value_name(setting.value_name);
    if let Some(default) = setting.default {
        flag = flag.default_value(default);
    }
    match setting.is_required {
        true => flag.required_unless_present(SETTINGS.setting.name),
        false => flag,
    }
}

/// Returns the texts given on the command line for a setting.
fn texts(matches: &ArgMatches, setting: &Setting) -> Option<Vec<String>> {
    if matches.value_source(setting.name) != Some(ValueSource::CommandLine) {
        return None;
    }
    if matches!(setting.kind, Kind::Flag) {
        return Some(vec![matches.get_flag(setting.name).to_string()]);
    }
    let texts = matches.get_many::<String>(setting.name)?;
    Some(texts.cloned().collect())
}
