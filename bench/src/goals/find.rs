//! Search for a line's figure in the evidence.

use super::figure::{Finding, Found, Need};
use super::{Evidence, REACTORS, made};
use crate::latency::Row;
use crate::process::Memory;
use crate::protocol::References;
use crate::throughput::{self, Kind, Pinning};

/// Thread counts of the lines on two-way calls by several threads.
pub(super) const SEVERAL: [u32; 3] = [2, 4, 8];

/// Returns the rows of one contender in some cases, or the reason why there are none.
fn rows<'e>(
    evidence: &'e Evidence,
    need: Need,
    contender: &str,
    cases: &[&str],
) -> Result<Vec<&'e Row>, String> {
    let report = evidence.latency(need)?;
    let is_wanted = |row: &&Row| row.contender == contender && cases.contains(&&*case_of(row));
    let rows: Vec<&Row> = report.rows.iter().filter(is_wanted).collect();
    if !rows.is_empty() {
        return Ok(rows);
    }
    Err(reason(
        report.skipped.iter().chain(&report.failed),
        contender,
    ))
}

fn case_of(row: &Row) -> String {
    match row.units {
        0 => row.operation.to_owned(),
        units => format!("{}:{units}", row.operation),
    }
}

/// Returns the reason why a contender has no figures.
fn reason<'r>(reasons: impl Iterator<Item = &'r String>, contender: &str) -> String {
    let its = format!("{contender}: ");
    let mut reasons = reasons.filter(|reason| reason.starts_with(&its));
    let reason = reasons.next().map(|reason| reason[its.len()..].to_owned());
    reason.unwrap_or_else(|| format!("{contender} was not measured"))
}

/// Returns the largest of the rows' figures; it is unknown as soon as one of the figures is.
fn worst(rows: &[&Row], figure: impl Fn(&Row) -> Option<f64>) -> Finding {
    let figures = rows.iter().filter_map(|row| Some((figure(row)?, *row)));
    let (value, row) = figures
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .ok_or("its floor was not measured")?;
    Ok(Found {
        value,
        note: case_of(row),
        noisy: rows.iter().any(|row| row.noisy),
    })
}

pub(super) fn p50(evidence: &Evidence, need: Need, contender: &str, cases: &[&str]) -> Finding {
    worst(&rows(evidence, need, contender, cases)?, |row| row.ratio)
}

pub(super) fn p99(evidence: &Evidence, need: Need, contender: &str, cases: &[&str]) -> Finding {
    worst(&rows(evidence, need, contender, cases)?, |row| {
        row.p99_ratio
    })
}

/// Returns the figure of one case, with its time and the floor's as a note.
pub(super) fn timed(evidence: &Evidence, need: Need, contender: &str, case: &str) -> Finding {
    let own = rows(evidence, need, contender, &[case])?;
    let mut found = worst(&own, |row| row.ratio)?;
    let time = |row: &Row| row.figures.median / 1000.0;
    if let Ok([floor, ..]) = rows(evidence, need, own[0].floor, &[case]).as_deref() {
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

/// Returns the largest count of the cases.
pub(super) fn cost(evidence: &Evidence, need: Need, cases: &[&str], side: Side) -> Finding {
    let report = evidence.counts(need)?;
    let mut found: Option<Found> = None;
    for cost in report
        .costs
        .iter()
        .filter(|cost| cases.contains(&&*cost.case))
    {
        let (value, which) = match side {
            Side::Client => (cost.client, "client"),
            Side::Server => (cost.server, "server"),
            Side::Worse if cost.client >= cost.server => (cost.client, "client"),
            Side::Worse => (cost.server, "server"),
        };
        if found.as_ref().is_none_or(|found| found.value < value) {
            found = Some(Found::of(value, format!("{which}, {}", cost.case)));
        }
    }
    found.ok_or_else(|| reason(report.skipped.iter(), "punctual"))
}

/// Rounds a count: events that happen once in a run are not part of a call.
pub(super) fn rounded(found: Found, parts: f64) -> Found {
    Found {
        value: (found.value * parts).round() / parts + 0.0,
        ..found
    }
}

fn throughput_row<'e>(
    evidence: &'e Evidence,
    kind: Kind,
    contender: &str,
) -> Result<&'e throughput::Row, String> {
    let report = made(evidence.throughput.as_ref())?;
    let is = |row: &&throughput::Row| row.kind == kind && row.contender == contender;
    report
        .rows
        .iter()
        .find(is)
        .ok_or_else(|| reason(report.skipped.iter().chain(&report.failed), contender))
}

/// Returns two-way throughput as a share of its goal: the better of the rate against 250,000 calls per
/// second, and of the ratio to the floor against 0.85.
pub(super) fn two_way(evidence: &Evidence) -> Finding {
    let row = throughput_row(
        evidence,
        Kind::two_way(8, References::Shared, Pinning::Unpinned),
        "punctual",
    )?;
    let ratio = row.ratio.ok_or("its floor was not measured")?;
    let value = (row.rate / 250_000.0).max(ratio / 0.85);
    let note = format!("{:.0} calls/s, {ratio:.2} × floor", row.rate);
    Ok(Found {
        noisy: !row.known,
        ..Found::of(value, note)
    })
}

pub(super) fn one_way(evidence: &Evidence, kind: Kind, contender: &str) -> Finding {
    let row = throughput_row(evidence, kind, contender)?;
    let ratio = row.ratio.ok_or("its floor was not measured")?;
    Ok(Found {
        noisy: !row.known,
        ..Found::of(ratio, format!("{:.0} calls/s", row.rate))
    })
}

/// Returns the rate of one-ways in proportion to omniORB's.
pub(super) fn one_way_beside_omniorb(evidence: &Evidence, placement: Pinning) -> Finding {
    beside_omniorb(evidence, Kind::one_way(placement))
}

/// Returns the rate of two-way calls by several threads in proportion to omniORB's, for the number
/// of threads with the worst result.
pub(super) fn threads_beside_omniorb(evidence: &Evidence, placement: Pinning) -> Finding {
    let mut each = Vec::new();
    for threads in SEVERAL {
        let kind = Kind::two_way(threads, References::Shared, placement);
        let found = beside_omniorb(evidence, kind)?;
        let note = format!("{threads} threads: {}", found.note);
        each.push(Found { note, ..found });
    }
    // The worst is unknown as soon as one of the figures is.
    let noisy = each.iter().any(|found| found.noisy);
    let worst = each
        .into_iter()
        .min_by(|one, other| one.value.total_cmp(&other.value));
    let worst = worst.ok_or("it was not measured")?;
    Ok(Found { noisy, ..worst })
}

fn beside_omniorb(evidence: &Evidence, kind: Kind) -> Finding {
    let ours = throughput_row(evidence, kind, "punctual")?;
    let theirs = throughput_row(evidence, kind, "omniorb")?;
    let value = ours.beside_omniorb.ok_or("they had no round together")?;
    let note = format!("{:.0} and {:.0} calls/s", ours.rate, theirs.rate);
    Ok(Found {
        noisy: !ours.beside_omniorb_known,
        ..Found::of(value, note)
    })
}

pub(super) fn rate(evidence: &Evidence, kind: Kind, contender: &str) -> Finding {
    let row = throughput_row(evidence, kind, contender)?;
    Ok(Found {
        noisy: row.noisy,
        ..Found::of(row.rate, "")
    })
}

#[allow(clippy::cast_precision_loss)]
pub(super) fn idle_server(evidence: &Evidence) -> Finding {
    let report = made(evidence.memory.as_ref())?;
    let idle = report.rows.iter().find(|row| row.connections == 0);
    let idle = idle.ok_or_else(|| reason(report.skipped.iter(), "punctual"))?;
    let mebibytes = |octets: u64| octets as f64 / f64::from(1 << 20);
    let Memory {
        resident,
        proportional,
        anonymous,
    } = idle.memory;
    let note = format!(
        "proportional {:.1}, its own {:.1}; the program is this command",
        mebibytes(proportional),
        mebibytes(anonymous)
    );
    Ok(Found::of(mebibytes(resident), note))
}

pub(super) fn idle_connection(evidence: &Evidence) -> Finding {
    let report = made(evidence.memory.as_ref())?;
    let on_reactor = |name: &str| name != "punctual" && REACTORS.contains(&name);
    let each = report.rows.iter().filter(|row| on_reactor(row.contender));
    let each = each.filter_map(|row| Some((row.connection_resident?, row)));
    let best = each.min_by(|(one, _), (other, _)| one.total_cmp(other));
    let (octets, row) = best.ok_or_else(|| reason(report.skipped.iter(), REACTORS[0]))?;
    let note = format!("{}, of {} connections", row.contender, row.connections);
    Ok(Found::of(octets / 1024.0, note))
}

pub(super) fn under_load(evidence: &Evidence, choose: fn((f64, f64)) -> f64) -> Finding {
    let report = made(evidence.load.as_ref())?;
    let ratios = report.ratios().ok_or("no call was answered")?;
    Ok(Found {
        noisy: report.is_noisy(),
        ..Found::of(choose(ratios), report.contender)
    })
}

#[allow(clippy::cast_precision_loss)]
pub(super) fn lost(evidence: &Evidence) -> Finding {
    let report = made(evidence.load.as_ref())?;
    let calls: u64 = report.phases.iter().map(|phase| phase.lost).sum();
    let note = match report.alive {
        true => report.contender.to_owned(),
        false => format!("{}, which does not answer any more", report.contender),
    };
    let dead = f64::from(u8::from(!report.alive));
    Ok(Found::of(
        calls as f64 + report.silent_lost as f64 + dead,
        note,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_without_the_name_that_asks_for_it() {
        let reasons = ["punctual-lf: no such option".to_owned()];
        assert_eq!(reason(reasons.iter(), "punctual-lf"), "no such option");
        assert_eq!(
            reason(reasons.iter(), "punctual"),
            "punctual was not measured"
        );
    }
}
