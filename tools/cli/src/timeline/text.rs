//! Joined time lines for people, and as JSON.

use super::join::{By, Edge, Joined};
use super::stages::{Stages, Times, by_operation};
use crate::fail;
use crate::shown::{self, peer};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::process::ExitCode;

const BOLD: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Prints files, offsets and stages.
pub(super) fn print(joined: &Joined) {
    for (number, file) in joined.files.iter().enumerate() {
        let process = &file.process;
        anstream::println!(
            "{BOLD}{}{BOLD:#}: {} of {}, process {}: {} requests sent, {} served",
            peer(&file.name),
            peer(&process.program),
            peer(&process.host),
            process.id,
            file.calls.len(),
            file.served.len()
        );
        if file.lost > 0 {
            anstream::println!("  {} records had no room, and are missing", file.lost);
        }
        if !joined.is_joined(number) {
            anstream::println!(
                "  {BAD}not joined{BAD:#}: it shares no request with the files before"
            );
        }
    }
    for edge in &joined.edges {
        print_edge(joined, edge);
    }
    let contradicted = joined.requests.iter().filter(|one| one.violation() > 0);
    let (count, worst) = contradicted.fold((0, 0), |(count, worst), one| {
        (count + 1, one.violation().max(worst))
    });
    if count > 0 {
        anstream::println!(
            "{BAD}contradicted by causality{BAD:#}: {count} of {} requests were read before they were sent, or answered before\n\
             they were served, by up to {} more than the uncertainty: do not trust these clocks",
            joined.requests.len(),
            time(worst)
        );
    }
    print_stages(&by_operation(joined));
}

fn print_edge(joined: &Joined, edge: &Edge) {
    let name = |number: usize| {
        let file = joined.files.get(number);
        file.map_or_else(String::new, |file| peer(&file.name))
    };
    let (first, second) = (name(edge.first), name(edge.second));
    let requests = format!(
        "{} requests of {} connections",
        edge.requests, edge.connections
    );
    if edge.is_cut {
        anstream::println!(
            "  {BAD}{first} and {second} were not compared in full{BAD:#}: they have too many addresses, ids or times alike"
        );
    }
    if edge.by == By::SameClock {
        anstream::println!("{second} has the clock of {first}; {requests}");
        return;
    }
    let by = match edge.by {
        By::TimeOfDay => "the time of day",
        _ => "requests",
    };
    let offset = edge.offset.at(middle(joined, edge.first));
    let relation = if offset < 0 { "behind" } else { "ahead of" };
    anstream::println!(
        "{second} is {} {relation} {first}, give or take {}, by {by}; {}; {requests}",
        time(offset.abs()),
        time(edge.offset.largest_uncertainty()),
        drift(edge),
    );
    if edge.offset.pieces() > 1 {
        anstream::println!(
            "  a clock has changed its rate: {} pieces, each with an offset and a drift of its own",
            edge.offset.pieces()
        );
    }
    if edge.is_ambiguous {
        anstream::println!(
            "  the requests fit into each other with other offsets as well; the one nearest to the time of day was taken"
        );
    }
    if let Some(other) = edge.other {
        let other_way = match edge.by {
            By::TimeOfDay => "the requests demand",
            _ => "the time of day, which a daemon keeps, says",
        };
        anstream::println!("  {BAD}contradiction{BAD:#}: {other_way} {}", time(other));
    }
}

/// Returns the drift with its uncertainty, if it is more than that.
fn drift(edge: &Edge) -> String {
    let (drift, uncertainty) = edge.offset.drift();
    match drift.abs() > uncertainty {
        true => format!(
            "drift {:+.2} ppm (+/-{:.2})",
            drift * 1e6,
            uncertainty * 1e6
        ),
        false => format!(
            "no drift above {:.1} ppm",
            (drift.abs() + uncertainty) * 1e6
        ),
    }
}

/// Returns the moment in the middle of a file.
fn middle(joined: &Joined, file: usize) -> i64 {
    let events = joined.files.get(file).map_or(&[][..], |file| &file.events);
    match events {
        [first, .., last] => first.at.midpoint(last.at),
        [only] => only.at,
        [] => 0,
    }
}

fn print_stages(all: &[Stages]) {
    if all.is_empty() {
        return;
    }
    let width = all.iter().map(|one| peer(&one.operation).chars().count());
    let width = width.max().unwrap_or(0).max("operation".len());
    let heads = ["request", "wait", "upcall", "reply", "whole"];
    let heads: String = heads.iter().map(|head| format!("{head:>20}")).collect();
    anstream::println!();
    anstream::println!(
        "{BOLD}{:<width$}{:>9}{heads}{BOLD:#}",
        "operation",
        "requests"
    );
    for one in all {
        let cell =
            |times: &Times| format!("{:>20}", format!("{} {}", time(times.p50), time(times.p99)));
        let cells: String = [one.request, one.wait, one.upcall, one.reply, one.whole]
            .iter()
            .map(cell)
            .collect();
        anstream::println!("{:<width$}{:>9}{cells}", peer(&one.operation), one.requests);
    }
    anstream::println!(
        "median and 99th percentile: request from sending to reading, wait until the upcall, reply until the caller has it"
    );
}

/// Returns a time with three or four digits.
fn time(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let (unit, divisor) = match size {
        0..1_000 => return format!("{nanos}ns"),
        1_000..1_000_000 => ("us", 1_000),
        1_000_000..1_000_000_000 => ("ms", 1_000_000),
        _ => ("s", 1_000_000_000),
    };
    let (whole, part) = (size / divisor, size % divisor);
    // Offsets of hosts have many digits, all of which may matter.
    if unit == "s" {
        return format!("{sign}{whole}.{:06}s", part / 1_000);
    }
    match whole {
        0..10 => format!("{sign}{whole}.{:02}{unit}", part * 100 / divisor),
        10..100 => format!("{sign}{whole}.{}{unit}", part * 10 / divisor),
        _ => format!("{sign}{whole}{unit}"),
    }
}

/// Result in JSON; times in nanoseconds.
#[derive(Serialize)]
struct Result<'j> {
    files: Vec<OfFile<'j>>,
    clocks: Vec<OfClock<'j>>,
    requests: usize,
    contradicted: usize,
    operations: Vec<Stages>,
}

#[derive(Serialize)]
struct OfFile<'j> {
    file: &'j str,
    host: &'j str,
    program: &'j str,
    process: u32,
    sent: usize,
    served: usize,
    lost_records: u64,
    joined: bool,
    uncertainty: i64,
}

#[derive(Serialize)]
struct OfClock<'j> {
    first: &'j str,
    second: &'j str,
    by: &'static str,
    offset: i64,
    uncertainty: i64,
    drift_ppm: f64,
    drift_uncertainty_ppm: f64,
    pieces: usize,
    ambiguous: bool,
    cut: bool,
    contradicting_offset: Option<i64>,
    requests: usize,
    connections: usize,
}

/// Prints the result as JSON.
pub(super) fn print_json(joined: &Joined) -> std::result::Result<(), ExitCode> {
    let name = |number: usize| joined.files.get(number).map_or("", |file| &*file.name);
    let files = joined.files.iter().enumerate();
    let result = Result {
        files: files
            .map(|(number, file)| OfFile {
                file: &file.name,
                host: &file.process.host,
                program: &file.process.program,
                process: file.process.id,
                sent: file.calls.len(),
                served: file.served.len(),
                lost_records: file.lost,
                joined: joined.is_joined(number),
                uncertainty: joined.uncertainty(number),
            })
            .collect(),
        clocks: joined
            .edges
            .iter()
            .map(|edge| OfClock {
                first: name(edge.first),
                second: name(edge.second),
                by: match edge.by {
                    By::SameClock => "same-clock",
                    By::Requests => "requests",
                    By::TimeOfDay => "time-of-day",
                },
                offset: edge.offset.at(middle(joined, edge.first)),
                uncertainty: edge.offset.largest_uncertainty(),
                drift_ppm: edge.offset.drift().0 * 1e6,
                drift_uncertainty_ppm: edge.offset.drift().1 * 1e6,
                pieces: edge.offset.pieces(),
                ambiguous: edge.is_ambiguous,
                cut: edge.is_cut,
                contradicting_offset: edge.other,
                requests: edge.requests,
                connections: edge.connections,
            })
            .collect(),
        requests: joined.requests.len(),
        contradicted: joined
            .requests
            .iter()
            .filter(|one| one.violation() > 0)
            .count(),
        operations: by_operation(joined),
    };
    match serde_json::to_string_pretty(&result) {
        Ok(json) => {
            anstream::println!("{}", shown::json(json));
            Ok(())
        }
        Err(error) => Err(fail(error, None)),
    }
}
