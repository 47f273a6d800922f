//! Output of a report: as tables on the terminal, as JSON, and as a picture.

use crate::Result;
use crate::experiment::Report;
use clap::Args;
use serde::Serialize;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

/// Option for the figures as JSON.
#[derive(Clone, Debug, Default, Args)]
pub struct Json {
    /// Print the figures as JSON; with a file, write them there, and print the table.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
}

impl Json {
    /// Writes a report as the options say.
    ///
    /// # Errors
    /// The file cannot be written, or anything has failed.
    pub(crate) fn deliver(&self, report: &Report) -> Result<()> {
        self.show(report)?;
        report.verdict()
    }

    /// Writes reports as the options say: an array of them as JSON.
    ///
    /// # Errors
    /// The file cannot be written, or anything has failed.
    pub(crate) fn deliver_all(&self, reports: &[Report]) -> Result<()> {
        self.show(&All(reports))?;
        reports.iter().try_for_each(Report::verdict)
    }

    /// Writes a report as the options say.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn show(&self, report: &(impl Serialize + Display)) -> Result<()> {
        match &self.json {
            Some(None) => println!("{}", serde_json::to_string_pretty(report)?),
            Some(Some(path)) => {
                std::fs::write(path, serde_json::to_string_pretty(report)? + "\n")?;
                anstream::print!("{report}");
            }
            None => anstream::print!("{report}"),
        }
        Ok(())
    }
}

/// Options for the figures as JSON and as a picture.
#[derive(Clone, Debug, Default, Args)]
pub struct Output {
    #[command(flatten)]
    json: Json,
    /// Draw the figures to this file.
    #[arg(long, visible_alias = "plot", value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Output {
    /// Writes a report as the options say.
    ///
    /// # Errors
    /// A file cannot be written, or anything has failed.
    pub(crate) fn deliver(&self, report: &Report) -> Result<()> {
        if let Some(path) = &self.svg {
            report.draw(path)?;
        }
        self.json.deliver(report)
    }

    /// Writes a report as the options say; `draw` draws it to a file.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn show<R: Serialize + Display>(
        &self,
        report: &R,
        draw: impl FnOnce(&R, &Path) -> Result<()>,
    ) -> Result<()> {
        if let Some(path) = &self.svg {
            draw(report, path)?;
        }
        self.json.show(report)
    }
}

/// Several reports.
#[derive(Serialize)]
struct All<'r>(&'r [Report]);

impl Display for All<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|report| writeln!(f, "{report}"))
    }
}
