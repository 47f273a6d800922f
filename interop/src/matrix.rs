//! What was tried, and how it went: cases as rows; versions and directions as columns.

use serde::Serialize;
use std::fmt;

/// A GIOP version as a column.
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
    /// Each of them.
    pub(crate) const ALL: [Self; 3] = [Self::V1_0, Self::V1_1, Self::V1_2];

    /// As options have it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V1_1 => "1.1",
            Self::V1_2 => "1.2",
        }
    }
}

/// Who calls whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// Our client, their server.
    To,
    /// Their client, our server.
    From,
    /// Our client, their server, their client, our server.
    Through,
}

impl Direction {
    /// Each of them.
    pub(crate) const ALL: [Self; 3] = [Self::To, Self::From, Self::Through];

    fn text(self) -> &'static str {
        match self {
            Self::To => "to",
            Self::From => "from",
            Self::Through => "through",
        }
    }
}

/// How a case went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "outcome", content = "why")]
pub(crate) enum Outcome {
    /// As it should.
    Passed,
    /// Not so, and why.
    Failed(String),
    /// It was not tried, and why.
    Skipped(String),
    /// It cannot be, and why.
    NotApplicable(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Passed)
    }
}

/// One case in one column.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    /// The row.
    pub(crate) case: String,
    /// The version that was spoken.
    pub(crate) version: Version,
    /// Who called whom.
    pub(crate) direction: Direction,
    /// How it went.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// The reason of an outcome, if it is of the kind that is asked for.
type Reason = fn(&Outcome) -> Option<&String>;

/// All cells.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Matrix {
    cells: Vec<Cell>,
}

impl Matrix {
    /// Adds a cell; what went wrong is told on standard error at once.
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
            case: case.to_owned(),
            version,
            direction,
            outcome,
        });
    }

    /// How many passed, failed and were skipped.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let count =
            |wanted: fn(&Outcome) -> bool| self.cells.iter().filter(|c| wanted(&c.outcome)).count();
        (
            count(|outcome| matches!(outcome, Outcome::Passed)),
            count(|outcome| matches!(outcome, Outcome::Failed(_))),
            count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        )
    }

    /// As JSON.
    ///
    /// # Errors
    /// None that is known of.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        let (passed, failed, skipped) = self.counts();
        serde_json::to_string_pretty(&serde_json::json!({
            "passed": passed, "failed": failed, "skipped": skipped, "cells": self.cells,
        }))
    }

    fn rows(&self) -> Vec<&str> {
        let mut rows: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !rows.contains(&cell.case.as_str()) {
                rows.push(&cell.case);
            }
        }
        rows
    }

    fn mark(&self, case: &str, version: Version, direction: Direction) -> &'static str {
        let here = |c: &&Cell| c.case == case && c.version == version && c.direction == direction;
        // The worst of what happened under this name.
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
                "{} ({} {})",
                cell.case,
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
        let rows = self.rows();
        let width = rows.iter().map(|row| row.chars().count()).max();
        let width = width.unwrap_or_default().max(4);
        write!(f, "{:width$}", "")?;
        for version in Version::ALL {
            write!(f, "  GIOP {:<17}", version.text())?;
        }
        write!(f, "\n{:width$}", "case")?;
        for _ in Version::ALL {
            write!(f, "  {:<6} {:<6} {:<8}", "to", "from", "through")?;
        }
        writeln!(f)?;
        for row in rows {
            let mut line = format!("{row:width$}");
            for version in Version::ALL {
                line.push_str("  ");
                for (direction, columns) in Direction::ALL.into_iter().zip([7, 7, 8]) {
                    line.push_str(&format!("{:<columns$}", self.mark(row, version, direction)));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        writeln!(
            f,
            "\nto: our client, their server. from: their client, our server. through: our client, \
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
