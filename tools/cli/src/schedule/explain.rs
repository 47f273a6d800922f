//! `punctual schedule explain`.

use super::source::{Source, print_json};
use super::text;
use crate::fail;
use punctual_scheduling::plan::{Explained, PlannedStream};
use serde::Serialize;
use std::process::ExitCode;

/// Options of `punctual schedule explain`.
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// The operation.
    #[arg(value_name = "OPERATION")]
    operation: String,
}

/// Explanation in JSON.
#[derive(Serialize)]
struct Explanation<'p> {
    stream: &'p PlannedStream,
    terms: Option<Explained>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.read()?)?;
    let name = &options.operation;
    if model.operation(name).is_none() {
        let message = format!("{} has no operation `{name}`", source.name());
        return Err(fail(
            message,
            Some("`punctual schedule check` lists the operations"),
        ));
    }
    let plan = source.plan(&model)?;
    let streams: Vec<usize> = plan.streams_of(name).collect();
    if streams.is_empty() {
        let message = format!(
            "`{name}` runs in the threads of its callers, and has no response time of its own"
        );
        return Err(fail(
            message,
            Some("explain one of its callers, which contains it"),
        ));
    }
    match source.json {
        true => {
            let explanations = streams.into_iter().map(|index| Explanation {
                stream: &plan.streams[index],
                terms: plan.explain(index),
            });
            print_json(&explanations.collect::<Vec<_>>())?;
        }
        false => {
            for index in streams {
                text::print_terms(&plan, index, plan.explain(index).as_ref());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
