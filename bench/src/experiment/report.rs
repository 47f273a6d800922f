//! Report of a run: its settings and rows, for people as tables, for programs as JSON.

use super::row::fill;
use super::{Experiment, Row};
use crate::Result;
use crate::contender::Absent;
use crate::machine::Machine;
use crate::statistics::NOISY;
use crate::table::Table;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::Path;

/// Results of one run of an experiment.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) experiment: &'static Experiment,
    machine: Machine,
    pub(crate) settings: Row,
    frames: Vec<(&'static str, Vec<Row>)>,
    /// Parts of the experiment that were left out, with the reasons.
    pub(crate) skipped: Vec<String>,
    /// Reasons why the run has failed.
    pub(crate) failed: Vec<String>,
}

impl Report {
    /// Makes a report of an experiment, without rows yet.
    pub(crate) fn new(experiment: &'static Experiment, settings: Row) -> Self {
        let frames = experiment.frames.iter();
        Self {
            experiment,
            machine: Machine::this(),
            settings,
            frames: frames.map(|name| (*name, Vec::new())).collect(),
            skipped: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Makes a report that lists these contenders as skipped, with the reasons.
    pub(crate) fn without(
        experiment: &'static Experiment,
        settings: Row,
        absent: &[Absent],
    ) -> Self {
        let mut report = Self::new(experiment, settings);
        report.skipped.extend(absent.iter().map(Absent::to_string));
        report
    }

    /// Adds rows to the report's set of the given name.
    pub(crate) fn add(&mut self, frame: &'static str, rows: impl IntoIterator<Item = Row>) {
        match self.frames.iter_mut().find(|(name, _)| *name == frame) {
            Some((_, known)) => known.extend(rows),
            None => self.frames.push((frame, rows.into_iter().collect())),
        }
    }

    /// Returns the rows of the report's set of the given name.
    pub(crate) fn frame(&self, frame: &str) -> &[Row] {
        let found = self.frames.iter().find(|(name, _)| *name == frame);
        found.map_or(&[], |(_, rows)| rows)
    }

    /// Returns the rows of the report's default set, named `rows`.
    pub(crate) fn rows(&self) -> &[Row] {
        self.frame("rows")
    }

    /// Records the reason why a part is left out, unless that reason is already recorded.
    pub(crate) fn skip(&mut self, reason: impl ToString) {
        let reason = reason.to_string();
        if !self.skipped.contains(&reason) {
            self.skipped.push(reason);
        }
    }

    /// Returns the tables of the report, filled from its rows.
    fn tables(&self) -> Vec<Table> {
        let tables = self.experiment.tables.iter();
        tables.flat_map(|table| table.of(self)).collect()
    }

    /// Draws the charts to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn draw(&self, path: &Path) -> Result<()> {
        self.experiment.sheet.draw(self, path)
    }

    /// Returns an error if any part of the run has failed.
    pub(crate) fn verdict(&self) -> Result<()> {
        match self.failed.len() {
            0 => Ok(()),
            number => Err(format!("{number} failure(s), see the end of the report").into()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        if !self.experiment.conditions.is_empty() {
            writeln!(f, "{}", fill(self.experiment.conditions, &[&self.settings]))?;
        }
        for table in self.tables() {
            write!(f, "\n{table}")?;
        }
        for remark in self.experiment.remarks {
            writeln!(f, "{}", fill(remark, &[&self.settings]))?;
        }
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        for failed in &self.failed {
            writeln!(f, "failed {failed}")?;
        }
        let all = || self.frames.iter().flat_map(|(_, rows)| rows);
        let doubtful = all().filter(|row| row.is_doubtful()).count();
        if doubtful > 0 {
            writeln!(
                f,
                "! not known: its own rounds, or those that it is compared with, lay more \
        than {:.0} % apart ({doubtful} of {})",
                NOISY * 100.0,
                all().count()
            )?;
        }
        Ok(())
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("machine", &self.machine)?;
        self.settings.write(&mut map)?;
        map.serialize_entry("skipped", &self.skipped)?;
        map.serialize_entry("failed", &self.failed)?;
        for (name, rows) in &self.frames {
            map.serialize_entry(name, rows)?;
        }
        map.end()
    }
}
