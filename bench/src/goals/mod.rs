//! `goals`: goals of the data path, and the figures reached here, in one table.
//!
//! A `Line` names a goal and finds its figure in the evidence: the reports of this crate's other
//! measurements, of which only those run that a selected line needs. Figures that cannot be
//! measured here are absent, with the reason. The report is for people, as JSON and as a
//! picture.

mod figure;
mod find;
mod line;
mod plot;
mod report;

pub(crate) use figure::Need;
pub(crate) use line::Line;
pub(crate) use report::EXPERIMENT;

use crate::Result;
use crate::case::{self, Case, Operation};
use crate::contender::{self, Harness, Selection};
use crate::counting::{self, Instrument};
use crate::experiment;
use crate::latency::{self, Plan};
use crate::output::Output;
use crate::placement::Placement;
use crate::protocol::References;
use crate::throughput::Kind;
use crate::{load, memory, throughput};
use clap::Args;
use std::collections::BTreeMap;

/// Contenders that represent thread pools on epoll, in order of preference; the last one is always
/// available.
const REACTORS: [&str; 3] = ["punctual-lf", "punctual-reactive", "punctual"];

/// Options of the command `goals`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only lines whose names begin so, e.g. same,instructions-void.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Fewer rounds and calls: takes about two minutes, and is less reliable.
    #[arg(long)]
    quick: bool,
    /// Hardly any calls: check that everything works, not how well.
    #[arg(long, hide = true)]
    hasty: bool,
    /// List the lines, and measure nothing.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    output: Output,
}

/// Effort of the measurements: the numbers of rounds, calls and repetitions.
#[derive(Clone, Copy, Debug)]
struct Effort {
    rounds: u32,
    calls: u32,
    counted: u32,
    flood: u32,
    connections: u32,
    phase: u64,
    /// Number of times that a measurement with a large spread is repeated.
    again: u32,
}

const USUAL: Effort = Effort {
    rounds: 15,
    calls: 1000,
    counted: 500,
    flood: 20_000,
    connections: 10_000,
    phase: 5000,
    again: 2,
};
const QUICK: Effort = Effort {
    rounds: 7,
    calls: 300,
    counted: 200,
    flood: 10_000,
    connections: 10_000,
    phase: 2000,
    again: 1,
};
const HASTY: Effort = Effort {
    rounds: 1,
    calls: 10,
    counted: 20,
    flood: 40,
    connections: 100,
    phase: 50,
    again: 0,
};

/// Reports of all measurements, or the reasons why they could not be made.
#[derive(Debug, Default)]
pub(crate) struct Evidence(BTreeMap<Need, std::result::Result<Measured, String>>);

/// Report of one of this crate's measurements.
type Measured = experiment::Report;

/// Runs the command.
///
/// # Errors
/// A name selects no line, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let lines = wanted(&options.only)?;
    if options.list {
        for line in &lines {
            println!("{:<26} {}: {}", line.name, line.what, line.goal());
        }
        return Ok(());
    }
    let effort = match (options.hasty, options.quick) {
        (true, _) => HASTY,
        (_, true) => QUICK,
        _ => USUAL,
    };
    let load_before = load_average();
    let mut evidence = Evidence::default();
    for need in Need::ALL {
        if lines.iter().any(|line| line.need == need) {
            evidence.gather(need, harness, effort);
        }
    }
    let report = report::report(load_before, &lines, &evidence);
    options.output.show(&report, plot::draw)
}

/// Returns the lines whose names begin with one of `only`; all lines if it is empty.
fn wanted(only: &[String]) -> Result<Vec<&'static Line>> {
    for name in only {
        if !line::ALL
            .iter()
            .any(|line| line.name.starts_with(name.as_str()))
        {
            let names: Vec<&str> = line::ALL.iter().map(|line| line.name).collect();
            return Err(format!("`{name}` begins no line: there are {}", names.join(", ")).into());
        }
    }
    let is_wanted = |line: &&Line| {
        only.is_empty() || only.iter().any(|name| line.name.starts_with(name.as_str()))
    };
    Ok(line::ALL.iter().filter(is_wanted).collect())
}

/// Returns the machine's other load: the average number of runnable processes over the last minute.
fn load_average() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

impl Evidence {
    fn gather(&mut self, need: Need, harness: &Harness, effort: Effort) {
        let measured = match need {
            Need::Same | Need::Cross => measure_latency(need, harness, effort),
            Need::Instructions | Need::SystemCalls | Need::Allocations | Need::Switches => {
                count(need, harness, effort)
            }
            Need::Throughput => measure_throughput(harness, effort),
            Need::Memory => look_at_memory(harness, effort),
            Need::Load => load_up(harness, effort),
        };
        let measured = measured.map_err(|error| error.to_string());
        self.0.insert(need, measured);
    }

    /// Returns the report of a measurement, or the reason why there is none.
    fn report(&self, need: Need) -> std::result::Result<&Measured, String> {
        match self.0.get(&need) {
            Some(measured) => measured.as_ref().map_err(Clone::clone),
            None => Err("it was not measured".to_owned()),
        }
    }
}

fn measure_latency(need: Need, harness: &Harness, effort: Effort) -> Result<Measured> {
    let (placement, names, cases): (_, &[&str], _) = match need {
        Need::Same => (
            Placement::Same,
            &[
                "punctual",
                "punctual-uiop",
                "punctual-lf",
                "omniorb",
                "omniorb-unix",
            ],
            with_a_mebibyte(case::of_the_goals()),
        ),
        _ => (
            Placement::Cross,
            &[
                "punctual",
                "punctual-uiop",
                "punctual-spin",
                "punctual-uiop-spin",
                "punctual-shmiop-spin",
                "omniorb",
                "omniorb-unix",
            ],
            case::small(),
        ),
    };
    placement.pinned()?;
    let (contenders, absent) = contender::known(harness, &Selection::of(names)?);
    let plan = Plan {
        placements: vec![placement],
        cases,
        rounds: effort.rounds,
        calls: effort.calls,
        again: effort.again,
    };
    Ok(latency::measure(&contenders, &absent, &plan))
}

fn with_a_mebibyte(mut cases: Vec<Case>) -> Vec<Case> {
    cases.push(Case::sized(Operation::TakeOctets, 1 << 20));
    cases
}

fn count(need: Need, harness: &Harness, effort: Effort) -> Result<Measured> {
    let mut cases = case::of_the_goals();
    let instrument = match need {
        Need::Instructions => Instrument::Instructions,
        Need::SystemCalls => Instrument::SystemCalls,
        Need::Switches => Instrument::ContextSwitches,
        _ => {
            cases.push(Case::sized(Operation::EchoOctets, 1024));
            Instrument::Allocations
        }
    };
    instrument.check()?;
    let wanted = Selection::of(&["punctual"])?.without_floors();
    let (contenders, absent) = contender::known(harness, &wanted);
    counting::measure(instrument, &contenders, &absent, &cases, effort.counted)
}

fn measure_throughput(harness: &Harness, effort: Effort) -> Result<Measured> {
    let wanted = Selection::of(&["punctual", "omniorb"])?;
    let (contenders, absent) = contender::known(harness, &wanted);
    let effort = throughput::Effort {
        rounds: effort.rounds.div_ceil(2),
        calls: effort.flood,
        again: effort.again,
    };
    let mut kinds = vec![Kind::BUFFERED];
    for placement in [Placement::Same, Placement::Cross, Placement::Unpinned] {
        let two_way = |threads| Kind::two_way(threads, References::Shared, placement);
        kinds.push(Kind::one_way(placement));
        kinds.extend(find::SEVERAL.map(two_way));
    }
    Ok(throughput::measure(&contenders, &absent, &kinds, effort))
}

fn look_at_memory(harness: &Harness, effort: Effort) -> Result<Measured> {
    let wanted = Selection::of(&memory::USUAL)?.without_floors();
    let (contenders, absent) = contender::known(harness, &wanted);
    memory::measure(&contenders, &absent, &[effort.connections as usize])
}

/// Measures latency under load, for the first contender with a reactor that is available.
fn load_up(harness: &Harness, effort: Effort) -> Result<Measured> {
    let size = load::Size {
        connections: effort.connections,
        busy: effort.connections / 100,
        phase: effort.phase,
        acts: 2000,
    };
    let mut refused = None;
    for name in REACTORS {
        let wanted = Selection::of(&[name])?.without_floors();
        for contender in contender::known(harness, &wanted).0 {
            match contender.serve(&crate::running::Launch::default()) {
                Ok(server) => {
                    server.stop()?;
                    return load::measure(&contender, size);
                }
                Err(reason) => refused = Some(reason),
            }
        }
    }
    Err(refused.unwrap_or_else(|| "no server starts".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_chosen_by_the_beginnings_of_their_names() {
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            wanted(&only).map(|lines| lines.len())
        };
        assert_eq!(names(&[]).unwrap(), line::ALL.len());
        assert!(names(&["same"]).unwrap() < line::ALL.len());
        assert_eq!(names(&["idle-server"]).unwrap(), 1);
        assert!(
            names(&["faster"])
                .unwrap_err()
                .to_string()
                .contains("same-tcp-p50")
        );
    }

    #[test]
    fn what_was_not_measured_says_so_line_by_line() {
        let evidence = Evidence::default();
        for line in line::ALL {
            assert_eq!((line.find)(&evidence).unwrap_err(), "it was not measured");
        }
    }
}
