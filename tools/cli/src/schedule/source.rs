//! Models from files, and their plans.

use crate::idl_options::OptionsOfIdl;
use crate::{fail, idl, shown};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use punctual_idl::model::Specification;
use punctual_scheduling::model::{LONGEST_FILE, Model, read_with_idl};
use punctual_scheduling::plan::{Plan, plan};
use punctual_scheduling::strategy::{ALL, Rms, Strategy, by_name};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Model and strategy, as all subcommands take them.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Source {
    /// The model: hosts and operations, in TOML. `-` reads standard input. May be left out where IDL says all.
    #[arg(value_name = "FILE", required_unless_present = "idl")]
    file: Option<PathBuf>,
    /// Add the operations that have `@rt` in this IDL; the model completes and overrides them by their names, e.g.
    /// `Radar::Sensor::read`. May be given several times.
    #[arg(long, value_name = "FILE")]
    idl: Vec<PathBuf>,
    #[command(flatten)]
    front: OptionsOfIdl,
    /// How priorities are assigned, see docs/guide/schedules.md. By default as the file says, else RMS.
    #[arg(long, value_name = "NAME", value_parser = strategies(), ignore_case = true)]
    pub(super) strategy: Option<&'static str>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Returns the parser of strategies' names, which completion scripts know.
fn strategies() -> impl TypedValueParser<Value = &'static str> {
    let names = ALL.iter().map(|strategy| strategy.name());
    PossibleValuesParser::new(names).try_map(|name| strategy(&name))
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

/// Files as they were read.
pub(super) struct Input {
    /// Text of the model; empty without one.
    pub(super) text: String,
    idl: Vec<Specification>,
}

impl Source {
    /// Returns the path of the model's file, if there is one.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }

    /// Returns the source with its IDL alone.
    pub(super) fn without_file(&self) -> Self {
        Self {
            file: None,
            ..self.clone()
        }
    }

    /// Reads the files, or prints what is wrong in the IDL.
    pub(super) fn read(&self) -> Result<Input, ExitCode> {
        let text = match &self.file {
            Some(file) => text(file).map_err(|error| {
                let message = format!("{}: {error}", file.display());
                fail(
                    message,
                    Some("docs/guide/schedules.md shows what a model contains"),
                )
            })?,
            None => String::new(),
        };
        let files = self.idl.iter();
        let idl = files
            .map(|file| self.compile(file))
            .collect::<Result<_, _>>()?;
        Ok(Input { text, idl })
    }

    fn compile(&self, file: &Path) -> Result<Specification, ExitCode> {
        match punctual_idl::compile(file, &self.front.front()) {
            Ok(compilation) => {
                // JSON on standard output is the result's.
                idl::show(&compilation.warnings, false);
                Ok(compilation.specification)
            }
            Err(failure) => {
                idl::show(&failure.diagnostics, self.json);
                Err(ExitCode::FAILURE)
            }
        }
    }

    /// Makes a model of the input's text, or prints the faults in it.
    pub(super) fn model(&self, input: &Input) -> Result<Model, ExitCode> {
        self.named(&self.name(), &input.text, input)
    }

    /// Makes a model of the text of the file with changes, whose lines are others.
    pub(super) fn changed(&self, text: &str, input: &Input) -> Result<Model, ExitCode> {
        self.named(&format!("{}, with the changes", self.name()), text, input)
    }

    fn named(&self, name: &str, text: &str, input: &Input) -> Result<Model, ExitCode> {
        let idl: Vec<_> = input.idl.iter().collect();
        read_with_idl(name, text, &idl).map_err(|faults| {
            idl::show(&faults, self.json);
            ExitCode::FAILURE
        })
    }

    /// Returns the name of the model; of the IDL, if there is no model.
    pub(super) fn name(&self) -> String {
        match self.file.as_ref().or(self.idl.first()) {
            Some(file) if file.as_os_str() != "-" => file.display().to_string(),
            _ => "standard input".to_owned(),
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

    /// Plans a model of which another plan was made before some of its values changed, or prints what is wrong in it.
    pub(super) fn plan_after(&self, before: &Plan, model: &Model) -> Result<Plan, ExitCode> {
        let strategy = self.chosen(model)?;
        before.after_change(model, strategy).map_err(|faults| {
            idl::show(&faults, self.json);
            ExitCode::FAILURE
        })
    }

    /// Returns the strategy: by the option, else by the model.
    pub(super) fn chosen(&self, model: &Model) -> Result<&'static dyn Strategy, ExitCode> {
        let named = self.strategy.or(model.strategy.as_deref());
        let Some(name) = named else { return Ok(&Rms) };
        by_name(name).ok_or_else(|| {
            let message = format!("{}: there is no strategy `{name}`", self.name());
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
    input.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE {
        let message = format!("longer than {} MiB", LONGEST_FILE >> 20);
        return Err(std::io::Error::other(message));
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("not UTF-8"))
}

/// Prints a value as JSON. A reader that has gone does not change the command's exit status, a verdict.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<(), ExitCode> {
    match serde_json::to_string_pretty(value) {
        Ok(json) => {
            anstream::println!("{}", shown::json(json));
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
