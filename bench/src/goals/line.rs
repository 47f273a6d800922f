//! Lines of the table: the goals, and the figure of each.

use super::Evidence;
use super::figure::{Finding, Need};
use super::find::{
    Side, cost, idle_connection, idle_server, lost, one_way, one_way_beside_omniorb, p50, p99,
    rate, rounded, threads_beside_omniorb, timed, two_way, under_load,
};
use crate::throughput::{Kind, Pinning};
use serde::Serialize;
use std::fmt;

/// Bound of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Upper bound, inclusive.
    AtMost(f64),
    /// Lower bound, inclusive.
    AtLeast(f64),
    /// Lower bound, exclusive.
    Above(f64),
}

impl Bound {
    /// Returns whether a figure keeps the bound.
    #[must_use]
    pub fn keeps(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::Above(limit) => value > limit,
        }
    }

    /// Returns how much of the bound a figure uses: 1 is the bound itself, and more is too much.
    #[must_use]
    pub fn share(self, value: f64) -> f64 {
        match self {
            // The bound is zero, so each unit is too much.
            Self::AtMost(most) if most <= 0.0 => 1.0 + value,
            Self::AtMost(most) => value / most,
            Self::AtLeast(limit) | Self::Above(limit) => limit / value,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, limit) = match self {
            Self::AtMost(limit) => ("≤", limit),
            Self::AtLeast(limit) => ("≥", limit),
            Self::Above(limit) => (">", limit),
        };
        write!(f, "{word} {limit}")
    }
}

/// Line of the table.
#[derive(Clone, Copy)]
pub struct Line {
    /// Name by which the line is selected.
    pub name: &'static str,
    /// Measured quantity.
    pub what: &'static str,
    /// Goal of the line.
    pub bound: Bound,
    /// Unit of figure and goal.
    pub unit: &'static str,
    /// Measurement that the line needs.
    pub need: Need,
    /// Function that finds the figure in the evidence, or the reason why it is missing.
    pub find: fn(&Evidence) -> Finding,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("name", &self.name).finish()
    }
}

impl Line {
    /// Returns the goal with its unit.
    #[must_use]
    pub fn goal(&self) -> String {
        format!("{} {}", self.bound, self.unit)
    }
}

const SMALL: &[&str] = &["cube_void", "cube_long", "cube_struct"];
const WITHOUT_RESULTS: &[&str] = &[
    "cube_void",
    "cube_long",
    "cube_struct",
    "take_octets:4096",
    "take_longs:1024",
    "take_bin_structs:1024",
];
const FLOOR: &str = "× floor";

const fn line(
    name: &'static str,
    what: &'static str,
    bound: Bound,
    unit: &'static str,
    need: Need,
    find: fn(&Evidence) -> Finding,
) -> Line {
    Line {
        name,
        what,
        bound,
        unit,
        need,
        find,
    }
}

use Bound::{Above, AtLeast, AtMost};

/// All lines.
#[rustfmt::skip]
pub(super) const ALL: &[Line] = &[
    line("same-tcp-p50", "same: void, long, struct over TCP, p50", AtMost(1.05), FLOOR, Need::Same,
        |e| p50(e, Need::Same, "punctual", SMALL)),
    line("same-tcp-p99", "same: void, long, struct over TCP, p99", AtMost(1.15), FLOOR, Need::Same,
        |e| p99(e, Need::Same, "punctual", SMALL)),
    line("same-unix-p50", "same: void, long, struct over Unix sockets, p50", AtMost(1.05), FLOOR, Need::Same,
        |e| p50(e, Need::Same, "punctual-uiop", SMALL)),
    line("same-unix-p99", "same: void, long, struct over Unix sockets, p99", AtMost(1.15), FLOOR, Need::Same,
        |e| p99(e, Need::Same, "punctual-uiop", SMALL)),
    line("same-pool", "same: the Leader/Followers pool, TCP, p50", AtMost(1.12), FLOOR, Need::Same,
        |e| p50(e, Need::Same, "punctual-lf", SMALL)),
    line("same-octets", "same: 4 KiB octets over TCP, p50", AtMost(1.10), FLOOR, Need::Same,
        |e| p50(e, Need::Same, "punctual", &["take_octets:4096"])),
    line("same-longs", "same: 1,024 longs over TCP, p50", AtMost(1.10), FLOOR, Need::Same,
        |e| p50(e, Need::Same, "punctual", &["take_longs:1024"])),
    line("same-structs", "same: 1,024 BinStructs over TCP, p50", AtMost(1.2), FLOOR, Need::Same,
        |e| p50(e, Need::Same, "punctual", &["take_bin_structs:1024"])),
    line("octets-mib", "same: 1 MiB of octets over TCP, p50", AtMost(1.15), FLOOR, Need::Same,
        |e| p50(e, Need::Same, "punctual", &["take_octets:1048576"])),
    line("cross-tcp", "cross, blocking: TCP, p50", AtMost(1.03), FLOOR, Need::Cross,
        |e| p50(e, Need::Cross, "punctual", SMALL)),
    line("cross-unix", "cross, blocking: Unix sockets, p50", AtMost(1.03), FLOOR, Need::Cross,
        |e| p50(e, Need::Cross, "punctual-uiop", SMALL)),
    line("spin-tcp", "cross, spinning: TCP, p50", AtMost(1.20), "× spinning floor", Need::Cross,
        |e| p50(e, Need::Cross, "punctual-spin", SMALL)),
    line("spin-unix", "cross, spinning: Unix sockets, p50", AtMost(1.20), "× spinning floor", Need::Cross,
        |e| p50(e, Need::Cross, "punctual-uiop-spin", SMALL)),
    line("spin-shared-memory", "cross, spinning: void over shared memory", AtMost(2.0), "× spinning floor", Need::Cross,
        |e| timed(e, Need::Cross, "punctual-shmiop-spin", "cube_void")),
    line("instructions-void-client", "instructions of a void call, client", AtMost(950.0), "", Need::Instructions,
        |e| cost(e, Need::Instructions, &["cube_void"], Side::Client)),
    line("instructions-void-server", "instructions of a void call, server", AtMost(1050.0), "", Need::Instructions,
        |e| cost(e, Need::Instructions, &["cube_void"], Side::Server)),
    line("instructions-structs", "instructions of 1,024 BinStructs, a side", AtMost(12_000.0), "", Need::Instructions,
        |e| cost(e, Need::Instructions, &["take_bin_structs:1024"], Side::Worse)),
    line("instructions-octets", "instructions of 4 KiB octets, a side", AtMost(1700.0), "", Need::Instructions,
        |e| cost(e, Need::Instructions, &["take_octets:4096"], Side::Worse)),
    line("system-calls", "system calls a call, a side: a send and a receive", AtMost(2.0), "", Need::SystemCalls,
        |e| cost(e, Need::SystemCalls, SMALL, Side::Worse).map(|found| rounded(found, 10.0))),
    line("context-switches", "context switches a call, a side", AtMost(1.0), "", Need::Switches,
        |e| cost(e, Need::Switches, SMALL, Side::Worse).map(|found| rounded(found, 10.0))),
    line("allocations", "allocations a call without a sequence as its result, a side", AtMost(0.0), "", Need::Allocations,
        |e| cost(e, Need::Allocations, WITHOUT_RESULTS, Side::Worse).map(|found| rounded(found, 10.0))),
    line("allocations-result", "allocations a call with a sequence as its result, a side", AtMost(1.0), "", Need::Allocations,
        |e| cost(e, Need::Allocations, &["echo_octets:1024"], Side::Worse).map(|found| rounded(found, 10.0))),
    line("throughput", "8 threads on one reference: of 250,000 calls/s or 0.85 × floor", AtLeast(1.0), "×", Need::Throughput,
        two_way),
    line("threads-same", "2, 4 and 8 threads on one reference, same, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| threads_beside_omniorb(e, Pinning::Same)),
    line("threads-cross", "2, 4 and 8 threads on one reference, cross, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| threads_beside_omniorb(e, Pinning::Cross)),
    line("threads-unpinned", "2, 4 and 8 threads on one reference, unpinned, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| threads_beside_omniorb(e, Pinning::Unpinned)),
    line("one-way-same", "one-ways, same", AtLeast(0.9), FLOOR, Need::Throughput,
        |e| one_way(e, Kind::one_way(Pinning::Same), "punctual")),
    line("one-way-cross", "one-ways, cross, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| one_way_beside_omniorb(e, Pinning::Cross)),
    line("one-way-unpinned", "one-ways, unpinned, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| one_way_beside_omniorb(e, Pinning::Unpinned)),
    line("one-way-buffered", "one-ways, cross, buffered", Above(4_000_000.0), "calls/s", Need::Throughput,
        |e| rate(e, Kind::BUFFERED, "punctual")),
    line("idle-server", "an idle server, resident", AtMost(3.0), "MiB", Need::Memory, idle_server),
    line("idle-connection", "an idle connection on the reactor, resident", AtMost(4.0), "KiB", Need::Memory,
        idle_connection),
    line("load-p50", "10,000 connections, a tenth hostile: the busy ones' p50", AtMost(2.0), "× quiet", Need::Load,
        |e| under_load(e, |(p50, _)| p50)),
    line("load-p99", "10,000 connections, a tenth hostile: the busy ones' p99", AtMost(2.0), "× quiet", Need::Load,
        |e| under_load(e, |(_, p99)| p99)),
    line("load-lost", "calls and connections lost under that load", AtMost(0.0), "", Need::Load, lost),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_name_of_its_own() {
        for (place, line) in ALL.iter().enumerate() {
            assert!(
                ALL[..place].iter().all(|other| other.name != line.name),
                "{}",
                line.name
            );
        }
    }

    #[test]
    fn a_bound_itself_is_kept_but_for_one_that_must_be_passed() {
        assert!(AtMost(1.08).keeps(1.08) && !AtMost(1.08).keeps(1.081));
        assert!(AtLeast(0.88).keeps(0.88) && !AtLeast(0.88).keeps(0.87));
        assert!(!Above(1.0).keeps(1.0) && Above(1.0).keeps(1.01));
    }

    #[test]
    fn more_than_one_share_is_what_keeps_no_bound() {
        for bound in [AtMost(2.0), AtLeast(2.0), AtMost(0.0)] {
            for value in [0.0, 1.0, 1.9, 2.1, 5.0] {
                assert_eq!(
                    bound.keeps(value),
                    bound.share(value) <= 1.0,
                    "{bound} {value}"
                );
            }
        }
    }
}
