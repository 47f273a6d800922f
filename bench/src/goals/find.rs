//! Search for a line's figure in the reports of the measurements.

use super::figure::{Finding, FoundFigure, Need};
use super::{Evidence, REACTORS};
use crate::experiment::{Report, Row};
use crate::placement::Placement;
use crate::protocol::References;
use crate::throughput::Kind;

/// Numbers of threads in the lines on two-way calls by several threads.
pub(super) const SEVERAL: [u32; 3] = [2, 4, 8];

/// Returns one contender's rows for the given cases, or the reason why there are none.
fn rows<'e>(
    evidence: &'e Evidence,
    need: Need,
    contender: &str,
    cases: &[&str],
) -> Result<Vec<&'e Row>, String> {
    let report = evidence.report(need)?;
    let is_wanted = |row: &&Row| {
        row.is("contender", contender) && cases.iter().any(|case| row.is("case", case))
    };
    let rows: Vec<&Row> = report.rows().iter().filter(is_wanted).collect();
    match rows.is_empty() {
        true => Err(reason(report, contender)),
        false => Ok(rows),
    }
}

/// Returns the reason why a contender has no figures.
fn reason(report: &Report, contender: &str) -> String {
    let its = format!("{contender}: ");
    let mut reasons = report.skipped.iter().chain(&report.failed);
    let reason = reasons.find_map(|reason| reason.strip_prefix(&its));
    reason.map_or_else(|| format!("{contender} was not measured"), str::to_owned)
}

/// Returns the largest of the rows' figures of this name; it counts as unknown if any of the
/// figures is.
fn worst(rows: &[&Row], figure: &str) -> Finding {
    let figures = rows
        .iter()
        .filter_map(|row| Some((row.number(figure)?, *row)));
    let (value, row) = figures
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .ok_or("its floor was not measured")?;
    Ok(FoundFigure {
        value,
        note: row.text("case"),
        noisy: rows.iter().any(|row| row.flag("noisy")),
    })
}

pub(super) fn p50(evidence: &Evidence, need: Need, contender: &str, cases: &[&str]) -> Finding {
    worst(&rows(evidence, need, contender, cases)?, "ratio")
}

pub(super) fn p99(evidence: &Evidence, need: Need, contender: &str, cases: &[&str]) -> Finding {
    worst(&rows(evidence, need, contender, cases)?, "p99_ratio")
}

/// Returns the figure of one case; the note has the measured time and the baseline's time.
pub(super) fn timed(evidence: &Evidence, need: Need, contender: &str, case: &str) -> Finding {
    let own = rows(evidence, need, contender, &[case])?;
    let mut found = worst(&own, "ratio")?;
    let time = |row: &Row| row.number("median").unwrap_or_default() / 1000.0;
    let floor = own[0].text("floor");
    if let Ok([floor, ..]) = rows(evidence, need, &floor, &[case]).as_deref() {
        found.note = format!("{:.2} µs, raw {:.2} µs", time(own[0]), time(floor));
    }
    Ok(found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
    Worse,
}

/// Returns the largest count of events per call among the given cases.
pub(super) fn cost(evidence: &Evidence, need: Need, cases: &[&str], side: Side) -> Finding {
    let report = evidence.report(need)?;
    let costs = report.frame("costs").iter();
    let costs = costs.filter(|cost| cases.iter().any(|case| cost.is("case", case)));
    let sides: &[&str] = match side {
        Side::Client => &["client"],
        Side::Server => &["server"],
        Side::Worse => &["client", "server"],
    };
    let counts = costs.flat_map(|cost| {
        let count = |side: &&str| {
            let note = format!("{side}, {}", cost.text("case"));
            Some(FoundFigure::of(cost.number(side)?, note))
        };
        sides.iter().filter_map(count)
    });
    let most = counts.reduce(|most, one| if one.value > most.value { one } else { most });
    most.ok_or_else(|| reason(report, "punctual"))
}

/// Rounds a count: events that happen once in a run are not part of a call.
pub(super) fn rounded(found: FoundFigure, parts: f64) -> FoundFigure {
    FoundFigure {
        value: (found.value * parts).round() / parts + 0.0,
        ..found
    }
}

fn throughput_row<'e>(
    evidence: &'e Evidence,
    kind: Kind,
    contender: &str,
) -> Result<&'e Row, String> {
    let report = evidence.report(Need::Throughput)?;
    let wanted = kind.on(Row::default()).with("contender", contender);
    let mut rows = report.rows().iter();
    rows.find(|row| row.has(&wanted))
        .ok_or_else(|| reason(report, contender))
}

/// Returns the throughput that a row states, in calls per second.
fn rate_of(row: &Row) -> f64 {
    row.number("rate").unwrap_or_default()
}

/// Returns two-way throughput as a fraction of its goal. The goal is reached by 250,000 calls per
/// second, or by 0.85 of the raw-socket baseline, so the better of the two fractions is returned.
pub(super) fn two_way(evidence: &Evidence) -> Finding {
    let kind = Kind::two_way(8, References::Shared, Placement::Unpinned);
    let row = throughput_row(evidence, kind, "punctual")?;
    let ratio = row.number("ratio").ok_or("its floor was not measured")?;
    let value = (rate_of(row) / 250_000.0).max(ratio / 0.85);
    let note = format!("{:.0} calls/s, {ratio:.2} × floor", rate_of(row));
    Ok(FoundFigure {
        noisy: !row.flag("known"),
        ..FoundFigure::of(value, note)
    })
}

pub(super) fn one_way(evidence: &Evidence, kind: Kind, contender: &str) -> Finding {
    let row = throughput_row(evidence, kind, contender)?;
    let ratio = row.number("ratio").ok_or("its floor was not measured")?;
    Ok(FoundFigure {
        noisy: !row.flag("known"),
        ..FoundFigure::of(ratio, format!("{:.0} calls/s", rate_of(row)))
    })
}

/// Returns the ratio of the rate of one-ways to omniORB's.
pub(super) fn one_way_beside_omniorb(evidence: &Evidence, placement: Placement) -> Finding {
    beside_omniorb(evidence, Kind::one_way(placement))
}

/// Returns the ratio of the rate of two-way calls by several threads to omniORB's, for the number
/// of threads with the worst ratio.
pub(super) fn threads_beside_omniorb(evidence: &Evidence, placement: Placement) -> Finding {
    let mut each = Vec::new();
    for threads in SEVERAL {
        let kind = Kind::two_way(threads, References::Shared, placement);
        let found = beside_omniorb(evidence, kind)?;
        let note = format!("{threads} threads: {}", found.note);
        each.push(FoundFigure { note, ..found });
    }
    // The worst is unknown as soon as one of the figures is.
    let noisy = each.iter().any(|found| found.noisy);
    let worst = each
        .into_iter()
        .min_by(|one, other| one.value.total_cmp(&other.value));
    let worst = worst.ok_or("it was not measured")?;
    Ok(FoundFigure { noisy, ..worst })
}

fn beside_omniorb(evidence: &Evidence, kind: Kind) -> Finding {
    let ours = throughput_row(evidence, kind, "punctual")?;
    let theirs = throughput_row(evidence, kind, "omniorb")?;
    let value = ours.number("beside_omniorb");
    let value = value.ok_or("they had no round together")?;
    let note = format!("{:.0} and {:.0} calls/s", rate_of(ours), rate_of(theirs));
    Ok(FoundFigure {
        noisy: !ours.flag("beside_omniorb_known"),
        ..FoundFigure::of(value, note)
    })
}

pub(super) fn rate(evidence: &Evidence, kind: Kind, contender: &str) -> Finding {
    let row = throughput_row(evidence, kind, contender)?;
    Ok(FoundFigure {
        noisy: row.flag("noisy"),
        ..FoundFigure::of(rate_of(row), "")
    })
}

pub(super) fn idle_server(evidence: &Evidence) -> Finding {
    let report = evidence.report(Need::Memory)?;
    let mut rows = report.rows().iter();
    let idle = rows.find(|row| row.number("connections") == Some(0.0));
    let idle = idle.ok_or_else(|| reason(report, "punctual"))?;
    let mebibytes = |name: &str| idle.number(name).unwrap_or_default() / f64::from(1 << 20);
    let note = format!(
        "proportional {:.1}, its own {:.1}; the program is this command",
        mebibytes("memory.proportional"),
        mebibytes("memory.anonymous")
    );
    Ok(FoundFigure::of(mebibytes("memory.resident"), note))
}

pub(super) fn idle_connection(evidence: &Evidence) -> Finding {
    let report = evidence.report(Need::Memory)?;
    let reactors = &REACTORS[..REACTORS.len() - 1];
    let on_reactor = |row: &&Row| reactors.iter().any(|name| row.is("contender", name));
    let each = report.rows().iter().filter(on_reactor);
    let each = each.filter_map(|row| Some((row.number("connection_resident")?, row)));
    let best = each.min_by(|(one, _), (other, _)| one.total_cmp(other));
    let (octets, row) = best.ok_or_else(|| reason(report, REACTORS[0]))?;
    let note = format!(
        "{}, of {} connections",
        row.text("contender"),
        row.text("connections")
    );
    Ok(FoundFigure::of(octets / 1024.0, note))
}

/// Returns a named figure from the measurement under load.
pub(super) fn under_load(evidence: &Evidence, figure: &str) -> Finding {
    let settings = &evidence.report(Need::Load)?.settings;
    let value = settings.number(figure).ok_or("no call was answered")?;
    let note = match settings.flag("alive") {
        true => settings.text("contender"),
        false => format!(
            "{}, which does not answer any more",
            settings.text("contender")
        ),
    };
    Ok(FoundFigure {
        noisy: settings.flag("restless") && figure != "lost",
        ..FoundFigure::of(value, note)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::EXPERIMENT;

    #[test]
    fn a_reason_is_told_without_the_name_that_asks_for_it() {
        let mut report = Report::new(&EXPERIMENT, Row::default());
        report.skip("punctual-lf: no such option");
        assert_eq!(reason(&report, "punctual-lf"), "no such option");
        assert_eq!(reason(&report, "punctual"), "punctual was not measured");
    }
}
