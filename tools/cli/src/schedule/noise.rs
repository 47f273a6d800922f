//! `punctual schedule noise`.

use super::source::print_json;
use super::text::rounded;
use super::values::above_zero;
use crate::fail;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use punctual_scheduling::Time;
use punctual_scheduling::measured::Margin;
use punctual_scheduling::model::Interference;
use punctual_scheduling_runtime::noise::{LONGEST_WINDOW, Noise, NoiseOptions, measure};
use serde::Serialize;
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Options of `punctual schedule noise`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Processor to watch, as the kernel counts them; by default the last one that this process may run on. Ordinary
    /// programs hardly run there meanwhile.
    #[arg(long, value_name = "N")]
    processor: Option<usize>,
    /// Length of the measurement; it ends after a whole second.
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = above_zero)]
    time: Time,
    /// Length of the window of the printed `interference`, at most 500ms.
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = above_zero)]
    window: Time,
    /// Added to the longest sum that was measured, in hundredths of it.
    #[arg(long, value_name = "PERCENT", default_value = "20%")]
    margin: Margin,
    /// Native priority of the measuring thread (SCHED_FIFO). All that runs above it counts: the lowest one gives a
    /// bound for threads of any real-time priority.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=99))]
    priority: i32,
    /// Shortest gap that counts, at least 1us.
    #[arg(long, value_name = "TIME", default_value = "1us")]
    threshold: Time,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Measurement in JSON.
#[derive(Serialize)]
struct Measured<'n> {
    #[serde(flatten)]
    noise: &'n Noise,
    /// Value of the key `interference` of a host.
    interference: Option<Interference>,
}

const BOLD: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let bar = bar(options);
    let outcome = measure(&options.measurement(), |noise| {
        bar.set_position(noise.watched.as_nanos() / 1_000_000_000);
        bar.set_message(format!("longest gap {}", rounded(noise.longest)));
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let noise = outcome.map_err(|error| {
        fail(
            error,
            Some("`punctual doctor` says what this machine grants"),
        )
    })?;
    let interference = options.interference(&noise);
    match options.json {
        true => print_json(&Measured {
            noise: &noise,
            interference,
        })?,
        false => print(&noise, interference, options.margin),
    }
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn measurement(&self) -> NoiseOptions {
        let mut windows: Vec<Time> = [1, 10, 50, 100].map(Time::from_millis).to_vec();
        windows.extend([self.window, LONGEST_WINDOW]);
        windows.sort_unstable();
        windows.dedup();
        NoiseOptions {
            time: self.time.into(),
            processor: self.processor,
            priority: self.priority,
            threshold: self.threshold,
            windows,
        }
    }

    /// Returns the interference for a model: the measured time plus the margin, rounded up to steps of 10 us.
    /// `None` if nothing was taken, or it leaves no time to operations.
    fn interference(&self, noise: &Noise) -> Option<Interference> {
        let mut windows = noise.windows.iter();
        let measured = windows.find(|taken| taken.every == self.window)?;
        let most = self.margin.on(measured.most).as_nanos().div_ceil(10_000);
        let most = Time::from_micros(most.saturating_mul(10));
        let every = measured.every;
        (!most.is_zero() && most < every).then_some(Interference { most, every })
    }
}

fn bar(options: &Options) -> ProgressBar {
    if options.json {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} s  {msg}");
    let seconds = options.time.as_nanos() / 1_000_000_000;
    ProgressBar::new(seconds).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print(noise: &Noise, interference: Option<Interference>, margin: Margin) {
    match noise.priority {
        Some(priority) => anstream::println!(
            "processor {}, watched for {} at native priority {priority} (SCHED_FIFO)",
            noise.processor,
            rounded(noise.watched)
        ),
        None => anstream::println!(
            "processor {}, watched for {} {BAD}at ordinary priority{BAD:#}: the time of other programs is counted, too;\n\
             `punctual doctor` says how to get the right to real-time priorities",
            noise.processor,
            rounded(noise.watched)
        ),
    }
    anstream::println!(
        "{} gaps, the longest of {}; together {:.3} % of the time\n",
        noise.gaps,
        rounded(noise.longest),
        100.0 * noise.taken.ratio(noise.watched)
    );
    anstream::println!("{BOLD}{:>10} {:>12}{BOLD:#}", "in any", "at most");
    for taken in &noise.windows {
        let (every, most) = (rounded(taken.every), rounded(taken.most));
        anstream::println!("{every:>10} {most:>12}");
    }
    anstream::println!();
    match interference {
        Some(Interference { most, every }) => anstream::println!(
            "with a margin of {margin}, for the table [host.NAME] of a model:\n\
             interference = {{ most = \"{most}\", every = \"{every}\" }}"
        ),
        None => anstream::println!("no line for a model: nothing was taken, or all of a window"),
    }
}
