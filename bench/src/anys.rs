//! `anys`: what an Any costs that passes through, by its size, and what comparing TypeCodes costs, by theirs:
//! user-space instructions, under valgrind.

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

/// Elements, or members.
const SIZES: [u32; 4] = [16, 256, 1024, 16_384];
/// How far the least and the dearest may lie apart, as a share of the least.
const GOAL: f64 = 0.02;

/// What to count.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Rounds of the shorter run.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    rounds: u32,
    #[command(flatten)]
    json: Json,
}

/// What a process does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// An Any with so many BinStructs is read from one message and written to another.
    PassOn,
    /// Its octets are copied out of one message and into another, which no gateway does with less.
    Copy,
    /// A TypeCode of so many members is compared with itself as another holds it.
    Compare,
}

/// The process that is counted.
#[derive(Clone, Debug, Args)]
pub struct Peer {
    /// What it does.
    work: Work,
    /// Elements, or members.
    size: u32,
    /// How often.
    rounds: u32,
}

/// The counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What they depend on.
    pub environment: Environment,
    /// By what is done.
    pub rows: Vec<Row>,
}

/// Instructions a round, by size.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is done.
    pub what: &'static str,
    /// The sizes, and the counts at each.
    pub counts: Vec<(u32, f64)>,
    /// How much more the dearest takes than the cheapest, as a share of it, where it is to be next to
    /// nothing.
    pub variation: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// When valgrind is not to be had, or a process fails.
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

/// The difference of a longer and a shorter run is free of what starting costs.
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
/// When a value cannot be marshaled.
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
