//! The command: options and outcome.

use super::flight::{FlightOptions, fly};
use super::plan::schedules;
use super::report::Report;
use crate::fail;
use crate::schedule::{picture, write_picture};
use crate::time::with_unit;
use indicatif::{ProgressBar, ProgressStyle};
use punctual_scheduling::draw::Options as Drawing;
use punctual_scheduling::measured::RecordedTimeline;
use punctual_scheduling_runtime::Schedule;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Options of `punctual demo avionics`.
#[derive(Debug, clap::Args)]
pub(in super::super) struct Options {
    /// Length of the run.
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = with_unit)]
    time: Duration,
    /// Percentage of its planned time that each job uses; the rest is for the channel and the operating system.
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u8).range(1..=100))]
    load: u8,
    /// Run without real-time priorities, to compare.
    #[arg(long)]
    best_effort: bool,
    /// Draw what ran below the plan: an SVG, or a page with zoom and pan, by the ending .svg or .html; an SVG without
    /// ending. The first 1,000 jobs of each operation are recorded.
    #[arg(long, value_name = "FILE", value_parser = picture)]
    draw: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Longest run: a day.
const LONGEST: Duration = Duration::from_secs(86_400);

pub(in super::super) fn run(options: &Options) -> ExitCode {
    match demonstrate(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failed) => failed,
    }
}

fn failed(problem: String) -> ExitCode {
    fail(
        problem,
        Some("`punctual doctor` says what this machine grants"),
    )
}

/// Returns whether all deadlines of high criticality were met; prints what has failed.
fn demonstrate(options: &Options) -> Result<bool, ExitCode> {
    let schedules = schedules().map_err(|error| failed(error.to_string()))?;
    let [first, ..] = &schedules[..] else {
        return Err(failed("the model has no boards".to_owned()));
    };
    if let Some(file) = &options.draw {
        // What is wrong with the file shows before the run.
        draw(first, None, file)?;
    }
    if !options.json {
        let streams = first.plan().streams.len();
        println!(
            "proved by {}: {streams} operations on {} boards meet their deadlines\n",
            first.plan().strategy,
            schedules.len()
        );
    }
    let time = options.time.min(LONGEST);
    let progress = bar(options, time);
    let flight = FlightOptions {
        time,
        load: options.load,
        best_effort: options.best_effort,
        records: options.draw.is_some(),
    };
    let flown = fly(first.model(), flight, |passed| {
        progress.set_position(passed.as_secs().min(time.as_secs()));
    });
    progress.finish_and_clear();
    let flown = flown.map_err(failed)?;
    if let Some(file) = &options.draw {
        draw(first, Some(flown.timeline.clone()), file)?;
    }
    let report = Report::new(&schedules, &flown);
    match options.json {
        true => {
            let json = serde_json::to_string_pretty(&report);
            println!("{}", json.map_err(|error| failed(error.to_string()))?);
        }
        false => report.print(),
    }
    Ok(report.is_as_required)
}

fn draw(
    schedule: &Arc<Schedule>,
    ran: Option<RecordedTimeline>,
    file: &Path,
) -> Result<(), ExitCode> {
    let drawing = Drawing {
        ran,
        ..Drawing::default()
    };
    write_picture(file, schedule.model(), schedule.plan(), &drawing)
}

fn bar(options: &Options, time: Duration) -> ProgressBar {
    if options.json {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} s");
    ProgressBar::new(time.as_secs())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
