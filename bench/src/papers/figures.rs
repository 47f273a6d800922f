//! Figures that claims are judged by, found in reports of measurements.

use super::claims::Found;
use super::evidence::Evidence;
use serde_json::json;
use std::fmt;

/// Returns a time in words.
pub(super) fn micros(nanoseconds: f64) -> String {
    format!("{:.1} µs", nanoseconds / 1000.0)
}

/// Gain of a protocol beside another over all types of data, in percent, by figure 16.
pub(super) struct Gain {
    pub(super) least: f64,
    pub(super) mean: f64,
    most: f64,
}

impl Gain {
    pub(super) fn of(e: &Evidence<'_>, protocol: &str, over: &str) -> Result<Self, String> {
        let pair = [("protocol", json!(protocol)), ("over", json!(over))];
        let of = |figure| e.figure("compared", &pair, figure);
        Ok(Self {
            least: of("least")?,
            mean: of("mean")?,
            most: of("most")?,
        })
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, mean, most } = self;
        write!(f, "{least:+.1} to {most:+.1} %, {mean:+.1} % on average")
    }
}

/// Returns the median time of a call of this case.
pub(super) fn p50(e: &Evidence<'_>, contender: &str, case: &str) -> Result<f64, String> {
    let wanted = [("contender", json!(contender)), ("case", json!(case))];
    e.figure("rows", &wanted, "median")
}

/// Returns the time of calls by the DII, with requests that are used again, as a ratio to that of calls by stubs.
pub(super) fn by_dii(e: &Evidence<'_>, case: &str) -> Result<f64, String> {
    Ok(p50(e, "punctual-dii", case)? / p50(e, "punctual", case)?)
}

/// Returns the median time of a two-way call to one of so many objects with so many operations.
pub(super) fn demultiplexed(
    e: &Evidence<'_>,
    strategy: &str,
    algorithm: &str,
    objects: u64,
    operations: u64,
) -> Result<f64, String> {
    call_time(e, (strategy, algorithm), (objects, operations), true)
}

/// Returns the same of two-way calls or one-ways.
pub(super) fn call_time(
    e: &Evidence<'_>,
    (strategy, algorithm): (&str, &str),
    (objects, operations): (u64, u64),
    two_way: bool,
) -> Result<f64, String> {
    let wanted = [
        ("over", json!("objects")),
        ("strategy", json!(strategy)),
        ("algorithm", json!(algorithm)),
        ("objects", json!(objects)),
        ("operations", json!(operations)),
        ("two_way", json!(two_way)),
    ];
    e.figure("rows", &wanted, "median")
}

/// Returns the 99th percentile of the time to urgent consumers beside others that compute, as a ratio to that without.
pub(super) fn dispatched(e: &Evidence<'_>, way: &str) -> Result<f64, String> {
    let wanted = [("contender", json!(way)), ("load", json!("loaded"))];
    e.figure("rows", &wanted, "p99_beside_alone")
}

/// Compares an urgent client's latency beside the most low clients with that beside the fewest.
pub(super) fn urgent(e: &Evidence<'_>, contender: &str, most_growth: f64) -> Result<Found, String> {
    let (few, many) = e.ends("rows", "low")?;
    let mean = |low: u64| {
        let wanted = [("contender", json!(contender)), ("low", json!(low))];
        e.figure("rows", &wanted, "high.mean")
    };
    let (alone, crowded) = (mean(few)?, mean(many)?);
    Found::judged(
        format!(
            "{} beside {few} low client, {} beside {many}",
            micros(alone),
            micros(crowded)
        ),
        crowded / alone < most_growth,
        "it grows with their number",
    )
}

/// Returns the throughput of one-ways with a reliability, as a ratio to that of two-way calls.
pub(super) fn reliable(e: &Evidence<'_>, kind: &str, placement: &str) -> Result<f64, String> {
    let wanted = [
        ("figure", json!("reliable")),
        ("kind", json!(kind)),
        ("placement", json!(placement)),
    ];
    e.figure("rows", &wanted, "ratio")
}
