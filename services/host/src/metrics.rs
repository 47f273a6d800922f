//! Metrics of a service: counts and durations of operations, in Prometheus' text format.
//!
//! Counting takes no lock and does not allocate.

use punctual_observe::exposition::{self, Kind};
use punctual_observe::histogram::Histogram;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Upper bounds of the histogram's buckets for durations, in microseconds.
const ENDS: [u64; 12] = [
    1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000,
];

/// Counter of one kind of operation, with a histogram of its durations. Its counts are read one
/// after the other, so they may differ by operations that end meanwhile.
#[derive(Debug)]
pub struct Timed {
    times: Histogram<{ ENDS.len() }>,
    refused: AtomicU64,
}

impl Default for Timed {
    fn default() -> Self {
        Self {
            times: Histogram::new(&ENDS),
            refused: AtomicU64::new(0),
        }
    }
}

impl Timed {
    /// Performs an operation, and counts it. Two clock reads and three atomic additions.
    ///
    /// # Errors
    /// Those of the operation, which are counted as refused.
    pub fn count<R, E>(&self, work: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        let begin = Instant::now();
        let done = work();
        self.add(begin.elapsed(), done.is_err());
        done
    }

    #[inline]
    fn add(&self, took: Duration, is_refused: bool) {
        self.times.add(took);
        // Relaxed: a count of its own, which orders no other access.
        self.refused
            .fetch_add(u64::from(is_refused), Ordering::Relaxed);
    }
}

/// Text with the metrics of one service in Prometheus' text format, version 0.0.4.
#[derive(Debug)]
pub struct Exposition {
    prefix: String,
    out: exposition::Exposition,
}

fn prefix_of(service: &str) -> String {
    format!("punctual_{service}_")
}

impl Exposition {
    /// Creates an empty text; the names of all metrics begin with `punctual_SERVICE_`.
    #[must_use]
    pub fn of(service: &str) -> Self {
        Self {
            prefix: prefix_of(service),
            out: exposition::Exposition::default(),
        }
    }

    /// Has `write` write metrics of another service of the process, whose names begin with `punctual_SERVICE_`.
    pub fn within(&mut self, service: &str, write: impl FnOnce(&mut Self)) {
        let prefix = std::mem::replace(&mut self.prefix, prefix_of(service));
        write(self);
        self.prefix = prefix;
    }

    /// Writes the histogram and the refusals of one kind of operation.
    pub fn timed(&mut self, name: &str, help: &str, timed: &Timed) {
        let seconds = format!("{}{name}_seconds", self.prefix);
        self.out.family(&seconds, Kind::Histogram, help);
        self.out.histogram(&seconds, &[], &timed.times);
        let refused = timed.refused.load(Ordering::Relaxed);
        let help = "Those of them that raised an exception.";
        self.counter(&format!("{name}_refused_total"), help, refused);
    }

    /// Appends a gauge: a metric with a current value.
    pub fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.value(Kind::Gauge, name, help, value);
    }

    /// Appends a counter: a metric with a count that never decreases.
    pub fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.value(Kind::Counter, name, help, value);
    }

    fn value(&mut self, kind: Kind, name: &str, help: &str, value: u64) {
        let name = format!("{}{name}", self.prefix);
        self.out.family(&name, kind, help);
        self.out.sample(&name, &[], value);
    }

    /// Returns the metrics as text in Prometheus format.
    #[must_use]
    pub fn into_text(self) -> String {
        self.out.into_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_in_the_interval_of_its_length_and_in_all_longer_ones() {
        let resolves = Timed::default();
        resolves.add(Duration::from_micros(2), false);
        resolves.add(Duration::from_micros(10), true);
        resolves.add(Duration::from_secs(7), false);
        let mut out = Exposition::of("naming");
        out.timed("resolve", "Names resolved.", &resolves);
        out.gauge("bindings", "Bindings in all contexts.", 5);
        let text = out.into_text();
        for line in [
            "punctual_naming_resolve_seconds_bucket{le=\"0.000001\"} 0",
            "punctual_naming_resolve_seconds_bucket{le=\"0.000003\"} 1",
            "punctual_naming_resolve_seconds_bucket{le=\"0.00001\"} 2",
            "punctual_naming_resolve_seconds_bucket{le=\"1\"} 2",
            "punctual_naming_resolve_seconds_bucket{le=\"+Inf\"} 3",
            "punctual_naming_resolve_seconds_sum 7.000012",
            "punctual_naming_resolve_seconds_count 3",
            "punctual_naming_resolve_refused_total 1",
            "# TYPE punctual_naming_bindings gauge",
            "punctual_naming_bindings 5",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }
}
