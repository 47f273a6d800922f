//! Figures that claims are judged by, found in reports of measurements.

mod calls;
mod lending;
mod sockets;
mod stages;

pub(super) use calls::{ByData, Orders, Served, Sweep, by_data, demultiplexed};
pub(super) use lending::{Lending, octets};
pub(super) use sockets::{Gain, OverSockets};
pub(super) use stages::{CLIENT, SERVER, stage_shares, stages, system_share};

use crate::papers::claim::Found;
use crate::papers::evidence::Evidence;
use serde_json::{Value, json};
use std::fmt;

/// Returns a time in words.
pub(crate) fn micros(nanoseconds: f64) -> String {
    format!("{:.1} µs", nanoseconds / 1000.0)
}

/// Returns a short time in words.
pub(crate) fn nanos(nanoseconds: f64) -> String {
    format!("{nanoseconds:.0} ns")
}

/// Returns the median time of a call of this case.
pub(crate) fn p50(e: &Evidence<'_>, contender: &str, case: &str) -> Result<f64, String> {
    let wanted = [("contender", json!(contender)), ("case", json!(case))];
    e.figure("rows", &wanted, "median")
}

/// Returns the time of calls by the DII, with requests that are used again, as a ratio to that of calls by stubs.
pub(crate) fn by_dii(e: &Evidence<'_>, case: &str) -> Result<f64, String> {
    Ok(p50(e, "punctual-dii", case)? / p50(e, "punctual", case)?)
}

/// Returns the 99th percentile of the time to urgent consumers beside others that compute, as a ratio to that without.
pub(crate) fn dispatched(e: &Evidence<'_>, way: &str) -> Result<f64, String> {
    let wanted = [("contender", json!(way)), ("load", json!("loaded"))];
    e.figure("rows", &wanted, "p99_beside_alone")
}

/// Returns a figure of clients with priorities, beside so many low ones.
pub(crate) fn beside(
    e: &Evidence<'_>,
    contender: &str,
    low: u64,
    name: &str,
) -> Result<f64, String> {
    let wanted = [("contender", json!(contender)), ("low", json!(low))];
    e.figure("rows", &wanted, name)
}

/// Figure of clients with priorities beside the fewest low ones and beside the most.
pub(crate) struct Growth {
    pub(crate) few: u64,
    pub(crate) many: u64,
    pub(crate) alone: f64,
    pub(crate) crowded: f64,
}

impl Growth {
    pub(crate) fn of(e: &Evidence<'_>, contender: &str, name: &str) -> Result<Self, String> {
        let (few, many) = e.ends("rows", "low")?;
        Ok(Self {
            few,
            many,
            alone: beside(e, contender, few, name)?,
            crowded: beside(e, contender, many, name)?,
        })
    }

    /// Returns by how many times the figure is greater beside the most.
    pub(crate) fn times(&self) -> f64 {
        self.crowded / self.alone
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (alone, crowded) = (micros(self.alone), micros(self.crowded));
        let Self { few, many, .. } = self;
        write!(
            f,
            "{alone} beside {few} low client, {crowded} beside {many}"
        )
    }
}

/// Compares an urgent client's latency beside the most low clients with that beside the fewest.
pub(crate) fn urgent(e: &Evidence<'_>, contender: &str, most_growth: f64) -> Result<Found, String> {
    let growth = Growth::of(e, contender, "high.mean")?;
    let is_level = growth.times() < most_growth;
    Found::judged(growth.to_string(), is_level, "it grows with their number")
}

/// Returns the throughput of one-ways with a reliability, as a ratio to that of two-way calls.
pub(crate) fn reliable(e: &Evidence<'_>, kind: &str, placement: &str) -> Result<f64, String> {
    let wanted = [
        ("figure", json!("reliable")),
        ("kind", json!(kind)),
        ("placement", json!(placement)),
    ];
    e.figure("rows", &wanted, "ratio")
}

/// Returns how often one side copies the octets of a case in user space.
pub(crate) fn copies(e: &Evidence<'_>, who: &str, case: &str, side: &str) -> Result<f64, String> {
    let (_, octets) = case.split_once(':').ok_or("no size")?;
    let octets: f64 = octets.parse().map_err(|_| "no size")?;
    let wanted = [("contender", json!(who)), ("case", json!(case))];
    Ok(e.figure("costs", &wanted, side)? / octets)
}

/// Returns the size of a stripped server with a set of Cargo features, and of its libraries but the C library, in KiB.
pub(crate) fn program(e: &Evidence<'_>, set: &str) -> Result<f64, String> {
    let wanted = [
        ("name", json!(set)),
        ("level", json!("s")),
        ("target", Value::Null),
    ];
    let of = |name| e.figure("rows", &wanted, name);
    Ok((of("figures.server_bytes")? + of("figures.library_bytes")?) / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_octets_copied_by_octets_sent() {
        let report = json!({"costs": [{"contender": "punctual", "case": "take_octets:1000", "client": 1100.0, "server": 0.0}]});
        let e = Evidence::of(&report);
        assert_eq!(
            copies(&e, "punctual", "take_octets:1000", "client"),
            Ok(1.1)
        );
        assert_eq!(
            copies(&e, "punctual", "take_octets:1000", "server"),
            Ok(0.0)
        );
        assert!(copies(&e, "punctual", "take_octets", "server").is_err());
    }

    #[test]
    fn sizes_are_of_this_machine_s_programs() {
        let row = |target: Value, bytes: u64| json!({"name": "minimum", "level": "s", "target": target, "figures": {"server_bytes": bytes, "library_bytes": 0}});
        let report =
            json!({"rows": [row(json!("aarch64-unknown-linux-musl"), 1), row(Value::Null, 2048)]});
        assert_eq!(program(&Evidence::of(&report), "minimum"), Ok(2.0));
    }
}
