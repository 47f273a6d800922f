//! Measured times of upcalls ([`punctual_orb::measurement`]) in Prometheus' text format.

use crate::exposition::{Exposition, Kind};
use punctual_orb::measurement::{Measured, MeasuredOperation};

/// Writes the families of measured upcalls. The label `operation` is the scoped name in IDL, the
/// label `interface` the repository id.
pub(super) fn render(out: &mut Exposition, measured: &Measured) {
    let all = &measured.operations;
    let jobs = "punctual_upcalls_measured_total";
    out.family(jobs, Kind::Counter, "Upcalls that were measured.");
    for one in all {
        out.sample(jobs, &labels(one), one.jobs());
    }
    let times = "punctual_upcall_seconds";
    let help = "Measured times: execution, response, distance of upcalls.";
    out.family(times, Kind::Gauge, help);
    for one in all {
        for (kind, of) in [
            ("execution", &one.execution),
            ("response", &one.response),
            ("distance", &one.distance),
        ] {
            for (statistic, time) in [
                ("min", of.shortest),
                ("p50", of.quantile(0.5)),
                ("p99", of.quantile(0.99)),
                ("max", of.longest),
            ] {
                let [operation, interface] = labels(one);
                let labels = [
                    operation,
                    interface,
                    ("time", kind),
                    ("statistic", statistic),
                ];
                out.sample(times, &labels, time.as_secs_f64());
            }
        }
    }
    render_violations(out, measured);
}

fn render_violations(out: &mut Exposition, measured: &Measured) {
    let violations = "punctual_plan_violations_total";
    let help = "Upcalls that did not keep to the plan.";
    out.family(violations, Kind::Counter, help);
    for one in &measured.operations {
        let unknown = if one.is_planned { 0 } else { one.jobs() };
        for (kind, count) in [
            ("overrun", one.overruns),
            ("early release", one.early_releases),
            ("missed deadline", one.missed_deadlines),
            ("unknown operation", unknown),
        ] {
            let [operation, interface] = labels(one);
            out.sample(violations, &[operation, interface, ("kind", kind)], count);
        }
    }
    let lost = "punctual_upcalls_not_recorded_total";
    let help = "Upcalls of operations for which a recording had no room.";
    out.family(lost, Kind::Counter, help);
    out.sample(lost, &[], measured.not_recorded);
}

fn labels(one: &MeasuredOperation) -> [(&'static str, &str); 2] {
    [("operation", &one.name), ("interface", &one.interface)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_orb::measurement::Distribution;
    use std::time::Duration;

    fn operation() -> MeasuredOperation {
        let mut execution = Distribution::default();
        execution.count = 3;
        execution.shortest = Duration::from_micros(80);
        execution.longest = Duration::from_millis(2);
        MeasuredOperation {
            name: "Plant::Radar::read".to_owned(),
            interface: "IDL:Plant/Radar:1.0".to_owned(),
            operation: "read".to_owned(),
            execution,
            response: Distribution::default(),
            distance: Distribution::default(),
            arrivals: None,
            is_planned: true,
            overruns: 2,
            early_releases: 0,
            missed_deadlines: 1,
        }
    }

    #[test]
    fn measured_upcalls_are_written_as_prometheus_reads_them() {
        let mut unknown = operation();
        unknown.name = "Plant::Radar::write".to_owned();
        unknown.is_planned = false;
        let measured = Measured {
            operations: vec![operation(), unknown],
            not_recorded: 5,
        };
        let mut out = Exposition::default();
        render(&mut out, &measured);
        let text = out.into_text();
        let of =
            |name| format!("operation=\"Plant::Radar::{name}\",interface=\"IDL:Plant/Radar:1.0\"");
        let (read, write) = (of("read"), of("write"));
        let violations = "punctual_plan_violations_total";
        for line in [
            "# TYPE punctual_upcalls_measured_total counter".to_owned(),
            format!("punctual_upcalls_measured_total{{{read}}} 3"),
            "# TYPE punctual_upcall_seconds gauge".to_owned(),
            format!(
                "punctual_upcall_seconds{{{read},time=\"execution\",statistic=\"min\"}} 0.00008"
            ),
            format!("punctual_upcall_seconds{{{read},time=\"execution\",statistic=\"max\"}} 0.002"),
            format!("punctual_upcall_seconds{{{read},time=\"response\",statistic=\"max\"}} 0"),
            format!("punctual_upcall_seconds{{{read},time=\"distance\",statistic=\"p99\"}} 0"),
            format!("{violations}{{{read},kind=\"overrun\"}} 2"),
            format!("{violations}{{{read},kind=\"early release\"}} 0"),
            format!("{violations}{{{read},kind=\"missed deadline\"}} 1"),
            format!("{violations}{{{read},kind=\"unknown operation\"}} 0"),
            format!("{violations}{{{write},kind=\"unknown operation\"}} 3"),
            "punctual_upcalls_not_recorded_total 5".to_owned(),
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }
}
