//! Figures of the curves, in tables.

use super::inside;
use super::plan::{Over, Part};
use super::setup::{Algorithm, Strategy};
use crate::latency::NOISY;
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::{Figures, Record};
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// Results of one run; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Processors of client and server.
    pub placement: Placement,
    /// Number of rounds.
    pub rounds: u32,
    /// Two-way calls by a strategy in a round.
    pub calls: u32,
    /// Points of the curves.
    pub rows: Vec<Row>,
    /// Figures of the parts measured alone.
    pub inside: Option<inside::Report>,
}

/// Point of a curve.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Quantity on the curve's axis.
    pub over: Over,
    /// Number of objects that the strategy searches.
    pub objects: u32,
    /// Number of adapters between the root and the objects, their own included.
    pub depth: u32,
    /// Number of operations of an object.
    pub operations: u32,
    /// Strategy by which objects are found.
    pub strategy: Strategy,
    /// Order in which objects are called.
    pub algorithm: Algorithm,
    /// Set if calls have replies.
    pub two_way: bool,
    /// Times of a call.
    #[serde(flatten)]
    pub figures: Figures,
    /// Set if the rounds lie too far apart to be trusted.
    pub noisy: bool,
}

impl Row {
    pub(super) fn new(
        part: &Part,
        strategy: Strategy,
        operations: u32,
        algorithm: Algorithm,
        record: &Record,
    ) -> Option<Self> {
        let figures = record.figures()?;
        let setup = &part.setup;
        Some(Self {
            over: part.over,
            objects: setup.objects,
            depth: setup.depth,
            operations,
            strategy,
            algorithm,
            two_way: !setup.one_way,
            figures,
            noisy: figures.spread > NOISY,
        })
    }
}

/// Contents of one table or chart: strategies over a number.
pub(super) struct Curves<'r> {
    pub(super) title: String,
    /// Label of the axis.
    pub(super) over: &'static str,
    pub(super) points: Vec<(u32, &'r Row)>,
}

impl Curves<'_> {
    /// Returns the values of the axis, in order.
    pub(super) fn axis(&self) -> Vec<u32> {
        let mut axis: Vec<u32> = self.points.iter().map(|point| point.0).collect();
        axis.sort_unstable();
        axis.dedup();
        axis
    }

    pub(super) fn strategies(&self) -> impl Iterator<Item = Strategy> {
        let has = |strategy: &Strategy| self.of(*strategy).next().is_some();
        Strategy::ALL.into_iter().filter(has)
    }

    pub(super) fn of(&self, strategy: Strategy) -> impl Iterator<Item = (u32, &Row)> {
        let own = move |point: &&(u32, &Row)| point.1.strategy == strategy;
        self.points
            .iter()
            .filter(own)
            .map(|(number, row)| (*number, *row))
    }
}

impl Report {
    /// Returns the curves over numbers of objects, two-way.
    pub(super) fn over_objects(&self, algorithm: Algorithm, operations: u32) -> Option<Curves<'_>> {
        let title = format!("{}, {operations} operation(s)", algorithm.name());
        self.curves(title, "objects", |row| {
            let same = row.algorithm == algorithm && row.operations == operations;
            (same && row.two_way && row.over == Over::Objects).then_some(row.objects)
        })
    }

    pub(super) fn one_ways(&self) -> Option<Curves<'_>> {
        let title = "one-way, random, 100 operations".to_owned();
        self.curves(title, "objects", |row| {
            (!row.two_way).then_some(row.objects)
        })
    }

    pub(super) fn over_depth(&self) -> Option<Curves<'_>> {
        let title = "depth of adapters, 100 objects, round robin".to_owned();
        self.curves(title, "depth", |row| {
            (row.over == Over::Depth).then_some(row.depth)
        })
    }

    fn curves(
        &self,
        title: String,
        over: &'static str,
        number: impl Fn(&Row) -> Option<u32>,
    ) -> Option<Curves<'_>> {
        let point = |row| number(row).map(|number| (number, row));
        let points: Vec<_> = self.rows.iter().filter_map(point).collect();
        (!points.is_empty()).then_some(Curves {
            title,
            over,
            points,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        if !self.rows.is_empty() {
            writeln!(
                f,
                "client and server on {} processor(s), {} rounds of {} calls; medians in µs, ! where rounds lie apart",
                match self.placement {
                    Placement::Same => "one",
                    _ => "two",
                },
                self.rounds,
                self.calls
            )?;
        }
        let most = self.rows.iter().map(|row| row.operations).max();
        for algorithm in Algorithm::ALL {
            let drawn = matches!(algorithm, Algorithm::Random | Algorithm::WorstCase);
            for operations in super::plan::OPERATIONS {
                if (drawn || Some(operations) == most)
                    && let Some(curves) = self.over_objects(algorithm, operations)
                {
                    writeln!(f, "\n{}", table(&curves))?;
                }
            }
        }
        for curves in [self.one_ways(), self.over_depth()].into_iter().flatten() {
            writeln!(f, "\n{}", table(&curves))?;
        }
        if !self.rows.is_empty() {
            writeln!(f, "the dynamic invocation's curves join when there is one")?;
        }
        match &self.inside {
            Some(inside) => write!(f, "\n{inside}"),
            None => Ok(()),
        }
    }
}

fn table(curves: &Curves<'_>) -> Table {
    let axis = curves.axis();
    let row = |strategy: Strategy| {
        let at = |number: &u32| {
            let found = curves.of(strategy).find(|point| point.0 == *number);
            found.map_or_else(Cell::none, |(_, row)| cell(row))
        };
        (
            strategy.name().to_owned(),
            axis.iter().map(at).collect::<Vec<_>>(),
        )
    };
    Table {
        title: format!("{}, over {}", curves.title, curves.over),
        columns: axis.iter().map(u32::to_string).collect(),
        rows: curves.strategies().map(row).collect(),
    }
}

fn cell(row: &Row) -> Cell {
    let micros = row.figures.median / 1000.0;
    match row.noisy {
        true => Cell::new(format!("{micros:.2}!"), Tone::Doubtful),
        false => Cell::new(format!("{micros:.2}"), Tone::Plain),
    }
}
