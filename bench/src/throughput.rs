//! `throughput`: how many calls a second.
//!
//! *Two-way*: eight threads of one client, which share a connection where the contender can, and both
//! processes wherever the scheduler puts them; a raw contender has a connection for each thread.
//! *One-way*: one thread, pinned, from the first request until the server has counted the last. As
//! with latency, contenders take turns, and ratios are taken within a round.

use crate::Result;
use crate::case::{Case, Operation};
use crate::contender::{self, Absent, Contender, Harness, Wanted};
use crate::latency::NOISY;
use crate::machine::Machine;
use crate::output::{Json, progress};
use crate::placement::Placement;
use crate::protocol::References;
use crate::running::{Launch, Running, in_turn};
use crate::statistics::{median, paired_ratio, spread};
use crate::table::{Cell, Table, Tone};
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// What is run.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders, and their floors; `all` for every one there is.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    json: Json,
}

/// How much is run.
#[derive(Clone, Copy, Debug, Args)]
pub struct Effort {
    /// Threads of the client that makes two-way calls.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Rounds, in each of which every contender has its turn.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Two-way calls of a round, of all threads together; one-ways are four times as many.
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub calls: u32,
}

/// One-ways are sent this many times as often as two-ways are made.
const ONE_WAYS: u32 = 4;

/// A way to count calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Several threads, two-way, unpinned.
    TwoWay,
    /// One-ways, both sides on one processor.
    OneWaySame,
    /// One-ways, each side on its own.
    OneWayCross,
    /// The same, with those of Punctual waiting for others to be sent together.
    OneWayBuffered,
}

impl Kind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::TwoWay,
        Self::OneWaySame,
        Self::OneWayCross,
        Self::OneWayBuffered,
    ];

    fn launch(self) -> std::io::Result<Launch> {
        let placement = match self {
            Self::TwoWay => None,
            Self::OneWaySame => Some(Placement::Same),
            Self::OneWayCross | Self::OneWayBuffered => Some(Placement::Cross),
        };
        let buffered = self == Self::OneWayBuffered;
        Ok(Launch {
            processors: placement.map(Placement::processors).transpose()?,
            client_options: buffered.then(|| "--buffered".into()).into_iter().collect(),
            ..Launch::default()
        })
    }

    /// Contenders that spin would be measured by whom they keep from running; shared memory has no
    /// raw one-ways; and only Punctual buffers.
    fn suits(self, contender: &Contender) -> bool {
        let ours = contender.name.starts_with("punctual");
        !contender.spins && (self != Self::OneWayBuffered || ours)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::TwoWay => "two-way void calls of several threads, unpinned",
            Self::OneWaySame => "one-ways of one thread, both sides on one processor",
            Self::OneWayCross => "one-ways of one thread, a processor each",
            Self::OneWayBuffered => "one-ways of one thread, a processor each, buffered",
        }
    }
}

/// One run's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// How much ran.
    pub rounds: u32,
    /// Threads of a two-way client.
    pub threads: u32,
    /// What was left out, and why.
    pub skipped: Vec<String>,
    /// What went wrong.
    pub failed: Vec<String>,
    /// The figures.
    pub rows: Vec<Row>,
}

/// One contender's rate.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Of what.
    pub kind: Kind,
    /// Who.
    pub contender: &'static str,
    /// Calls a second: the median of the rounds.
    pub rate: f64,
    /// How far the rounds lie apart: their interquartile range, divided by the median.
    pub spread: f64,
    /// The raw contender of its kind.
    pub floor: &'static str,
    /// Its rates divided by the floor's of the same rounds, in the median.
    pub ratio: Option<f64>,
    /// Whether its own rounds lay too far apart to trust the rate.
    pub noisy: bool,
}

/// Runs the command.
///
/// # Errors
/// When a contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = Wanted::named(&options.contenders)?;
    let (contenders, absent) = contender::known(harness, &wanted);
    let report = measure(&contenders, &absent, &Kind::ALL, options.effort)?;
    options.json.show(&report)?;
    match report.failed.len() {
        0 => Ok(()),
        number => Err(format!("{number} failure(s), see the end of the report").into()),
    }
}

/// Measures these kinds by every contender that starts.
///
/// # Errors
/// When a contender does not end as it should.
pub fn measure(
    contenders: &[Contender],
    absent: &[Absent],
    kinds: &[Kind],
    effort: Effort,
) -> Result<Report> {
    let left_out = |absent: &Absent| format!("{}: {}", absent.name, absent.reason);
    let mut report = Report {
        machine: Machine::this(),
        rounds: effort.rounds,
        threads: effort.threads,
        skipped: absent.iter().map(left_out).collect(),
        failed: Vec::new(),
        rows: Vec::new(),
    };
    let progress = progress(kinds.len() * effort.rounds as usize);
    for &kind in kinds {
        progress.set_message(kind.title());
        match kind.launch() {
            Ok(launch) => contest(kind, &launch, contenders, effort, &mut report, &progress)?,
            Err(reason) => report.skipped.push(format!("{}: {reason}", kind.title())),
        }
    }
    progress.finish_and_clear();
    Ok(report)
}

/// A contender, and its rates so far.
struct Entrant<'c> {
    contender: &'c Contender,
    running: Option<Running>,
    rates: Vec<f64>,
}

fn contest(
    kind: Kind,
    launch: &Launch,
    contenders: &[Contender],
    effort: Effort,
    report: &mut Report,
    progress: &indicatif::ProgressBar,
) -> Result<()> {
    let mut entrants = Vec::new();
    for contender in contenders.iter().filter(|one| kind.suits(one)) {
        match contender.start(launch) {
            Ok(running) => entrants.push(Entrant {
                contender,
                running: Some(running),
                rates: Vec::new(),
            }),
            Err(reason) => {
                let reason = reason.to_string();
                if !report.skipped.contains(&reason) {
                    report.skipped.push(reason);
                }
            }
        }
    }
    for round in 0..effort.rounds as usize {
        for who in in_turn(round, entrants.len()) {
            let entrant = &mut entrants[who];
            if let Err(error) = entrant.turn(kind, effort) {
                let name = entrant.contender.name;
                report
                    .failed
                    .push(format!("{name}: {}: {error}", kind.title()));
                entrant.running = None;
            }
        }
        progress.inc(1);
    }
    report.rows.extend(rows(kind, &entrants));
    let mut running = entrants.into_iter().filter_map(|entrant| entrant.running);
    running.try_for_each(Running::stop)
}

impl Entrant<'_> {
    fn turn(&mut self, kind: Kind, effort: Effort) -> Result<()> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let each = match kind {
            Kind::TwoWay => {
                running.flood(
                    effort.threads,
                    effort.calls.div_ceil(10),
                    References::Shared,
                )?;
                // Each thread makes a whole share.
                let made = effort.calls / effort.threads * effort.threads;
                running.flood(effort.threads, effort.calls, References::Shared)? / made.max(1)
            }
            _ => {
                let calls = effort.calls.saturating_mul(ONE_WAYS);
                let ping = Case::plain(Operation::Ping);
                let samples = running.run(ping, calls.div_ceil(10), calls)?;
                Duration::from_nanos(samples.first().copied().unwrap_or_default())
            }
        };
        self.rates.push(1.0 / each.as_secs_f64().max(1e-9));
        Ok(())
    }
}

fn rows(kind: Kind, entrants: &[Entrant<'_>]) -> Vec<Row> {
    let row = |entrant: &Entrant<'_>| {
        let contender = entrant.contender;
        let floor = entrants
            .iter()
            .find(|other| other.contender.name == contender.floor);
        let spread = spread(&entrant.rates)?;
        Some(Row {
            kind,
            contender: contender.name,
            rate: median(&entrant.rates)?,
            spread,
            floor: contender.floor,
            ratio: floor.and_then(|floor| paired_ratio(&entrant.rates, &floor.rates)),
            noisy: spread > NOISY,
        })
    };
    entrants.iter().filter_map(row).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        for kind in Kind::ALL {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.kind == kind).collect();
            if !rows.is_empty() {
                write!(f, "\n{}", table(kind, &rows))?;
            }
        }
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        for failed in &self.failed {
            writeln!(f, "failed {failed}")?;
        }
        if self.rows.iter().any(|row| row.noisy) {
            writeln!(
                f,
                "! its rounds lay more than {:.0} % apart: trust the ratio before the rate",
                NOISY * 100.0
            )?;
        }
        Ok(())
    }
}

fn table(kind: Kind, rows: &[&Row]) -> Table {
    let row = |row: &&Row| {
        let (mark, tone) = match row.noisy {
            true => ("!", Tone::Doubtful),
            false => ("", Tone::Plain),
        };
        let ratio = row.ratio.map_or_else(Cell::none, |ratio| {
            Cell::new(format!("{ratio:.2}"), Tone::Plain)
        });
        let cells = vec![
            Cell::new(format!("{:.0}{mark}", row.rate), tone),
            Cell::new(format!("{:.1}", row.spread * 100.0), Tone::Faint),
            ratio,
        ];
        (row.contender.to_owned(), cells)
    };
    Table {
        title: kind.title().to_owned(),
        columns: ["calls/s", "spread %", "× floor"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_compared_within_a_round() {
        let contenders = [
            Contender::imagined("raw-tcp", "raw-tcp"),
            Contender::imagined("punctual", "raw-tcp"),
        ];
        let mut entrants = contenders.each_ref().map(|contender| Entrant {
            contender,
            running: None,
            rates: Vec::new(),
        });
        entrants[0].rates = vec![100.0, 200.0, 400.0];
        entrants[1].rates = vec![80.0, 160.0, 320.0];
        let rows = rows(Kind::TwoWay, &entrants);
        assert!((rows[1].ratio.unwrap() - 0.8).abs() < 1e-9);
        assert!((rows[1].rate - 160.0).abs() < 1e-9);
        assert!(rows[0].noisy);
    }

    #[test]
    fn only_punctual_buffers_and_nobody_spins() {
        let tcp = Contender::imagined("raw-tcp", "raw-tcp");
        let ours = Contender::imagined("punctual-uiop", "raw-unix");
        assert!(Kind::OneWayCross.suits(&tcp) && !Kind::OneWayBuffered.suits(&tcp));
        assert!(Kind::OneWayBuffered.suits(&ours));
        let spinning = Contender {
            spins: true,
            ..ours
        };
        assert!(!Kind::ALL.iter().any(|kind| kind.suits(&spinning)));
    }
}
