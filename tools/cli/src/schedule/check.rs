//! `punctual schedule check` and `assign`.

use super::source::{Source, print_json};
use super::text;
use punctual_scheduling::plan::{LaneCost, Mends, Plan, PlannedProcessor, PlannedStream};
use serde::Serialize;
use std::process::ExitCode;

/// Options of `punctual schedule check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
}

/// Options of `punctual schedule assign`.
#[derive(Debug, clap::Args)]
pub(crate) struct AssignOptions {
    #[command(flatten)]
    source: Source,
    /// Number of lanes of each processor, of one priority each; by default as many as there are priorities.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32_768))]
    lanes: Option<u32>,
}

/// Verdict in JSON.
#[derive(Serialize)]
struct Checked<'p> {
    strategy: &'p str,
    fits: bool,
    processors: &'p [PlannedProcessor],
    streams: &'p [PlannedStream],
    mends: Vec<Mends>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.text()?)?;
    let plan = source.plan(&model)?;
    match source.json {
        true => print_json(&Checked {
            strategy: &plan.strategy,
            fits: plan.fits(),
            processors: &plan.processors,
            streams: &plan.streams,
            mends: plan.mends(),
        })?,
        false => text::print(&plan),
    }
    Ok(status(&plan))
}

/// Returns the exit status: 0 if all deadlines are met.
pub(super) fn status(plan: &Plan) -> ExitCode {
    match plan.fits() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Assignment in JSON.
#[derive(Serialize)]
struct Assigned<'p> {
    strategy: &'p str,
    streams: &'p [PlannedStream],
    lanes: Option<Vec<LaneCost>>,
}

pub(super) fn assign(options: &AssignOptions) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.text()?)?;
    let plan = source.plan(&model)?;
    let lanes = options.lanes.map(|lanes| plan.lanes(lanes));
    let breaks = lanes.iter().flatten().any(|cost| cost.breaks);
    match source.json {
        true => print_json(&Assigned {
            strategy: &plan.strategy,
            streams: &plan.streams,
            lanes,
        })?,
        false => text::print_assignment(&plan, lanes.as_deref()),
    }
    Ok(match breaks {
        true => ExitCode::FAILURE,
        false => status(&plan),
    })
}
