//! Experiments as data, and the one way to run them.
//!
//! An [`Experiment`] declares its question, the figures of a paper that it reproduces, its tables
//! and its charts. A [`Workload`] starts a contender's two processes and makes one turn; [`run`]
//! does the rest: it pins the processes, lets the contenders take turns, repeats restless attempts,
//! and collects the figures as rows of a [`Report`]. The report prints the tables, writes the JSON
//! and draws the charts, all by the names of the rows' values.

mod chart;
mod goal;
mod pair;
mod report;
mod row;
mod run;
mod side;
mod table;

pub(crate) use chart::{Bars, Chart, Lines, Sheet};
pub(crate) use goal::{Bound, GOALS, Goal, Verdict};
pub(crate) use pair::Pair;
pub(crate) use report::Report;
pub(crate) use row::{Row, every_row};
pub(crate) use run::{Effort, Outcome, Stage, Turn, Workload, record_of, run};
pub use side::Side;
pub(crate) use side::{Setup, client, server, start};
pub(crate) use table::{Column, Listing, Matrix, Tabled, shown};

/// Experiment, as far as it is the same in each run.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// Name of its command.
    pub(crate) name: &'static str,
    /// Question that it answers.
    pub(crate) question: &'static str,
    /// Figures or tables that it reproduces, by paper; empty if it is our own.
    pub(crate) reproduces: &'static str,
    /// Names of its sets of rows.
    pub(crate) frames: &'static [&'static str],
    /// Conditions of the run, which stand above the tables: a template of settings.
    pub(crate) conditions: &'static str,
    /// Tables, in order.
    pub(crate) tables: &'static [Tabled],
    /// Charts.
    pub(crate) sheet: Sheet,
    /// Remarks below the tables.
    pub(crate) remarks: &'static [&'static str],
}
