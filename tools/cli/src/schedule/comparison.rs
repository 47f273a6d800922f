//! Plans beside what ran, for people.

use super::text::rounded;
use crate::shown::peer;
use anstyle::{AnsiColor, Style};
use punctual_scheduling::Time;
use punctual_scheduling::measured::{Compared, Finding};

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Prints operations beside their measured times.
pub(super) fn print_measured(all: &[Compared]) {
    let heads = [
        "jobs", "wcet", "measured", "p99", "distance", "measured", "response", "deadline",
        "measured",
    ];
    print_table(all, heads, |one| {
        [
            one.jobs.to_string(),
            shown(one.wcet),
            shown(one.execution),
            shown(one.execution_p99),
            shown(one.least_distance),
            shown(one.distance),
            shown(one.planned_response),
            shown(one.deadline),
            shown(one.response),
        ]
    });
}

/// Prints operations beside a time line, which has no execution times, but each job.
pub(super) fn print_timeline(all: &[Compared]) {
    let heads = [
        "jobs", "distance", "measured", "wait", "response", "deadline", "measured", "missed",
    ];
    print_table(all, heads, |one| {
        [
            one.jobs.to_string(),
            shown(one.least_distance),
            shown(one.distance),
            shown(one.wait),
            shown(one.planned_response),
            shown(one.deadline),
            shown(one.response),
            missed(one),
        ]
    });
    anstream::println!();
    anstream::println!(
        "response times and distances count from reading the requests; a time line has no execution times"
    );
}

/// Returns the number of missed deadlines; `?` if more deadlines may have been missed than were measured.
fn missed(one: &Compared) -> String {
    match one.missed_deadlines {
        None => "-".to_owned(),
        Some(_) if one.findings.contains(&Finding::DeadlineNotJudged) => "?".to_owned(),
        Some(missed) => missed.to_string(),
    }
}

/// Prints the verdict on all operations.
pub(super) fn print_verdict(all: &[Compared], as_planned: bool) {
    let is_not_judged = |one: &Compared| one.findings.contains(&Finding::DeadlineNotJudged);
    if all.iter().any(is_not_judged) {
        anstream::println!(
            "deadlines count from the release of a chain's source, measured times from the request: what is not judged took\n\
             longer than its deadline leaves after its latest release, and may be late"
        );
    }
    if !has_run(all) {
        anstream::println!(
            "{BAD}nothing to compare{BAD:#}: no operation of the plan ran; operations are named as in IDL, Module::Interface::operation"
        );
        return;
    }
    match as_planned {
        true => anstream::println!(
            "{GOOD}as planned{GOOD:#}: no operation needed more than its plan says"
        ),
        false => anstream::println!(
            "{BAD}not as planned{BAD:#}: measure again (`record`), and check the new model"
        ),
    }
}

/// Returns whether an operation of the plan ran.
pub(super) fn has_run(all: &[Compared]) -> bool {
    all.iter()
        .any(|one| one.jobs > 0 && !one.findings.contains(&Finding::NotPlanned))
}

fn print_table<const COLUMNS: usize>(
    all: &[Compared],
    heads: [&str; COLUMNS],
    cells: impl Fn(&Compared) -> [String; COLUMNS],
) {
    // The names are those of the file of what ran, too.
    let names: Vec<_> = all.iter().map(|one| peer(&one.operation)).collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max("operation".len());
    let heads = heads.map(ToOwned::to_owned);
    anstream::println!("{BOLD}{:<width$}{}{BOLD:#}", "operation", row(&heads));
    for (one, name) in all.iter().zip(&names) {
        let is_worse = one.findings.iter().any(|finding| finding.is_worse());
        let style = if is_worse { BAD } else { GOOD };
        anstream::println!(
            "{name:<width$}{}  {style}{}{style:#}",
            row(&cells(one)),
            verdict(&one.findings),
        );
    }
}

/// Returns the cells of a row: the number of jobs is narrower than times.
fn row(cells: &[String]) -> String {
    let widths = std::iter::once(7).chain(std::iter::repeat(9));
    let cells = cells.iter().zip(widths);
    cells
        .map(|(cell, width)| format!(" {cell:>width$}"))
        .collect()
}

fn shown(time: Option<Time>) -> String {
    time.map_or("-".to_owned(), rounded)
}

fn verdict(findings: &[Finding]) -> String {
    let words = findings.iter().map(|finding| match finding {
        Finding::Overrun => "overrun",
        Finding::EarlyRelease => "early release",
        Finding::LateResponse => "late response",
        Finding::MissedDeadline => "missed deadline",
        Finding::DeadlineNotJudged => "deadline not judged",
        Finding::NotPlanned => "not planned",
        Finding::NeverRan => "never ran",
    });
    let words: Vec<_> = words.collect();
    match words.is_empty() {
        true => "as planned".to_owned(),
        false => words.join(", "),
    }
}
