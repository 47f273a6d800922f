//! Models from files, and their plans.

use crate::{fail, idl};
use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::{Plan, plan};
use punctual_scheduling::strategy::{ALL, Rms, Strategy, by_name};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Maximum size of a file, in bytes; 100,000 operations take less.
const MOST: u64 = 64 << 20;

/// Model and strategy, as all subcommands take them.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// The model: hosts and operations, in TOML. `-` reads standard input.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// How priorities are assigned: RMS, DMS, EDF, MLF, MUF, RMS_MLF, MUF_FAIR or RMS_FAIR. By default as
    /// the file says, else RMS.
    #[arg(long, value_name = "NAME", value_parser = strategy)]
    pub(super) strategy: Option<&'static str>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Returns the name of a strategy as the library spells it.
fn strategy(name: &str) -> Result<&'static str, String> {
    let mut known = ALL.iter().map(|strategy| strategy.name());
    let found = known.find(|known| known.eq_ignore_ascii_case(name));
    found.ok_or_else(|| format!("there is no strategy `{name}`; {}", names()))
}

fn names() -> String {
    let names: Vec<_> = ALL.iter().map(|strategy| strategy.name()).collect();
    format!("there are {}", names.join(", "))
}

impl Source {
    /// Reads the text of the file.
    pub(super) fn text(&self) -> Result<String, ExitCode> {
        text(&self.file).map_err(|error| {
            let message = format!("{}: {error}", self.file.display());
            fail(
                message,
                Some("docs/guide/schedules.md shows what a model contains"),
            )
        })
    }

    /// Makes a model of a text, or prints what is wrong in it.
    pub(super) fn model(&self, text: &str) -> Result<Model, ExitCode> {
        self.named(&self.name(), text)
    }

    /// Makes a model of the text of the file with changes, whose lines are others.
    pub(super) fn changed(&self, text: &str) -> Result<Model, ExitCode> {
        self.named(&format!("{}, with the changes", self.name()), text)
    }

    fn named(&self, name: &str, text: &str) -> Result<Model, ExitCode> {
        read(name, text).map_err(|faults| {
            idl::show(&faults, self.json);
            ExitCode::FAILURE
        })
    }

    fn name(&self) -> String {
        match self.file.as_os_str() == "-" {
            true => "standard input".to_owned(),
            false => self.file.display().to_string(),
        }
    }

    /// Plans a model, or prints what is wrong in it.
    pub(super) fn plan(&self, model: &Model) -> Result<Plan, ExitCode> {
        let strategy = self.chosen(model)?;
        plan(model, strategy).map_err(|faults| {
            idl::show(&faults, self.json);
            ExitCode::FAILURE
        })
    }

    fn chosen(&self, model: &Model) -> Result<&'static dyn Strategy, ExitCode> {
        let named = self.strategy.or(model.strategy.as_deref());
        let Some(name) = named else { return Ok(&Rms) };
        by_name(name).ok_or_else(|| {
            let message = format!("{}: there is no strategy `{name}`", self.file.display());
            fail(message, Some(&names()))
        })
    }
}

/// Reads a file, or standard input for `-`.
pub(super) fn text(file: &Path) -> std::io::Result<String> {
    let input: Box<dyn Read> = match file.as_os_str() == "-" {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(file)?),
    };
    let mut bytes = Vec::new();
    input.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        let message = format!("longer than {} MiB", MOST >> 20);
        return Err(std::io::Error::other(message));
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("not UTF-8"))
}

/// Prints a value as JSON.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<(), ExitCode> {
    match serde_json::to_string_pretty(value) {
        Ok(json) => {
            println!("{json}");
            Ok(())
        }
        Err(error) => Err(fail(error, None)),
    }
}

/// Returns the exit status: 0 if all deadlines are met.
pub(super) fn status(plan: &Plan) -> ExitCode {
    match plan.fits() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
