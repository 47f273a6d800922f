//! `punctual bench cubit`: Schmidt et al. 2001's figure 16, as a matrix of every messaging protocol
//! and link.
//!
//! `operation` has the figure's types of data, `paper` the paper's figures. A `contender` is raw
//! sockets, as in all measurements, or a pair that the ORB can listen on (`pair`), each with a
//! server and a client in processes of their own (`peer`), pinned to one processor or to two. In a
//! `contest` they take turns; a `report` compares them, `text` and `plot` show it.

mod contender;
mod contest;
mod operation;
mod pair;
mod paper;
mod peer;
mod plot;
mod report;
mod text;

pub use peer::{Peer, run as run_peer};

use crate::Result;
use crate::contender::Harness;
use crate::machine::Machine;
use crate::output::{Output, progress};
use crate::placement::Placement;
use clap::ValueEnum;
use contender::LeftOut;
use contest::{Effort, Field};
use indicatif::ProgressBar;
use operation::{FIGURE_16, LENT};
use peer::MOST_CALLS;
use report::Report;

/// Sizes of the counted one-ways, in bytes.
const ONE_WAYS: [u32; 2] = [0, 1024];
/// Divisor of a batch's calls for a megabyte, which takes so much longer.
const FEWER: u32 = 20;

/// Measures each operation of Schmidt et al. 2001's figure 16 over every pair of a messaging protocol and a link
/// that the ORB has, beside raw sockets and the paper's figures.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Messaging protocols; without this option all that the ORB has.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = protocol_name)]
    messaging: Vec<String>,
    /// Links, perhaps with adapters, as in reliable+diop; without this option all that the ORB has.
    /// GIOP over iiop always takes part: the gains are over it.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = protocol_name)]
    link: Vec<String>,
    /// Calls of each operation in a round; a tenth as many come ahead of them and do not count.
    #[arg(
        short = 'n', long, default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CALLS))
    )]
    calls: u32,
    /// Rounds, in each of which every contender has its turn.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Processors of client and server: one or two.
    #[arg(long, value_enum, default_value_t = Cpus::Both)]
    cpus: Cpus,
    /// Microseconds for which spinning sides of shared memory spin before they sleep.
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 1000)]
    spin: u64,
    /// Also compare lent buffers with copied ones: 1 MiB of octets.
    #[arg(long)]
    lent: bool,
    #[command(flatten)]
    output: Output,
    /// Options of the ORB, behind `--`: e.g. -ORBConfigFile with what ssliop needs.
    #[arg(last = true, value_name = "-ORB…")]
    orb: Vec<String>,
}

/// Processors of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Cpus {
    /// Both on one processor: the cost of the software.
    Same,
    /// Each on a processor of its own, wake-ups included.
    Cross,
    /// One placement after the other.
    Both,
}

impl Cpus {
    fn placements(self) -> Vec<Placement> {
        match self {
            Self::Same => vec![Placement::Same],
            Self::Cross => vec![Placement::Cross],
            Self::Both => vec![Placement::Same, Placement::Cross],
        }
    }
}

fn protocol_name(text: &str) -> std::result::Result<String, String> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let part_is_good = |part: &str| !part.is_empty() && part.chars().all(good);
    if text.split('+').all(part_is_good) {
        Ok(text.to_owned())
    } else {
        Err("expected names of lower-case letters, digits and _, with + between".to_owned())
    }
}

impl Options {
    /// Returns the selected pairs.
    fn protocols(&self) -> Result<Vec<String>> {
        let (messaging, links) = pair::catalogue(&self.orb)?;
        let or_all = |asked: &[String], all: Vec<String>| match asked {
            [] => all,
            asked => asked.to_vec(),
        };
        Ok(contender::protocols(
            &or_all(&self.messaging, messaging),
            &or_all(&self.link, links),
        ))
    }

    fn effort(&self) -> Effort {
        Effort {
            rounds: self.rounds,
            calls: self.calls,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A contender fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let report = measure(harness, options)?;
    options.output.show(&report, plot::draw)?;
    match report.failed.len() {
        0 => Ok(()),
        number => Err(format!("{number} contender(s) failed, see the end of the report").into()),
    }
}

fn measure(harness: &Harness, options: &Options) -> Result<Report> {
    let protocols = options.protocols()?;
    let (contenders, left_out) = contender::known(&protocols, options.spin, &options.orb);
    if left_out.len() == protocols.len() {
        let reasons: Vec<&str> = left_out.iter().map(|one| one.reason.as_str()).collect();
        return Err(format!("the ORB has none of these pairs: {}", reasons.join("; ")).into());
    }
    let mut report = Report {
        machine: Machine::this(),
        rounds: options.rounds,
        calls: options.calls,
        spin_us: options.spin,
        paper: paper::COMPARISONS,
        figure_16: Vec::new(),
        compared: Vec::new(),
        one_way: Vec::new(),
        lent: Vec::new(),
        one_way_only: Vec::new(),
        left_out,
        failed: Vec::new(),
    };
    let progress = progress(steps(options));
    for cpus in options.cpus.placements() {
        match cpus.pinned() {
            Ok(processors) => {
                progress.set_message(format!("{cpus}: starting"));
                let field = Field::start(harness, &contenders, processors, &options.orb);
                run_field(field, cpus, options, &mut report, &progress);
            }
            Err(reason) => report.left_out.push(LeftOut {
                contender: cpus.to_string(),
                reason: reason.to_string(),
            }),
        }
    }
    progress.finish_and_clear();
    contest::any(&report.figure_16, &report.failed)?;
    Ok(report)
}

/// Measures everything at one placement.
fn run_field(
    mut field: Field,
    cpus: Placement,
    options: &Options,
    report: &mut Report,
    progress: &ProgressBar,
) {
    let effort = options.effort();
    let mut results = Vec::new();
    for operation in FIGURE_16 {
        progress.set_message(format!("{cpus}: {operation}"));
        let records = field.compete(operation, effort, progress);
        report
            .figure_16
            .extend(report::rows(cpus, operation, &records));
        results.push(records);
    }
    report.compared.extend(report::compared(cpus, &results));
    if !field.one_way().is_empty() {
        for octets in ONE_WAYS {
            progress.set_message(format!("{cpus}: one-ways of {octets} octets"));
            let floods = field.flood(octets, effort, progress);
            report
                .one_way
                .extend(report::one_ways(cpus, octets, &floods));
        }
    }
    for operation in LENT.into_iter().filter(|_| options.lent) {
        progress.set_message(format!("{cpus}: {operation}"));
        let calls = effort.calls.div_ceil(FEWER);
        let records = field.compete(operation, Effort { calls, ..effort }, progress);
        report.lent.extend(report::rows(cpus, operation, &records));
    }
    for one in field.one_way() {
        if !report.one_way_only.contains(one) {
            report.one_way_only.push(one.clone());
        }
    }
    report.failed.extend(field.stop());
}

fn steps(options: &Options) -> usize {
    let lent = if options.lent { LENT.len() } else { 0 };
    let operations = FIGURE_16.len() + ONE_WAYS.len() + lent;
    options.cpus.placements().len() * operations * options.rounds as usize
}
