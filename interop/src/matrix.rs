//! Matrix of outcomes: one table for each transport, with cases as rows, versions and directions as
//! columns.

use punctual::config::GiopVersion;
use serde::Serialize;
use std::fmt;

/// GIOP version of a column of the interoperability matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Version {
    /// GIOP 1.0.
    #[serde(rename = "1.0")]
    V1_0,
    /// GIOP 1.1.
    #[serde(rename = "1.1")]
    V1_1,
    /// GIOP 1.2.
    #[serde(rename = "1.2")]
    V1_2,
}

impl Version {
    /// All GIOP versions of the interoperability matrix, in ascending order.
    pub(crate) const ALL: [Self; 3] = [Self::V1_0, Self::V1_1, Self::V1_2];

    /// Returns the version as text, as in the programs' options.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V1_1 => "1.1",
            Self::V1_2 => "1.2",
        }
    }

    /// Returns the version as our ORB's configuration takes it.
    pub(crate) fn giop(self) -> GiopVersion {
        match self {
            Self::V1_0 => GiopVersion::V1_0,
            Self::V1_1 => GiopVersion::V1_1,
            Self::V1_2 => GiopVersion::V1_2,
        }
    }
}

/// Direction of a call: which side is the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// Punctual's client calls the peer's server.
    To,
    /// The peer's client calls Punctual's server.
    From,
    /// Our client calls the peer's server, whose client passes the call on to our server.
    Through,
}

impl Direction {
    /// All directions of calls in the interoperability matrix.
    pub(crate) const ALL: [Self; 3] = [Self::To, Self::From, Self::Through];

    fn text(self) -> &'static str {
        match self {
            Self::To => "to",
            Self::From => "from",
            Self::Through => "through",
        }
    }
}

/// Outcome of an interoperability test case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "outcome", content = "why")]
pub(crate) enum Outcome {
    /// The test case passed.
    Passed,
    /// The test case failed, for the given reason.
    Failed(String),
    /// The test case was not run, for the given reason.
    Skipped(String),
    /// Case that cannot be run with this peer, with the reason.
    NotApplicable(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Passed)
    }
}

/// Cell of the matrix: the outcome of one case in one column.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    /// Name of the transport over which the test case ran.
    pub(crate) over: &'static str,
    /// Name of the test case, which is the matrix row.
    pub(crate) case: String,
    /// GIOP version with which the test case ran.
    pub(crate) version: Version,
    /// Direction of the call between Punctual and the peer.
    pub(crate) direction: Direction,
    /// Outcome of the test case.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// Function that returns an outcome's reason, if the outcome is of a certain kind.
type Reason = fn(&Outcome) -> Option<&String>;

/// Interoperability matrix: the outcomes of all test cases, by version and direction.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Matrix {
    cells: Vec<Cell>,
    over: &'static str,
}

impl Matrix {
    /// Sets the transport for the cells that are recorded from now on.
    pub(crate) fn over(&mut self, what: &'static str) {
        eprintln!("over {what}");
        self.over = what;
    }

    /// Adds a cell; a failure is printed to standard error immediately.
    pub(crate) fn record(
        &mut self,
        case: &str,
        version: Version,
        direction: Direction,
        outcome: impl Into<Outcome>,
    ) {
        let outcome = outcome.into();
        if let Outcome::Failed(why) = &outcome {
            eprintln!(
                "  FAIL {case} ({} {}): {why}",
                version.text(),
                direction.text()
            );
        }
        self.cells.push(Cell {
            over: self.over,
            case: case.to_owned(),
            version,
            direction,
            outcome,
        });
    }

    /// Returns the numbers of cases that passed, failed and were skipped.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let count =
            |wanted: fn(&Outcome) -> bool| self.cells.iter().filter(|c| wanted(&c.outcome)).count();
        (
            count(|outcome| matches!(outcome, Outcome::Passed)),
            count(|outcome| matches!(outcome, Outcome::Failed(_))),
            count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        )
    }

    /// Returns the matrix as JSON.
    ///
    /// # Errors
    /// No known ones.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        let (passed, failed, skipped) = self.counts();
        serde_json::to_string_pretty(&serde_json::json!({
            "passed": passed, "failed": failed, "skipped": skipped, "cells": self.cells,
        }))
    }

    fn tables(&self) -> Vec<&'static str> {
        distinct(self.cells.iter().map(|cell| cell.over))
    }

    fn write_table(&self, f: &mut fmt::Formatter<'_>, over: &str) -> fmt::Result {
        let cells = || self.cells.iter().filter(|cell| cell.over == over);
        let rows = distinct(cells().map(|cell| cell.case.as_str()));
        let spoken = |version: &Version| cells().any(|cell| cell.version == *version);
        let versions: Vec<Version> = Version::ALL.into_iter().filter(spoken).collect();
        let title = format!("over {over}");
        let width = rows.iter().map(|row| row.chars().count()).max();
        let width = width.unwrap_or_default().max(title.len());
        write!(f, "{title:width$}")?;
        for version in &versions {
            write!(f, "  GIOP {:<17}", version.text())?;
        }
        write!(f, "\n{:width$}", "case")?;
        for _ in &versions {
            write!(f, "  {:<6} {:<6} {:<8}", "to", "from", "through")?;
        }
        writeln!(f)?;
        for row in rows {
            let mut line = format!("{row:width$}");
            for version in &versions {
                line.push_str("  ");
                for (direction, columns) in Direction::ALL.into_iter().zip([7, 7, 8]) {
                    let mark = self.mark(over, row, *version, direction);
                    line.push_str(&format!("{mark:<columns$}"));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        writeln!(f)
    }

    fn mark(&self, over: &str, case: &str, version: Version, way: Direction) -> &'static str {
        let here = |c: &&Cell| {
            c.over == over && c.case == case && c.version == version && c.direction == way
        };
        // The worst of the outcomes under this name.
        let rank = |outcome: &Outcome| match outcome {
            Outcome::Failed(_) => (3, "FAIL"),
            Outcome::Skipped(_) => (2, "skip"),
            Outcome::Passed => (1, "ok"),
            Outcome::NotApplicable(_) => (0, "n/a"),
        };
        let cells = self.cells.iter().filter(here).map(|c| rank(&c.outcome));
        cells.max().map_or("", |(_, mark)| mark)
    }

    fn reasons(&self, wanted: Reason) -> Vec<(String, Vec<String>)> {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for cell in &self.cells {
            let Some(why) = wanted(&cell.outcome) else {
                continue;
            };
            let place = format!(
                "{} ({}, {} {})",
                cell.case,
                cell.over,
                cell.version.text(),
                cell.direction.text()
            );
            match reasons.iter_mut().find(|(reason, _)| reason == why) {
                Some((_, places)) => places.push(place),
                None => reasons.push((why.clone(), vec![place])),
            }
        }
        reasons
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for over in self.tables() {
            self.write_table(f, over)?;
        }
        writeln!(
            f,
            "to: our client, their server. from: their client, our server. through: our client, \
             their server,\ntheir client, our server."
        )?;
        let sections: [(&str, Reason); 3] = [
            ("n/a", |outcome| match outcome {
                Outcome::NotApplicable(why) => Some(why),
                _ => None,
            }),
            ("skip", |outcome| match outcome {
                Outcome::Skipped(why) => Some(why),
                _ => None,
            }),
            ("FAIL", |outcome| match outcome {
                Outcome::Failed(why) => Some(why),
                _ => None,
            }),
        ];
        for (mark, wanted) in sections {
            for (why, places) in self.reasons(wanted) {
                writeln!(f, "{mark}: {}: {why}", places.join(", "))?;
            }
        }
        let (passed, failed, skipped) = self.counts();
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// Returns the distinct texts, in the order of their first occurrence.
fn distinct<'t>(all: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}
