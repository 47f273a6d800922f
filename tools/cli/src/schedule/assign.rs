//! `punctual schedule assign`.

use super::source::{Source, print_json, status};
use super::text;
use punctual_scheduling::plan::{LaneCost, PlannedStream};
use serde::Serialize;
use std::process::ExitCode;

/// Options of `punctual schedule assign`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// Number of lanes of each processor, of one priority each; by default as many as there are priorities.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32_768))]
    lanes: Option<u32>,
}

/// Assignment in JSON.
#[derive(Serialize)]
struct Assigned<'p> {
    strategy: &'p str,
    streams: &'p [PlannedStream],
    lanes: Option<Vec<LaneCost>>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.read()?)?;
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
