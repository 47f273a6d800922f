//! Metrics of a service: counts and durations of operations, in Prometheus' text format.
//!
//! Counting takes no lock and does not allocate.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Upper ends of the intervals that durations are counted in, in microseconds.
const ENDS: [u64; 12] = [
    1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000,
];

/// Counter of one kind of operation, with a histogram of its durations. Its counts are read one after the other, so
/// that they may differ by operations that end meanwhile.
#[derive(Debug, Default)]
pub struct Timed {
    /// Operations by duration: at most the end of the same place, and longer than the one before.
    counts: [AtomicU64; ENDS.len() + 1],
    nanoseconds: AtomicU64,
    refused: AtomicU64,
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
        let place = ENDS
            .iter()
            .position(|end| took <= Duration::from_micros(*end));
        // Relaxed: each is a count of its own, and orders no other access.
        if let Some(count) = self.counts.get(place.unwrap_or(ENDS.len())) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.refused
            .fetch_add(u64::from(is_refused), Ordering::Relaxed);
    }

    /// Writes a histogram of seconds, and a counter of refused operations.
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

/// Metrics of one service as they are written, in Prometheus' text format, version 0.0.4.
#[derive(Debug)]
pub struct Exposition {
    prefix: String,
    text: String,
}

impl Exposition {
    /// Creates an empty text; the names of all metrics begin with `punctual_SERVICE_`.
    #[must_use]
    pub fn of(service: &str) -> Self {
        Self {
            prefix: format!("punctual_{service}_"),
            text: String::new(),
        }
    }

    /// Writes the histogram and the refusals of one kind of operation.
    pub fn timed(&mut self, name: &str, help: &str, timed: &Timed) {
        let name = format!("{}{name}", self.prefix);
        // Writing to a string does not fail.
        let _ = timed.write(&mut self.text, &name, help);
    }

    /// Writes a value as it is now.
    pub fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.value("gauge", name, help, value);
    }

    /// Writes a count that only grows.
    pub fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.value("counter", name, help, value);
    }

    fn value(&mut self, kind: &str, name: &str, help: &str, value: u64) {
        let prefix = &self.prefix;
        let text = format!(
            "# HELP {prefix}{name} {help}\n# TYPE {prefix}{name} {kind}\n{prefix}{name} {value}\n"
        );
        self.text.push_str(&text);
    }

    /// Returns the text.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
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
