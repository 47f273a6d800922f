//! `timeprobes`: time of each stage of a call, by the stages of Schmidt et al. 2001's tables 1 and
//! 2.
//!
//! A contender runs twice at once: as it is, and with its probes switched on. Both make batches of
//! calls in turn, so that the stamps' cost shows beside the stages' times. At their end the two
//! processes of the second leave their stamps in files (`record`). From these `stages` computes a
//! client's stages and a server's, and `end_to_end`, as both stamp by the same counter, a call's
//! whole path.

mod end_to_end;
pub(crate) mod paper;
pub(crate) mod record;
mod report;
pub(crate) mod servant;
mod stages;

pub(crate) use report::{END_TO_END, EXPERIMENT};

use crate::Result;
use crate::case::{Case, Operation};
use crate::contender::{self, Contender, Harness, Selection};
use crate::experiment::{Pair as Processes, Report, Row};
use crate::output::Output;
use crate::placement::Placement;
use crate::progress::progress;
use crate::protocol::Command;
use crate::running::Launch;
use crate::statistics::Record;
use clap::Args;
use punctual::probe::{self, Rate, Side};
use report::Run;
use stages::Stages;
use std::ffi::OsString;
use std::path::Path;

/// Number of rounds in which the run without probes and the run with probes take turns.
const ROUNDS: u32 = 10;
/// Upper bound of the number of calls, warm-up included: the stamps of this many calls fit into a
/// thread's ring buffer.
const MOST: i64 = 1500;

/// Options of the command `timeprobes`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    pub placement: Vec<Placement>,
    /// Contenders to measure: Punctual over TCP, or others of its kind (punctual-uiop, punctual-lf,
    /// …).
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_values = ["punctual"])]
    pub contenders: Vec<String>,
    /// Case to call; the paper's is cube_void, which has no parameters. No one-ways.
    #[arg(long, default_value_t = Case::plain(Operation::CubeVoid), value_parser = two_way)]
    pub case: Case,
    /// Calls; the paper averaged 1,000.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(10..=MOST))]
    pub calls: u32,
    #[command(flatten)]
    output: Output,
}

fn two_way(text: &str) -> std::result::Result<Case, String> {
    let case: Case = text.parse().map_err(|error| format!("{error}"))?;
    match case.operation.is_two_way() {
        true => Ok(case),
        false => Err(format!("`{case}` is a one-way, and has no reply to follow")),
    }
}

/// Runs the command.
///
/// # Errors
/// This program was built without its probes, a contender has none or fails, or a file cannot be
/// written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    if !probe::COMPILED_IN {
        return Err(
            "this program was built without its time probes; build it with them: \
             `cargo build --release -p punctual-bench --features time-probes`"
                .into(),
        );
    }
    let contenders = ours(harness, &options.contenders)?;
    let rate = Rate::calibrate();
    let counter = Counter {
        rate,
        stamp: probe::cost(rate)?,
    };
    let settings = Row::default()
        .with("case", options.case.to_string())
        .with("calls", options.calls)
        .with("stamp", counter.stamp)
        .with("nanos_a_tick", rate.nanos_a_tick())
        .with("invariant", probe::is_invariant());
    let mut report = Report::new(&EXPERIMENT, settings);
    let runs = measure(&contenders, options, counter, &mut report);
    report::add(&mut report, &runs);
    options.output.deliver(&report)
}

/// Counter from which the time stamps are read.
#[derive(Clone, Copy, Debug)]
struct Counter {
    rate: Rate,
    /// Cost of one stamp, in nanoseconds.
    stamp: f64,
}

/// Measures every contender at every placement; reasons for skipped contenders and failures are
/// added to the report.
fn measure(
    contenders: &[Contender],
    options: &Options,
    counter: Counter,
    report: &mut Report,
) -> Vec<Run> {
    let mut runs = Vec::new();
    let progress = progress(options.placement.len() * contenders.len());
    for contender in contenders {
        for &placement in options.placement.iter().filter(|&&at| contender.suits(at)) {
            progress.set_message(format!("{contender} {placement}"));
            match placement.processors() {
                Err(reason) => report.skip(format!("{placement}: {reason}")),
                Ok(processors) => {
                    let launch = Launch {
                        processors,
                        ..Launch::default()
                    };
                    let measured = Pair::measure(contender, &launch, options);
                    match measured.and_then(|seen| seen.into_run(placement, contender, counter)) {
                        Ok(run) => runs.push(run),
                        Err(error) => report.failed.push(format!("{placement}: {error}")),
                    }
                }
            }
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    runs
}

/// Returns the contenders that run Punctual: only they have probes.
fn ours(harness: &Harness, names: &[String]) -> Result<Vec<Contender>> {
    let wanted = Selection::named(names)?.without_floors();
    let (mut here, absent) = contender::known(harness, &wanted);
    if let Some(absent) = absent.into_iter().next() {
        return Err(format!("{}: {}", absent.name, absent.reason).into());
    }
    here.retain(|contender| contender.program == harness.program);
    match here.is_empty() {
        true => Err("none of these contenders has time probes".into()),
        false => Ok(here),
    }
}

/// Measurement of one contender with its probes off and on.
struct Pair {
    off: Record,
    on: Record,
    client: Vec<probe::CallTrace>,
    server: Vec<probe::CallTrace>,
}

impl Pair {
    fn measure(contender: &Contender, launch: &Launch, options: &Options) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let mut off = contender.start(launch)?;
        let mut on = recorded(contender, directory.path()).start(launch)?;
        let mut records = [Record::default(), Record::default()];
        let calls = options.calls.div_ceil(ROUNDS);
        for _ in 0..ROUNDS {
            for (pair, record) in [&mut off, &mut on].into_iter().zip(&mut records) {
                record.add_round(&pair.ask(Command::Run {
                    case: options.case,
                    warm_up: calls.div_ceil(ROUNDS),
                    calls,
                })?);
            }
        }
        [on, off].into_iter().try_for_each(Processes::stop)?;
        let [off, on] = records;
        Ok(Self {
            off,
            on,
            client: record::read(directory.path(), Side::Client)?,
            server: record::read(directory.path(), Side::Server)?,
        })
    }

    fn into_run(
        self,
        placement: Placement,
        contender: &Contender,
        counter: Counter,
    ) -> Result<Run> {
        let rate = counter.rate;
        let figures = |record: &Record| record.figures().ok_or("no call was timed");
        let stages =
            |seen: &[probe::CallTrace], table| Stages::of(seen, table, rate, counter.stamp);
        Ok(Run {
            placement,
            contender: contender.name,
            off: figures(&self.off)?,
            on: figures(&self.on)?,
            client: stages(&self.client, paper::CLIENT).ok_or("the client has stamped no call")?,
            server: stages(&self.server, paper::SERVER).ok_or("the server has stamped no call")?,
            legs: end_to_end::legs(&self.client, &self.server, rate),
        })
    }
}

/// Returns a copy of the contender whose processes get the option `--stamps`: they run with their
/// probes on, and write their time stamps to files in `directory`.
fn recorded(contender: &Contender, directory: &Path) -> Contender {
    let mut recorded = contender.clone();
    // The option follows the subcommand that starts a peer, before the peer's name.
    let at = recorded.arguments.len().saturating_sub(1);
    let stamps: [OsString; 2] = ["--stamps".into(), directory.into()];
    recorded.arguments.splice(at..at, stamps);
    recorded
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn one_ways_are_refused_as_they_have_no_reply_to_follow() {
        assert!(two_way("cube_struct").is_ok());
        assert!(two_way("ping").unwrap_err().contains("one-way"));
        assert!(two_way("cube").is_err());
    }

    #[test]
    fn only_contenders_of_this_program_have_probes_and_are_told_where_to_leave_their_stamps() {
        let harness = Harness {
            program: PathBuf::from("punctual"),
            peers: PathBuf::new(),
        };
        let here = ours(&harness, &["punctual-uiop".to_owned()]).unwrap();
        assert_eq!(here.len(), 1, "its floor takes no part");
        let words = recorded(&here[0], Path::new("/there")).arguments;
        assert_eq!(words, ["peer", "--stamps", "/there", "punctual"]);
        assert!(ours(&harness, &["raw-tcp".to_owned()]).is_err());
    }
}
