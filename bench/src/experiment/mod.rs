//! Experiments as data, and the one way to run them.
//!
//! An `Experiment` declares its question, the figures of a paper that it reproduces, its tables and
//! its charts. A `Workload` starts a contender's two processes and makes one turn; `run` does the
//! rest: it pins the processes, lets the contenders take turns, repeats restless attempts, and
//! collects the figures as rows of a `Report`. The report prints the tables, writes the JSON and
//! draws the charts, all by the names of the rows' values.

mod chart;
mod draw;
mod goal;
mod pair;
mod report;
mod row;
mod run;
mod side;
mod table;

pub(crate) use chart::{Chart, Sheet};
#[cfg(feature = "events")]
pub(crate) use goal::goals_named;
pub(crate) use goal::{Bound, GOALS, Goal, Verdict};
pub(crate) use pair::Pair;
pub(crate) use report::Report;
pub(crate) use row::Row;
pub(crate) use run::{Effort, Outcome, Stage, Turn, Workload, record_of, run};
pub use side::Side;
pub(crate) use side::{Setup, client, server, start};
pub(crate) use table::{Column, Tabled, shown};

/// Declaration of an experiment: all that does not depend on a run's options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Experiment {
    /// Name of the command that runs the experiment.
    pub(crate) name: &'static str,
    /// Question that the experiment answers.
    pub(crate) question: &'static str,
    /// Figures or tables that the experiment reproduces, by paper; empty if it reproduces none.
    pub(crate) reproduces: &'static str,
    /// Names of the sets of rows that the experiment's report has.
    frames: &'static [&'static str],
    /// Template of the text above the tables that states the conditions of a run; filled from the
    /// settings.
    conditions: &'static str,
    /// Tables of the experiment's report, in order.
    tables: &'static [Tabled],
    /// Charts of the experiment's report.
    sheet: Sheet,
    /// Templates of the remarks below the tables; filled from the settings.
    remarks: &'static [&'static str],
}

impl Experiment {
    /// Declares an experiment that reproduces no paper's, with one set of rows, and no tables yet.
    pub(crate) const fn new(name: &'static str, question: &'static str) -> Self {
        Self {
            name,
            question,
            reproduces: "",
            frames: &["rows"],
            conditions: "",
            tables: &[],
            sheet: Sheet::NONE,
            remarks: &[],
        }
    }

    /// Names the paper, and the figures or tables that the experiment reproduces.
    pub(crate) const fn reproduces(self, reproduces: &'static str) -> Self {
        Self { reproduces, ..self }
    }

    /// Sets the names of the report's sets of rows; the default is one set, `rows`.
    pub(crate) const fn frames(self, frames: &'static [&'static str]) -> Self {
        Self { frames, ..self }
    }

    /// Sets the text above the tables that states the conditions of a run.
    pub(crate) const fn conditions(self, conditions: &'static str) -> Self {
        Self { conditions, ..self }
    }

    /// Declares the tables of the experiment's report.
    pub(crate) const fn tables(self, tables: &'static [Tabled]) -> Self {
        Self { tables, ..self }
    }

    /// Declares the charts of the experiment's report.
    pub(crate) const fn sheet(self, sheet: Sheet) -> Self {
        Self { sheet, ..self }
    }

    /// Adds remarks below the tables of the experiment's report.
    pub(crate) const fn remarks(self, remarks: &'static [&'static str]) -> Self {
        Self { remarks, ..self }
    }
}
