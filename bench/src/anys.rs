//! `anys`: cost of an Any that passes through, by its size, and of comparing TypeCodes, by theirs,
//! in user-space instructions counted under valgrind.

use crate::Result;
use crate::contender::Harness;
use crate::counting::Instrument;
use crate::machine::Environment;
use crate::output::Json;
use crate::peer::SAMPLE;
use crate::table::{Cell, Table, Tone};
use clap::{Args, ValueEnum};
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual::{Any, TypeCode};
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::process::Command;

/// Numbers of elements, or of members.
const SIZES: [u32; 4] = [16, 256, 1024, 16_384];
/// Largest allowed difference between the smallest and the largest count, as a fraction of the
/// smallest.
const GOAL: f64 = 0.02;

/// Options of the command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Rounds of the shorter run.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    rounds: u32,
    #[command(flatten)]
    json: Json,
}

/// Work that a process repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Read an Any with a number of BinStructs from one message and write it to another.
    PassOn,
    /// Copy the Any's bytes out of one message and into another: the least that any gateway does.
    Copy,
    /// Compare a TypeCode of a number of members with an equal one in another object.
    Compare,
}

/// Process that is counted.
#[derive(Clone, Debug, Args)]
pub struct Peer {
    /// Work to do.
    work: Work,
    /// Number of elements, or of members.
    size: u32,
    /// Number of repetitions.
    rounds: u32,
}

/// Report of the counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Environment on which the counts depend.
    pub environment: Environment,
    /// Counts of each kind of work.
    pub rows: Vec<Row>,
}

/// Instructions per round, by size.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the work.
    pub what: &'static str,
    /// Sizes, with the count at each.
    pub counts: Vec<(u32, f64)>,
    /// Difference between the largest and the smallest count, as a fraction of the smallest; set
    /// where it should be close to zero.
    pub variation: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// Valgrind is not installed, or a process fails.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    Instrument::Instructions.check()?;
    let count = |work| -> Result<Vec<(u32, f64)>> {
        let counts = SIZES.map(|size| Ok((size, a_round(harness, work, size, options.rounds)?)));
        counts.into_iter().collect()
    };
    let (pass_on, copy) = (count(Work::PassOn)?, count(Work::Copy)?);
    let beside = pass_on.iter().zip(&copy);
    let beside = beside.map(|((size, whole), (_, copy))| (*size, whole - copy));
    let row = |what, counts: Vec<(u32, f64)>, has_goal: bool| Row {
        what,
        variation: has_goal.then(|| variation(&counts)),
        counts,
    };
    let report = Report {
        environment: Environment::this(),
        rows: vec![
            row(
                "an Any of BinStructs passes through",
                pass_on.clone(),
                false,
            ),
            row("of that, its octets are copied twice", copy.clone(), false),
            row("what remains", beside.collect(), true),
            row("equal, of shared TypeCodes", count(Work::Compare)?, true),
        ],
    };
    options.json.show(&report)
}

fn variation(counts: &[(u32, f64)]) -> f64 {
    let counts = counts.iter().map(|(_, count)| *count);
    let (least, most) = counts.fold((f64::INFINITY, 0f64), |(least, most), count| {
        (least.min(count), most.max(count))
    });
    most / least - 1.0
}

/// Counts the instructions of a round: the difference of a longer and a shorter run leaves out the
/// cost of the start.
fn a_round(harness: &Harness, work: Work, size: u32, rounds: u32) -> Result<f64> {
    let (short, long) = (
        count(harness, work, size, rounds)?,
        count(harness, work, size, 2 * rounds)?,
    );
    Ok(long.saturating_sub(short) as f64 / f64::from(rounds))
}

fn count(harness: &Harness, work: Work, size: u32, rounds: u32) -> Result<u64> {
    let instrument = Instrument::Instructions;
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("count");
    let wrapper = instrument.wrapper(&file);
    let (program, options) = wrapper.split_first().ok_or("no instrument")?;
    let work = work.to_possible_value().ok_or("no such work")?;
    let status = Command::new(program)
        .args(options)
        .arg(&harness.program)
        .args(["anys-peer", work.get_name()])
        .args([size.to_string(), rounds.to_string()])
        .envs(instrument.environment())
        .status()?;
    if !status.success() {
        return Err(format!("the counted process ended with {status}").into());
    }
    instrument.read(&file)
}

/// Does the work.
///
/// # Errors
/// A value cannot be marshaled.
pub fn run_peer(peer: &Peer) -> Result<()> {
    let rounds = 0..peer.rounds;
    match peer.work {
        Work::PassOn => {
            let (received, mut sent) = (message(peer.size)?, Block::default());
            for _ in rounds {
                let mut input = Decoder::new(&received, ByteOrder::NATIVE, Coding::default());
                let any = Any::unmarshal(&mut input)?;
                sent.clear();
                let mut out = Encoder::new(sent, ByteOrder::NATIVE, Coding::default());
                any.marshal(&mut out)?;
                sent = black_box(out.into_block());
            }
        }
        Work::Copy => {
            let (received, mut sent) = (message(peer.size)?, Vec::new());
            for _ in rounds {
                let held = black_box(received.to_vec());
                sent.clear();
                sent.extend_from_slice(&held);
                black_box(&sent);
            }
        }
        Work::Compare => {
            let names: Vec<String> = (0..peer.size).map(|number| format!("m{number}")).collect();
            let members: Vec<(&str, TypeCode)> =
                names.iter().map(|name| (&**name, TypeCode::LONG)).collect();
            let one = TypeCode::structure("IDL:bench/Large:1.0", "Large", &members);
            let other = one.clone();
            for _ in rounds {
                black_box(black_box(&one) == black_box(&other));
            }
        }
    }
    Ok(())
}

fn message(size: u32) -> Result<Block> {
    let any = Any::new(&vec![SAMPLE; size as usize])?;
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    any.marshal(&mut out)?;
    Ok(out.into_block())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.environment)?;
        let mut columns: Vec<String> = SIZES.iter().map(u32::to_string).collect();
        columns.push("variation".to_owned());
        let table = Table {
            title: "user-space instructions, by number of elements or members".to_owned(),
            columns,
            rows: self.rows.iter().map(shown).collect(),
        };
        write!(f, "{table}")
    }
}

fn shown(row: &Row) -> (String, Vec<Cell>) {
    let counts = row.counts.iter();
    let mut cells: Vec<Cell> = counts
        .map(|(_, count)| Cell::new(format!("{count:.0}"), Tone::Plain))
        .collect();
    cells.push(row.variation.map_or_else(Cell::none, |variation| {
        let tone = if variation <= GOAL {
            Tone::Good
        } else {
            Tone::Bad
        };
        Cell::new(format!("{:.1} %", variation * 100.0), tone)
    }));
    (row.what.to_owned(), cells)
}
