//! Prometheus' text format (exposition format 0.0.4).

use super::histogram::BOUNDS;
use super::operations::Operation;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One end of the ORB's calls, and its operations by their names.
pub(super) type End = (&'static str, Vec<(Box<str>, Arc<Operation>)>);

pub(super) fn render(ends: &[End]) -> String {
    let mut text = String::new();
    // Writing to a string never fails.
    let _ = write_all(&mut text, ends);
    text
}

fn write_all(out: &mut String, ends: &[End]) -> fmt::Result {
    let each = || {
        let ends = ends.iter();
        ends.flat_map(|(end, all)| all.iter().map(move |(name, one)| (*end, &**name, &**one)))
    };
    head(
        out,
        "punctual_calls_total",
        "counter",
        "Calls that have ended.",
    )?;
    for (end, name, one) in each() {
        let name = Label(name);
        let calls = get(&one.calls);
        writeln!(
            out,
            "punctual_calls_total{{end=\"{end}\",operation=\"{name}\"}} {calls}"
        )?;
    }
    let errors = "punctual_call_errors_total";
    head(
        out,
        errors,
        "counter",
        "Calls that have ended with an exception.",
    )?;
    for (end, name, one) in each() {
        let name = Label(name);
        for (kind, count) in [
            ("user", &one.user_exceptions),
            ("system", &one.system_exceptions),
        ] {
            let count = get(count);
            writeln!(
                out,
                "{errors}{{end=\"{end}\",operation=\"{name}\",kind=\"{kind}\"}} {count}"
            )?;
        }
    }
    let times = "punctual_call_duration_seconds";
    head(
        out,
        times,
        "histogram",
        "How long calls took, those aside whose callers went on.",
    )?;
    for (end, name, one) in each() {
        write_histogram(out, (times, end, Label(name)), one)?;
    }
    Ok(())
}

fn write_histogram(
    out: &mut String,
    (times, end, name): (&str, &str, Label<'_>),
    one: &Operation,
) -> fmt::Result {
    let cumulated = one.times.cumulated();
    let bounds = BOUNDS.iter().map(|bound| Some(*bound)).chain([None]);
    for (bound, count) in bounds.zip(&cumulated) {
        write!(
            out,
            "{times}_bucket{{end=\"{end}\",operation=\"{name}\",le=\""
        )?;
        match bound {
            Some(micros) => write!(out, "{}", micros as f64 / 1e6)?,
            None => out.write_str("+Inf")?,
        }
        writeln!(out, "\"}} {count}")?;
    }
    let sum = one.times.sum().as_secs_f64();
    writeln!(
        out,
        "{times}_sum{{end=\"{end}\",operation=\"{name}\"}} {sum}"
    )?;
    let count = cumulated.last().copied().unwrap_or_default();
    writeln!(
        out,
        "{times}_count{{end=\"{end}\",operation=\"{name}\"}} {count}"
    )
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(out, "# HELP {name} {help}")?;
    writeln!(out, "# TYPE {name} {kind}")
}

fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

/// Value of a label, with special characters escaped.
#[derive(Clone, Copy)]
struct Label<'l>(&'l str);

impl fmt::Display for Label<'_> {
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
    use super::super::operations::Ended;
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_counted_is_written_as_prometheus_reads_it() {
        let one = Arc::new(Operation::default());
        one.count(Ended::Well, Some(Duration::from_micros(80)));
        one.count(Ended::UserException, None);
        let text = render(&[("client", vec![("a\"b\\c\nd".into(), one)])]);
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
