//! `punctual schedule rehearse`.

use super::source::{Source, print_json};
use super::values::{above_zero, svg};
use crate::{fail, idl};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use punctual::ListenEndpoint;
use punctual::rt::{NativePolicy, RtConfig, RtOrb};
use punctual_scheduling::Time;
use punctual_scheduling_runtime::rehearsal::{RehearsalOptions, Rehearsed, draw, rehearse};
use punctual_scheduling_runtime::{Doubt, Schedule, ScheduleError, ScheduleOptions, Unproved};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `punctual schedule rehearse`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// Rehearse the part of this host, where the model has several: calls to others are not made, and what others
    /// call is released by a clock.
    #[arg(
        long,
        value_name = "HOST",
        default_value = "",
        hide_default_value = true
    )]
    host: String,
    /// Length of the rehearsal, e.g. 10m is 600s.
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = above_zero)]
    time: Time,
    /// Percentage of its `wcet` that each job uses; the rest is for the ORB and the operating system.
    #[arg(long, value_name = "PERCENT", default_value_t = 90, value_parser = clap::value_parser!(u8).range(1..=100))]
    load: u8,
    /// Number of lanes of each processor, of one priority each; by default as many as there are priorities.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32_768))]
    lanes: Option<u32>,
    /// Endpoint of the objects that stand for operations called one-way.
    #[arg(long, value_name = "ENDPOINT", default_value = "uiop://")]
    listen: ListenEndpoint,
    /// Draw the distribution of the measured response times, beside the computed ones, as an SVG.
    #[arg(long, value_name = "FILE", value_parser = svg)]
    draw: Option<PathBuf>,
    /// Run without real-time priorities: to try a model, not to learn response times.
    #[arg(long)]
    without_priorities: bool,
}

/// Rehearsal in JSON.
#[derive(Serialize)]
struct Rehearsal {
    is_as_planned: bool,
    operations: Vec<Rehearsed>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.read()?)?;
    let scheduled = ScheduleOptions {
        strategy: source.strategy.map(str::to_owned),
        lanes: options.lanes,
        unproved: Unproved::Admit,
    };
    let failed = |error: &dyn std::fmt::Display| {
        fail(
            error,
            Some("`punctual doctor` says what this machine grants"),
        )
    };
    let schedule =
        Schedule::new(model, &options.host, &scheduled).map_err(|error| match &error {
            ScheduleError::Host { known, .. } => {
                let first = known.first().map_or("NAME", |name| name);
                let help = format!("say which of them to rehearse, for example `--host {first}`");
                fail(&error, Some(&help))
            }
            ScheduleError::Faults(faults) => {
                idl::show(faults, source.json);
                ExitCode::FAILURE
            }
            _ => failed(&error),
        })?;
    for doubt in schedule.doubts() {
        if let Doubt::NotExecuted { .. } = doubt {
            anstream::eprintln!("{WARNING}warning{WARNING:#}: {doubt}");
        }
    }
    let config = match options.without_priorities {
        true => RtConfig {
            policy: NativePolicy::Other,
            ..schedule.rt_config()
        },
        // A job that waited for a page would be late.
        false => RtConfig {
            lock_memory: true,
            ..schedule.rt_config()
        },
    };
    let rt = RtOrb::new(config).map_err(|error| failed(&error))?;
    let progress = bar(options);
    let rehearsal = RehearsalOptions {
        time: options.time.into(),
        load: options.load,
        endpoint: options.listen.clone(),
    };
    let measured = rehearse(&rt, &schedule, &rehearsal, |passed, jobs, missed| {
        progress.set_position(passed.as_secs());
        progress.set_message(format!("{jobs} jobs, {missed} deadlines missed"));
        ControlFlow::Continue(())
    });
    progress.finish_and_clear();
    let operations = measured.map_err(|error| failed(&error))?;
    if let Some(file) = &options.draw {
        let note = format!(
            "{} for {}, jobs of {} % of their wcet{}",
            source.name(),
            options.time,
            options.load,
            match options.without_priorities {
                true => ", without real-time priorities",
                false => "",
            }
        );
        let picture = draw("Rehearsal: response times", &note, &operations);
        std::fs::write(file, picture)
            .map_err(|error| fail(format!("{}: {error}", file.display()), None))?;
    }
    let is_as_planned = operations.iter().all(Rehearsed::is_as_planned);
    match source.json {
        true => print_json(&Rehearsal {
            is_as_planned,
            operations,
        })?,
        false => print(&operations),
    }
    Ok(match is_as_planned {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn bar(options: &Options) -> ProgressBar {
    if options.source.json {
        return ProgressBar::hidden();
    }
    let seconds = options.time.as_nanos() / 1_000_000_000;
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} s  {msg}");
    ProgressBar::new(seconds).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

const BOLD: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

fn print(operations: &[Rehearsed]) {
    anstream::println!(
        "{BOLD}{:<24} {:>8} {:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}{BOLD:#}",
        "operation",
        "jobs",
        "missed",
        "charged",
        "wcet",
        "over wcet",
        "mean",
        "longest",
        "computed",
        "deadline"
    );
    for one in operations {
        let computed = one.response.map_or("-".to_owned(), shown);
        let style = if one.is_as_planned() {
            Style::new()
        } else {
            BAD
        };
        anstream::println!(
            "{style}{:<24} {:>8} {:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {computed:>10} {:>10}{style:#}",
            one.operation,
            one.jobs,
            one.missed,
            shown(one.longest_execution),
            shown(one.wcet),
            one.overcharged,
            shown(one.mean_response),
            shown(one.longest_response),
            shown(one.deadline),
        );
    }
    if operations.iter().any(|one| one.overcharged > 0) {
        anstream::println!(
            "\njobs over wcet were charged more processor time than planned, with what the platform took meanwhile:\n\
             `punctual schedule noise` measures that, for the key `interference` of the host"
        );
    }
}

/// Returns a time in microseconds, for people.
fn shown(time: Time) -> String {
    format!("{}us", time.as_nanos().div_ceil(1_000))
}
