//! Metrics of calls in Prometheus' text format.

use super::measured;
use super::operations::Operation;
use crate::exposition::{Exposition, Kind};
use punctual_orb::measurement::Measured;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One end of the ORB's calls (client or server), with the operations counted there.
pub(super) type End = (&'static str, Vec<(Box<str>, Arc<Operation>)>);

pub(super) fn render(ends: &[End], measured: Option<&Measured>) -> String {
    let mut out = Exposition::default();
    let each = || {
        let ends = ends.iter();
        ends.flat_map(|(end, all)| all.iter().map(move |(name, one)| (*end, &**name, &**one)))
    };
    let calls = "punctual_calls_total";
    out.family(calls, Kind::Counter, "Calls that have ended.");
    for (end, name, one) in each() {
        let labels = [("end", end), ("operation", name)];
        out.sample(calls, &labels, get(&one.calls));
    }
    let errors = "punctual_call_errors_total";
    let help = "Calls that have ended with an exception.";
    out.family(errors, Kind::Counter, help);
    for (end, name, one) in each() {
        for (kind, count) in [
            ("user", &one.user_exceptions),
            ("system", &one.system_exceptions),
        ] {
            let labels = [("end", end), ("operation", name), ("kind", kind)];
            out.sample(errors, &labels, get(count));
        }
    }
    let times = "punctual_call_duration_seconds";
    let help = "Durations of calls whose callers waited for the end.";
    out.family(times, Kind::Histogram, help);
    for (end, name, one) in each() {
        let labels = [("end", end), ("operation", name)];
        out.histogram(times, &labels, &one.times);
    }
    if let Some(measured) = measured {
        measured::render(&mut out, measured);
    }
    out.into_text()
}

fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::super::operations::Ended;
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_counted_is_written_as_prometheus_reads_it() {
        let one = Arc::new(Operation::default());
        one.count(Ended::Well, Some(Duration::from_micros(80)));
        one.count(Ended::UserException, None);
        let text = render(&[("client", vec![("a\"b\\c\nd".into(), one)])], None);
        let labels = r#"end="client",operation="a\"b\\c\nd""#;
        for line in [
            "# TYPE punctual_call_duration_seconds histogram".to_owned(),
            format!("punctual_calls_total{{{labels}}} 2"),
            format!("punctual_call_errors_total{{{labels},kind=\"user\"}} 1"),
            format!("punctual_call_errors_total{{{labels},kind=\"system\"}} 0"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"0.00005\"}} 0"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"0.0001\"}} 1"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"10\"}} 1"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 1"),
            format!("punctual_call_duration_seconds_sum{{{labels}}} 0.00008"),
            format!("punctual_call_duration_seconds_count{{{labels}}} 1"),
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }
}
