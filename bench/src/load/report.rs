//! Report of the measurement.

use super::Size;
use super::hostile::{Deeds, Kind};
use crate::experiment::{Bound, Column, Experiment, Report, Row, Tabled};
use crate::process::Memory;
use std::collections::BTreeMap;

/// Names of the phases that the report compares: quiet, hostile, and quiet again.
pub(super) const QUIET: &str = "quiet";
pub(super) const HOSTILE: &str = "hostile";
pub(super) const QUIET_AGAIN: &str = "quiet again";
/// Ratio of the two quiet phases' times above which the machine counts as disturbed during the run.
const RESTLESS: f64 = 1.5;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "load",
    "what thousands of other connections, some of them hostile, do to the \
        calls of some",
)
.frames(&["phases", "hostile", "memory"])
.conditions("{contender}: {busy} busy connections of {connections}")
.tables(&[
    Tabled::listing(
        "phases",
        "calls of the busy connections, µs (!: the quiet phases differ much)",
        "{name}",
        &[
            Column::number("calls", "calls"),
            Column::number("lost", "lost").rated(Bound::AtMost(0.0)),
            Column::micros("p50", "p50")
                .decimals(1)
                .marked_by("restless"),
            Column::micros("p99", "p99")
                .decimals(1)
                .marked_by("restless"),
            Column::micros("p99.9", "p999").decimals(1),
            Column::micros("longest", "max").decimals(1),
        ],
    ),
    Tabled::listing(
        "hostile",
        "hostile clients",
        "{kind}",
        &[
            Column::number("acted", "acts"),
            Column::number("thrown out", "thrown_out"),
        ],
    ),
    Tabled::listing(
        "memory",
        "the server's memory, MiB",
        "{when}",
        &[
            Column::mebibytes("resident", "resident"),
            Column::mebibytes("anonymous", "anonymous"),
        ],
    ),
])
.remarks(&[
    "hostile ÷ quiet: p50 {p50_ratio}, p99 {p99_ratio}",
    "silent connections lost: {silent_lost} of {silent}; the server answers: \
        {alive}; threads under load: {threads}",
]);

/// Measured calls of one phase; times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    /// Name of the phase.
    pub(super) name: &'static str,
    /// Number of calls that were answered.
    pub(super) calls: u64,
    /// Number of calls that were not answered.
    pub(super) lost: u64,
    /// Median of the median call times of the phase's parts.
    pub(super) p50: f64,
    /// Median of the 99th percentiles of the phase's parts.
    pub(super) p99: f64,
    /// 99.9th percentile of all call times of the phase.
    pub(super) p999: u64,
    /// Longest call time of the phase.
    pub(super) max: u64,
}

/// Figures that the load experiment measured for one server.
#[derive(Debug, Default)]
pub(super) struct ServerFigures {
    pub(super) phases: Vec<Phase>,
    pub(super) hostile: BTreeMap<Kind, Deeds>,
    /// Number of connections that stay silent after one call each.
    pub(super) silent: usize,
    /// Number of silent connections that were not answered at the end.
    pub(super) silent_lost: usize,
    /// Set if the server answered a new client at the end.
    pub(super) alive: bool,
    /// Number of the server's threads under load.
    pub(super) threads: usize,
    /// Memory of the server, each with the name of the moment at which it was measured.
    pub(super) memory: Vec<(&'static str, Memory)>,
}

impl ServerFigures {
    /// Returns the report of the load experiment.
    pub(super) fn report(&self, contender: &'static str, size: Size) -> Report {
        let ratios = self.ratios();
        let settings = Row::default()
            .with("contender", contender)
            .with("connections", size.connections)
            .with("busy", size.busy)
            .with("silent", self.silent)
            .with("silent_lost", self.silent_lost)
            .with("alive", self.alive)
            .with("threads", self.threads)
            .with("p50_ratio", ratios.map(|(p50, _)| p50))
            .with("p99_ratio", ratios.map(|(_, p99)| p99))
            .with("restless", self.is_restless())
            .with("lost", self.lost());
        let mut report = Report::new(&EXPERIMENT, settings);
        report.add("phases", self.phases.iter().map(|one| self.row(one)));
        let deeds = |(kind, deeds): (&Kind, &Deeds)| {
            Row::default()
                .with("kind", kind)
                .with("acts", deeds.acts)
                .with("thrown_out", deeds.thrown_out)
        };
        report.add("hostile", self.hostile.iter().map(deeds));
        let memory = |(when, memory): &(&str, Memory)| {
            Row::default()
                .with("when", when)
                .with("resident", memory.resident)
                .with("proportional", memory.proportional)
                .with("anonymous", memory.anonymous)
        };
        report.add("memory", self.memory.iter().map(memory));
        if self.lost() > 0 {
            let lost = format!("{contender}: something was lost, or it does not answer");
            report.failed.push(lost);
        }
        report
    }

    fn row(&self, phase: &Phase) -> Row {
        Row::default()
            .with("name", phase.name)
            .with("calls", phase.calls)
            .with("lost", phase.lost)
            .with("p50", phase.p50)
            .with("p99", phase.p99)
            .with("p999", phase.p999)
            .with("max", phase.max)
            .with("restless", self.is_restless())
    }

    /// Returns the number of lost calls and connections; a server that no longer answers adds one.
    fn lost(&self) -> u64 {
        let calls: u64 = self.phases.iter().map(|phase| phase.lost).sum();
        calls + self.silent_lost as u64 + u64::from(!self.alive)
    }

    fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Returns the median and the 99th percentile of the phase with hostile clients, each divided
    /// by the mean of the quiet phases.
    fn ratios(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.phase(QUIET)?, self.phase(QUIET_AGAIN)?);
        let hostile = self.phase(HOSTILE)?;
        let mean = |figure: fn(&Phase) -> f64| (figure(first) + figure(last)) / 2.0;
        let ratio = |figure: fn(&Phase) -> f64| figure(hostile) / mean(figure);
        Some((ratio(|phase| phase.p50), ratio(|phase| phase.p99)))
    }

    /// Returns whether the two quiet phases differ so much that the machine must have been
    /// disturbed in one of them.
    fn is_restless(&self) -> bool {
        let quiet = self.phase(QUIET).zip(self.phase(QUIET_AGAIN));
        quiet.is_some_and(|(first, last)| {
            let apart = |one: f64, other: f64| one.max(other) > RESTLESS * one.min(other);
            apart(first.p50, last.p50) || apart(first.p99, last.p99)
        })
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

    fn seen(lost: u64) -> ServerFigures {
        ServerFigures {
            phases: vec![
                phase(QUIET, 100.0, 0),
                phase(HOSTILE, 150.0, lost),
                phase(QUIET_AGAIN, 140.0, 0),
            ],
            alive: true,
            ..ServerFigures::default()
        }
    }

    fn text(seen: &ServerFigures) -> String {
        let size = Size {
            connections: 100,
            busy: 10,
            phase: 1,
            acts: 1,
        };
        seen.report("punctual", size).to_string()
    }

    #[test]
    fn the_hostile_phase_is_compared_with_the_mean_of_the_quiet_ones() {
        assert_eq!(seen(0).ratios(), Some((1.25, 1.25)));
        assert!(text(&seen(0)).contains("p50 1.25, p99 1.25"));
    }

    #[test]
    fn quiet_phases_that_are_far_apart_make_it_restless() {
        let mut seen = seen(0);
        assert!(!seen.is_restless() && !text(&seen).contains("0.1!"));
        seen.phases[2] = phase(QUIET_AGAIN, 160.0, 0);
        assert!(seen.is_restless() && text(&seen).contains("0.1!"));
    }

    #[test]
    fn one_call_without_an_answer_is_a_loss_and_so_is_a_dead_server() {
        assert_eq!(seen(0).lost(), 0);
        assert_eq!(seen(1).lost(), 1);
        let dead = ServerFigures {
            alive: false,
            ..seen(0)
        };
        assert_eq!(dead.lost(), 1);
        assert!(text(&dead).contains("does not answer"));
    }
}
