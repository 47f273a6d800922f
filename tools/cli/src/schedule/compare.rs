//! `punctual schedule compare`.

use super::measured_file::read_measured;
use super::source::{Source, print_json};
use super::text::rounded;
use anstyle::{AnsiColor, Style};
use punctual_scheduling::Time;
use punctual_scheduling::measured::{Compared, Finding, compare};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Options of `punctual schedule compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// Measured times, as `-ORBRecord` wrote them.
    #[arg(value_name = "MEASURED")]
    measured: PathBuf,
}

/// Comparison in JSON.
#[derive(Serialize)]
struct Compares<'c> {
    as_planned: bool,
    not_recorded: u64,
    operations: &'c [Compared],
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.text()?)?;
    let plan = source.plan(&model)?;
    let measured = read_measured(&options.measured)?;
    let all = compare(&model, &plan, &measured);
    let mut findings = all.iter().flat_map(|one| &one.findings);
    let as_planned = measured.not_recorded == 0 && !findings.any(|finding| finding.is_worse());
    match source.json {
        true => print_json(&Compares {
            as_planned,
            not_recorded: measured.not_recorded,
            operations: &all,
        })?,
        false => print(&all, measured.not_recorded, as_planned),
    }
    Ok(match as_planned {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn print(all: &[Compared], not_recorded: u64, as_planned: bool) {
    let width = all.iter().map(|one| one.operation.len()).max();
    let width = width.unwrap_or(0).max("operation".len());
    anstream::println!(
        "{BOLD}{:<width$} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}{BOLD:#}",
        "operation",
        "jobs",
        "wcet",
        "measured",
        "p99",
        "distance",
        "measured",
        "response",
        "deadline",
        "measured"
    );
    for one in all {
        let is_worse = one.findings.iter().any(|finding| finding.is_worse());
        let style = if is_worse { BAD } else { GOOD };
        anstream::println!(
            "{:<width$} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {style}{}{style:#}",
            one.operation,
            one.jobs,
            shown(one.wcet),
            shown(one.execution),
            shown(one.execution_p99),
            shown(one.least_distance),
            shown(one.distance),
            shown(one.planned_response),
            shown(one.deadline),
            shown(one.response),
            verdict(&one.findings),
        );
    }
    anstream::println!();
    if not_recorded > 0 {
        anstream::println!("{not_recorded} jobs of further operations were not recorded");
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

fn shown(time: Option<Time>) -> String {
    time.map_or("-".to_owned(), rounded)
}

fn verdict(findings: &[Finding]) -> String {
    let words = findings.iter().map(|finding| match finding {
        Finding::Overrun => "overrun",
        Finding::EarlyRelease => "early release",
        Finding::LateResponse => "late response",
        Finding::MissedDeadline => "missed deadline",
        Finding::NotPlanned => "not planned",
        Finding::NeverRan => "never ran",
    });
    let words: Vec<_> = words.collect();
    match words.is_empty() {
        true => "as planned".to_owned(),
        false => words.join(", "),
    }
}
