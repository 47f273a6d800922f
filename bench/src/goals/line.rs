//! Lines of the goals table: each has a goal, and the figure that is compared with it.

use super::Evidence;
use super::figure::{Finding, Need};
use super::find::{
    Side, cost, idle_connection, idle_server, one_way, one_way_beside_omniorb, p50, p99, rate,
    rounded, threads_beside_omniorb, timed, two_way, under_load,
};
use crate::experiment::Bound;
use crate::placement::Placement;
use crate::throughput::Kind;
use std::fmt;

/// Line of the goals table.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    /// Name by which the line is selected on the command line.
    pub(crate) name: &'static str,
    /// Description of the measured quantity.
    pub(crate) what: &'static str,
    /// Bound that the figure must keep to reach the goal.
    pub(crate) bound: Bound,
    /// Unit of the figure and of the goal.
    pub(crate) unit: &'static str,
    /// Measurement from which the line's figure is taken.
    pub(crate) need: Need,
    /// Function that finds the line's figure in the reports, or says why it is missing.
    pub(crate) find: fn(&Evidence) -> Finding,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("name", &self.name).finish()
    }
}

impl Line {
    /// Returns the text of the goal with its unit.
    pub(crate) fn goal(&self) -> String {
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

/// All lines of the goals table.
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
        |e| threads_beside_omniorb(e, Placement::Same)),
    line("threads-cross", "2, 4 and 8 threads on one reference, cross, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| threads_beside_omniorb(e, Placement::Cross)),
    line("threads-unpinned", "2, 4 and 8 threads on one reference, unpinned, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| threads_beside_omniorb(e, Placement::Unpinned)),
    line("one-way-same", "one-ways, same", AtLeast(0.9), FLOOR, Need::Throughput,
        |e| one_way(e, Kind::one_way(Placement::Same), "punctual")),
    line("one-way-cross", "one-ways, cross, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| one_way_beside_omniorb(e, Placement::Cross)),
    line("one-way-unpinned", "one-ways, unpinned, beside omniORB", AtLeast(1.2), "× omniORB", Need::Throughput,
        |e| one_way_beside_omniorb(e, Placement::Unpinned)),
    line("one-way-buffered", "one-ways, cross, buffered", Above(4_000_000.0), "calls/s", Need::Throughput,
        |e| rate(e, Kind::BUFFERED, "punctual")),
    line("idle-server", "an idle server, resident", AtMost(3.0), "MiB", Need::Memory, idle_server),
    line("idle-connection", "an idle connection on the reactor, resident", AtMost(4.0), "KiB", Need::Memory,
        idle_connection),
    line("load-p50", "10,000 connections, a tenth hostile: the busy ones' p50", AtMost(2.0), "× quiet", Need::Load,
        |e| under_load(e, "p50_ratio")),
    line("load-p99", "10,000 connections, a tenth hostile: the busy ones' p99", AtMost(2.0), "× quiet", Need::Load,
        |e| under_load(e, "p99_ratio")),
    line("load-lost", "calls and connections lost under that load", AtMost(0.0), "", Need::Load,
        |e| under_load(e, "lost")),
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
}
