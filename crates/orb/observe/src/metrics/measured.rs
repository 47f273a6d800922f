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
