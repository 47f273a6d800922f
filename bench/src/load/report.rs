//! Report of the measurement.

use super::Size;
use super::hostile::{Deeds, Kind};
use crate::machine::Machine;
use crate::process::Memory;
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Names of the phases that are compared.
pub(super) const QUIET: &str = "quiet";
pub(super) const HOSTILE: &str = "hostile";
pub(super) const QUIET_AGAIN: &str = "quiet again";
/// Ratio of the two quiet phases' times above which the machine counts as disturbed.
const RESTLESS: f64 = 1.5;

/// Results of one server.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Contender whose server it is.
    pub contender: &'static str,
    /// Connections in all.
    pub connections: u32,
    /// Connections that made calls.
    pub busy: u32,
    /// Times of their calls, by phase.
    pub phases: Vec<Phase>,
    /// Acts of the hostile clients.
    pub hostile: BTreeMap<Kind, Deeds>,
    /// Number of silent connections.
    pub silent: usize,
    /// Number of silent connections that were not answered at the end.
    pub silent_lost: usize,
    /// Set if the server answered a new client at the end.
    pub alive: bool,
    /// Number of its threads under load.
    pub threads: usize,
    /// Memory of the server.
    pub memory: Stages,
}

/// A phase's calls; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Phase {
    /// Name of the phase.
    pub name: &'static str,
    /// Number of calls that were answered.
    pub calls: u64,
    /// Number of calls that were not answered.
    pub lost: u64,
    /// Median of the medians of the phase's parts.
    pub p50: f64,
    /// Median of the 99th percentiles of the phase's parts.
    pub p99: f64,
    /// 99.9th percentile of all calls.
    pub p999: u64,
    /// Longest time.
    pub max: u64,
}

/// Server's memory at three times.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Stages {
    /// Memory after the start.
    pub started: Memory,
    /// Memory with all connections open.
    pub loaded: Memory,
    /// Memory after all connections were closed.
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

    /// Returns whether every call was answered, and the server still answers.
    #[must_use]
    pub fn nothing_is_lost(&self) -> bool {
        self.alive && self.silent_lost == 0 && self.phases.iter().all(|phase| phase.lost == 0)
    }

    fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Returns the ratios of median and 99th percentile beside hostile clients to those of the
    /// quiet phases (their mean).
    #[must_use]
    pub fn ratios(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.phase(QUIET)?, self.phase(QUIET_AGAIN)?);
        let hostile = self.phase(HOSTILE)?;
        let mean = |figure: fn(&Phase) -> f64| (figure(first) + figure(last)) / 2.0;
        let ratio = |figure: fn(&Phase) -> f64| figure(hostile) / mean(figure);
        Some((ratio(|phase| phase.p50), ratio(|phase| phase.p99)))
    }

    /// Returns whether the quiet phases are so far apart that the machine must have been disturbed
    /// in one of them.
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        let quiet = self.phase(QUIET).zip(self.phase(QUIET_AGAIN));
        quiet.is_some_and(|(first, last)| {
            let apart = |one: f64, other: f64| one.max(other) > RESTLESS * one.min(other);
            apart(first.p50, last.p50) || apart(first.p99, last.p99)
        })
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
        if self.is_noisy() {
            writeln!(
                f,
                "! the quiet phases differ much: not to be trusted before it is repeated"
            )?;
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

/// Reports of all contenders.
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
        report.phases = vec![
            phase(QUIET, 100.0, 0),
            phase(HOSTILE, 150.0, lost),
            phase(QUIET_AGAIN, 140.0, 0),
        ];
        report.alive = true;
        report
    }

    #[test]
    fn the_hostile_phase_is_compared_with_the_mean_of_the_quiet_ones() {
        assert_eq!(report(0).ratios(), Some((1.25, 1.25)));
        assert!(report(0).to_string().contains("p50 1.25, p99 1.25"));
    }

    #[test]
    fn quiet_phases_that_are_far_apart_make_it_noisy() {
        let mut report = report(0);
        assert!(!report.is_noisy());
        report.phases[2] = phase(QUIET_AGAIN, 160.0, 0);
        assert!(report.is_noisy() && report.to_string().contains("not to be trusted"));
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
