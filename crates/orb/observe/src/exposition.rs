//! Prometheus text format (exposition format 0.0.4), written by this module for the metrics of calls and
//! of services alike.

use crate::histogram::Histogram;
use std::fmt::{self, Display, Write};

/// Type of a family of metrics: counter, gauge or histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Metric that only counts up.
    Counter,
    /// Metric whose current value may rise and fall.
    Gauge,
    /// Numbers of durations up to each of several bounds.
    Histogram,
}

/// Name and value of a metric's label.
pub type Label<'l> = (&'l str, &'l str);

/// Metrics as text. Each family begins with [`Exposition::family`], and its samples follow.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
}

// Writing to a string never fails.
impl Exposition {
    /// Begins a family: its name, and one line of help.
    pub fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Writes one sample of a family of metrics.
    pub fn sample(&mut self, name: &str, labels: &[Label<'_>], value: impl Display) {
        let _ = writeln!(self.text, "{name}{} {value}", Labels(labels, None));
    }

    /// Writes a histogram of a family that is measured in seconds: its buckets, its sum and its
    /// count.
    pub fn histogram<const N: usize>(
        &mut self,
        name: &str,
        labels: &[Label<'_>],
        times: &Histogram<N>,
    ) {
        let mut all = 0;
        for (bound, count) in times.cumulated() {
            let end = match bound {
                Some(micros) => (micros as f64 / 1e6).to_string(),
                None => "+Inf".to_owned(),
            };
            let labels = Labels(labels, Some(&end));
            let _ = writeln!(self.text, "{name}_bucket{labels} {count}");
            all = count;
        }
        let labels = Labels(labels, None);
        let sum = times.sum().as_secs_f64();
        let _ = writeln!(
            self.text,
            "{name}_sum{labels} {sum}\n{name}_count{labels} {all}"
        );
    }

    /// Returns the metrics as text.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        })
    }
}

/// Labels in braces, followed by the upper bound of a bucket (`le`), if there is one; displays as
/// empty text without labels.
#[derive(Clone, Copy)]
struct Labels<'l>(&'l [Label<'l>], Option<&'l str>);

impl Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = '{';
        for (name, value) in self.0.iter().copied().chain(self.1.map(|end| ("le", end))) {
            write!(f, "{before}{name}=\"{}\"", Escaped(value))?;
            before = ',';
        }
        match before {
            ',' => f.write_char('}'),
            _ => Ok(()),
        }
    }
}

/// Label value that is displayed with its special characters escaped.
struct Escaped<'l>(&'l str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in self.0.chars() {
            match one {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn families_samples_and_histograms_are_written_as_prometheus_reads_them() {
        let times = Histogram::new(&[50, 100]);
        times.add(Duration::from_micros(80));
        let mut out = Exposition::default();
        out.family("calls_total", Kind::Counter, "Calls that have ended.");
        out.sample("calls_total", &[("operation", "a\"b\\c\nd")], 2);
        out.family("idle", Kind::Gauge, "Connections without a call.");
        out.sample("idle", &[], 7);
        out.family("call_seconds", Kind::Histogram, "Durations of calls.");
        out.histogram("call_seconds", &[("end", "client")], &times);
        let expected = r##"# HELP calls_total Calls that have ended.
# TYPE calls_total counter
calls_total{operation="a\"b\\c\nd"} 2
# HELP idle Connections without a call.
# TYPE idle gauge
idle 7
# HELP call_seconds Durations of calls.
# TYPE call_seconds histogram
call_seconds_bucket{end="client",le="0.00005"} 0
call_seconds_bucket{end="client",le="0.0001"} 1
call_seconds_bucket{end="client",le="+Inf"} 1
call_seconds_sum{end="client"} 0.00008
call_seconds_count{end="client"} 1
"##;
        assert_eq!(out.into_text(), expected);
    }
}
