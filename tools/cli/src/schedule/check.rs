//! `punctual schedule check`.

use super::source::{Source, print_json, status};
use super::text;
use punctual_scheduling::plan::{Mends, PlannedProcessor, PlannedStream};
use serde::Serialize;
use std::process::ExitCode;

/// Options of `punctual schedule check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
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
    let model = source.model(&source.read()?)?;
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
