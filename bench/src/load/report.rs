//! What came of it.

use super::Size;
use super::hostile::{Deeds, Kind};
use crate::machine::Machine;
use crate::process::Memory;
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// One server's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// Whose server.
    pub contender: &'static str,
    /// Connections in all.
    pub connections: u32,
    /// Those that made calls.
    pub busy: u32,
    /// What these took, by phase.
    pub phases: Vec<Phase>,
    /// What the hostile ones did.
    pub hostile: BTreeMap<Kind, Deeds>,
    /// Those that kept silent, and of them those that were not answered at the end.
    pub silent: usize,
    /// See `silent`.
    pub silent_lost: usize,
    /// Whether the server answered a new client at the end.
    pub alive: bool,
    /// Its threads under load.
    pub threads: usize,
    /// Its memory.
    pub memory: Stages,
}

/// A phase's calls; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Phase {
    /// What it is called.
    pub name: &'static str,
    /// Calls that were answered.
    pub calls: u64,
    /// Calls that were not.
    pub lost: u64,
    /// Median of the medians of the phase's parts.
    pub p50: f64,
    /// Median of their 99th percentiles.
    pub p99: f64,
    /// 99.9th percentile of all calls.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

/// A server's memory at three times.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Stages {
    /// When it had started.
    pub started: Memory,
    /// With all connections there.
    pub loaded: Memory,
    /// When all had gone.
    pub left: Memory,
}

impl Report {
    pub(super) fn new(contender: &'static str, machine: Machine, size: Size) -> Self {
        Self {
            machine,
            contender,
            connections: size.connections,
            busy: size.busy,
            phases: Vec::new(),
            hostile: BTreeMap::new(),
            silent: 0,
            silent_lost: 0,
            alive: false,
            threads: 0,
            memory: Stages::default(),
        }
    }

    /// Whether every call was answered, and the server still does.
    #[must_use]
    pub fn nothing_is_lost(&self) -> bool {
        self.alive && self.silent_lost == 0 && self.phases.iter().all(|phase| phase.lost == 0)
    }

    /// Median and 99th percentile of the last phase, divided by those of the first.
    #[must_use]
    pub fn ratios(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.phases.first()?, self.phases.last()?);
        Some((last.p50 / first.p50, last.p99 / first.p99))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = format!(
            "{}: {} busy connections of {}; µs",
            self.contender, self.busy, self.connections
        );
        let table = Table {
            title,
            columns: ["calls", "lost", "p50", "p99", "p99.9", "longest"]
                .map(str::to_owned)
                .to_vec(),
            rows: self.phases.iter().map(row).collect(),
        };
        writeln!(f, "{}\n{table}", self.machine)?;
        if let Some((p50, p99)) = self.ratios() {
            writeln!(f, "hostile ÷ quiet: p50 {p50:.2}, p99 {p99:.2}")?;
        }
        for (kind, deeds) in &self.hostile {
            writeln!(
                f,
                "{kind:?}: acted {} times, thrown out {} times",
                deeds.acts, deeds.thrown_out
            )?;
        }
        writeln!(
            f,
            "silent connections lost: {} of {}; the server {}",
            self.silent_lost,
            self.silent,
            if self.alive {
                "answers"
            } else {
                "does not answer"
            }
        )?;
        let mebibytes = |memory: Memory| memory.resident >> 20;
        writeln!(
            f,
            "resident MiB: {} at the start, {} under load with {} threads, {} when all had gone",
            mebibytes(self.memory.started),
            mebibytes(self.memory.loaded),
            self.threads,
            mebibytes(self.memory.left)
        )
    }
}

fn row(phase: &Phase) -> (String, Vec<Cell>) {
    #[allow(clippy::cast_precision_loss)]
    let (p999, max) = (phase.p999 as f64, phase.max as f64);
    let micros = |time: f64| Cell::new(format!("{:.1}", time / 1000.0), Tone::Plain);
    let lost = match phase.lost {
        0 => Tone::Faint,
        _ => Tone::Bad,
    };
    let cells = vec![
        Cell::new(phase.calls.to_string(), Tone::Plain),
        Cell::new(phase.lost.to_string(), lost),
        micros(phase.p50),
        micros(phase.p99),
        micros(p999),
        micros(max),
    ];
    (phase.name.to_owned(), cells)
}

/// Those of all contenders.
#[derive(Serialize)]
pub(super) struct All<'r>(pub(super) &'r [Report]);

impl fmt::Display for All<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|report| writeln!(f, "{report}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &'static str, p50: f64, lost: u64) -> Phase {
        Phase {
            name,
            calls: 10,
            lost,
            p50,
            p99: p50 * 3.0,
            p999: 1000,
            max: 1000,
        }
    }

    fn report(lost: u64) -> Report {
        let size = Size {
            connections: 100,
            busy: 10,
            phase: 1,
            acts: 1,
        };
        let mut report = Report::new("punctual", Machine::this(), size);
        report.phases = vec![phase("quiet", 100.0, 0), phase("hostile", 150.0, lost)];
        report.alive = true;
        report
    }

    #[test]
    fn the_last_phase_is_compared_with_the_first() {
        assert_eq!(report(0).ratios(), Some((1.5, 1.5)));
        assert!(report(0).to_string().contains("p50 1.50, p99 1.50"));
    }

    #[test]
    fn one_call_without_an_answer_is_a_loss_and_so_is_a_dead_server() {
        assert!(report(0).nothing_is_lost());
        assert!(!report(1).nothing_is_lost());
        let dead = Report {
            alive: false,
            ..report(0)
        };
        assert!(!dead.nothing_is_lost());
    }
}
