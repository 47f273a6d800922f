//! Parts of a call, measured alone: the search for an object and for an operation, activation and
//! its cost, collocated calls, and a soak. Each runs in a process of its own, as memory is
//! measured.

mod activation;
mod collocated;
mod operations;
mod references;
mod search;
mod soak;

use crate::Result;
use crate::contender::Harness;
use crate::experiment::{Bound, Row};
use crate::progress::progress;
use crate::statistics::median;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};

/// Number of batches, of which a figure is the median.
const BATCHES: usize = 51;
/// Minimum number of actions in a batch: reading the clock takes a fraction of a microsecond.
const BATCH: usize = 1000;

/// Options of one process.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Part to measure.
    subject: Subject,
    /// Number of objects in the measurements that use many.
    #[arg(long)]
    many: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Subject {
    Search,
    Operations,
    Activation,
    Collocated,
    References,
    Soak,
}

/// Figure, with its goal if it has one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// Name of the figure.
    what: String,
    /// Unit of the figure.
    unit: String,
    /// Value of the figure.
    value: f64,
    /// Upper bound of the figure.
    goal: Option<f64>,
}

impl Line {
    fn new(what: impl Into<String>, unit: &str, value: f64) -> Self {
        Self {
            what: what.into(),
            unit: unit.to_owned(),
            value,
            goal: None,
        }
    }

    fn at_most(self, goal: f64) -> Self {
        Self {
            goal: Some(goal),
            ..self
        }
    }

    fn row(&self) -> Row {
        let verdict = |goal| Bound::AtMost(goal).verdict(Some(self.value), false);
        Row::default()
            .with("what", &self.what)
            .with("unit", &self.unit)
            .with("value", self.value)
            .with("goal", self.goal)
            .with("verdict", self.goal.map(verdict))
    }
}

/// Measures everything, one process after the other.
///
/// # Errors
/// A process fails.
pub(super) fn measure(harness: &Harness, quick: bool) -> Result<Vec<Row>> {
    let many = if quick { "10000" } else { "1000000" };
    let progress = progress(Subject::value_variants().len());
    let mut rows = Vec::new();
    for subject in Subject::value_variants() {
        let value = subject.to_possible_value();
        let name = value.map_or_else(String::new, |value| value.get_name().to_owned());
        progress.set_message(name.clone());
        let output = Command::new(&harness.program)
            .args(["demux-inside", &name, "--many", many])
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("{name}: the process ended with {}", output.status).into());
        }
        let lines: Vec<Line> = serde_json::from_slice(&output.stdout)?;
        rows.extend(lines.iter().map(Line::row));
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(rows)
}

/// Runs one part, and prints its figures as JSON.
///
/// # Errors
/// Reasons why the part cannot be measured.
pub fn run(options: &Options) -> Result<()> {
    let many = options.many;
    let lines = match options.subject {
        Subject::Search => search::measure(many)?,
        Subject::Operations => operations::measure()?,
        Subject::Activation => activation::measure()?,
        Subject::Collocated => collocated::measure()?,
        Subject::References => references::measure()?,
        Subject::Soak => soak::measure(many)?,
    };
    println!("{}", serde_json::to_string(&lines)?);
    Ok(())
}

/// Returns the nanoseconds of one `act` on each of `subjects`: the median of batches that each go
/// through all of them, repeatedly if they are few.
fn each<T>(subjects: &[T], mut act: impl FnMut(&T)) -> f64 {
    subjects.iter().for_each(&mut act);
    let times = (BATCH / subjects.len().max(1)).max(1);
    let batch = |_| {
        let began = Clock::now();
        for _ in 0..times {
            subjects.iter().for_each(&mut act);
        }
        began.nanoseconds() / count(times * subjects.len())
    };
    let batches: Vec<f64> = (0..BATCHES).map(batch).collect();
    median(&batches).unwrap_or_default()
}

/// Processor time of this thread, which does not include other processes of a busy machine.
#[derive(Clone, Copy)]
struct Clock(rustix::time::Timespec);

impl Clock {
    fn now() -> Self {
        Self(rustix::time::clock_gettime(
            rustix::time::ClockId::ThreadCPUTime,
        ))
    }

    /// Returns the nanoseconds elapsed since the given time.
    #[allow(clippy::cast_precision_loss)]
    fn nanoseconds(self) -> f64 {
        let now = Self::now().0;
        let seconds = now.tv_sec - self.0.tv_sec;
        let rest = now.tv_nsec - self.0.tv_nsec;
        seconds as f64 * 1e9 + rest as f64
    }
}

#[allow(clippy::cast_precision_loss)]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_reached_or_missed_or_there_is_none() {
        let line = || Line::new("it", "ns", 10.0);
        assert_eq!(line().row().text("verdict"), "");
        assert_eq!(line().at_most(10.0).row().text("verdict"), "ok");
        assert_eq!(line().at_most(9.9).row().text("verdict"), "missed");
    }
}
