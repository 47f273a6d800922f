//! What is counted: operations, how they ended and how long they took.
//!
//! Counting takes no lock and does not allocate.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Upper ends of the intervals that durations are counted in, in microseconds.
const ENDS: [u64; 12] = [
    1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000,
];

/// All that is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) resolves: Timed,
    pub(crate) lists: Timed,
    pub(crate) changes: Timed,
    /// Commits to the store, each with the changes of one operation or many.
    pub(crate) commits: Timed,
}

/// One kind of work. Its counts are read one after the other and may differ by what happens meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Timed {
    /// As long as the end of the same place at most, and longer than the one before.
    counts: [AtomicU64; ENDS.len() + 1],
    nanoseconds: AtomicU64,
    refused: AtomicU64,
}

impl Timed {
    /// Does work, and counts it.
    pub(crate) fn count<R, E>(&self, work: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        let begin = Instant::now();
        let done = work();
        self.add(begin.elapsed(), done.is_err());
        done
    }

    fn add(&self, took: Duration, is_refused: bool) {
        let place = ENDS
            .iter()
            .position(|end| took <= Duration::from_micros(*end));
        // Nothing else is to be seen in the order of these: they pair with no other access.
        if let Some(count) = self.counts.get(place.unwrap_or(ENDS.len())) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.refused
            .fetch_add(u64::from(is_refused), Ordering::Relaxed);
    }

    /// As Prometheus reads it: a histogram of seconds, and a counter of what was refused.
    fn write(&self, out: &mut String, name: &str, help: &str) -> fmt::Result {
        writeln!(out, "# HELP {name}_seconds {help}")?;
        writeln!(out, "# TYPE {name}_seconds histogram")?;
        let mut sum = 0;
        for (count, end) in self
            .counts
            .iter()
            .zip(ENDS.map(Some).into_iter().chain([None]))
        {
            sum += count.load(Ordering::Relaxed);
            let end = end.map_or("+Inf".to_owned(), |end| (end as f64 / 1e6).to_string());
            writeln!(out, "{name}_seconds_bucket{{le=\"{end}\"}} {sum}")?;
        }
        let seconds = self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        writeln!(out, "{name}_seconds_sum {seconds}")?;
        writeln!(out, "{name}_seconds_count {sum}")?;
        let refused = self.refused.load(Ordering::Relaxed);
        writeln!(
            out,
            "# HELP {name}_refused_total Those of them that raised an exception."
        )?;
        writeln!(out, "# TYPE {name}_refused_total counter")?;
        writeln!(out, "{name}_refused_total {refused}")
    }
}

/// What there is now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) contexts: usize,
    pub(crate) bindings: usize,
    pub(crate) store_bytes: Option<u64>,
    pub(crate) is_ready: bool,
}

impl Metrics {
    /// All of it in Prometheus' text format, version 0.0.4.
    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut out, gauges);
        out
    }

    fn write(&self, out: &mut String, gauges: Gauges) -> fmt::Result {
        for (timed, name, help) in [
            (&self.resolves, "punctual_naming_resolve", "Names resolved."),
            (
                &self.lists,
                "punctual_naming_list",
                "Portions of contexts listed.",
            ),
            (
                &self.changes,
                "punctual_naming_change",
                "Names bound and unbound, contexts made and destroyed, until that is durable.",
            ),
            (
                &self.commits,
                "punctual_naming_commit",
                "Commits to the store; changes of many clients share one.",
            ),
        ] {
            timed.write(out, name, help)?;
        }
        let mut gauge = |name: &str, help: &str, value: u64| {
            writeln!(out, "# HELP punctual_naming_{name} {help}")?;
            writeln!(out, "# TYPE punctual_naming_{name} gauge")?;
            writeln!(out, "punctual_naming_{name} {value}")
        };
        gauge(
            "contexts",
            "Contexts, the root among them.",
            gauges.contexts as u64,
        )?;
        gauge(
            "bindings",
            "Bindings in all contexts.",
            gauges.bindings as u64,
        )?;
        let ready = u64::from(gauges.is_ready);
        gauge(
            "ready",
            "1 if names are resolved and changed, else 0.",
            ready,
        )?;
        match gauges.store_bytes {
            Some(bytes) => gauge("store_bytes", "Bytes of the store's file.", bytes),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_stands_in_the_interval_of_its_length_and_in_all_longer_ones() {
        let metrics = Metrics::default();
        metrics.resolves.add(Duration::from_micros(2), false);
        metrics.resolves.add(Duration::from_micros(10), true);
        metrics.resolves.add(Duration::from_secs(7), false);
        let gauges = Gauges {
            contexts: 3,
            bindings: 5,
            store_bytes: None,
            is_ready: true,
        };
        let text = metrics.text(gauges);
        for line in [
            "punctual_naming_resolve_seconds_bucket{le=\"0.000001\"} 0",
            "punctual_naming_resolve_seconds_bucket{le=\"0.000003\"} 1",
            "punctual_naming_resolve_seconds_bucket{le=\"0.00001\"} 2",
            "punctual_naming_resolve_seconds_bucket{le=\"1\"} 2",
            "punctual_naming_resolve_seconds_bucket{le=\"+Inf\"} 3",
            "punctual_naming_resolve_seconds_sum 7.000012",
            "punctual_naming_resolve_seconds_count 3",
            "punctual_naming_resolve_refused_total 1",
            "punctual_naming_bindings 5",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
        assert!(!text.contains("store_bytes"));
    }
}
