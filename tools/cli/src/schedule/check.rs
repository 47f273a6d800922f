//! `punctual schedule check`.

use super::source::{Source, print_json, status};
use super::text;
use punctual_scheduling::plan::{Mends, Move, PlannedProcessor, PlannedStream};
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
    moves: Vec<Move>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.read()?)?;
    let plan = source.plan(&model)?;
    let moves = plan.moves(&model, source.chosen(&model)?);
    match source.json {
        true => print_json(&Checked {
            strategy: &plan.strategy,
            fits: plan.fits(),
            processors: &plan.processors,
            streams: &plan.streams,
            mends: plan.mends(),
            moves,
        })?,
        false => text::print(&plan, &moves),
    }
    Ok(status(&plan))
}
