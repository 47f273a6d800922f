//! `punctual schedule draw`.

use super::source::{Source, print_json};
use super::values::{above_zero, picture};
use crate::fail;
use punctual_scheduling::Time;
use punctual_scheduling::draw::{Options as Drawing, html, svg};
use punctual_scheduling::model::Model;
use punctual_scheduling::plan::Plan;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options of `punctual schedule draw`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// The picture: an SVG, or a page with zoom and pan, by the ending .svg or .html; an SVG without ending.
    #[arg(long, short, value_name = "FILE", value_parser = picture)]
    output: PathBuf,
    /// Draw these operations only.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Time to draw, from the first release on, e.g. 100ms; by default until the pattern repeats, at most three
    /// of the longest period.
    #[arg(long, value_name = "TIME", value_parser = above_zero)]
    until: Option<Time>,
}

/// Result in JSON.
#[derive(Serialize)]
struct Drawn<'o> {
    file: &'o PathBuf,
    fits: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.read()?)?;
    if let Some(name) = options
        .only
        .iter()
        .find(|name| model.operation(name).is_none())
    {
        let message = format!("{} has no operation `{name}`", source.name());
        return Err(fail(
            message,
            Some("`punctual schedule check` lists the operations"),
        ));
    }
    let plan = source.plan(&model)?;
    let drawing = Drawing {
        operations: options.only.clone(),
        window: options.until,
        ran: None,
    };
    write_picture(&options.output, &model, &plan, &drawing)?;
    match source.json {
        true => print_json(&Drawn {
            file: &options.output,
            fits: plan.fits(),
        })?,
        false => anstream::println!("{} is drawn", options.output.display()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws a plan to a file: as a page if its name ends in .html, else as an SVG.
pub(crate) fn write_picture(
    file: &Path,
    model: &Model,
    plan: &Plan,
    drawing: &Drawing,
) -> Result<(), ExitCode> {
    let is_page = file
        .extension()
        .is_some_and(|extension| extension == "html");
    let drawn = match is_page {
        true => html(model, plan, drawing),
        false => svg(model, plan, drawing),
    };
    std::fs::write(file, drawn).map_err(|error| fail(format!("{}: {error}", file.display()), None))
}
