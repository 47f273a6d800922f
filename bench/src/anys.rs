//! `anys`: cost of an Any that is read and written again, depending on its size, and of comparing
//! TypeCodes, depending on theirs, in user-space instructions counted under valgrind.

use crate::Result;
use crate::contender::Harness;
use crate::counting::{Instrument, of_one};
use crate::experiment::{Bound, Column, Experiment, GOALS, Goal, Report, Row, Tabled};
use crate::machine::{ENVIRONMENT, Environment};
use crate::output::Json;
use crate::peer::SAMPLE;
use crate::statistics::variation;
use clap::{Args, ValueEnum};
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual::{Any, TypeCode};
use serde::Serialize;
use std::hint::black_box;
use std::process::Command;

/// Measured sizes: numbers of elements of an Any's sequence, or of members of a TypeCode.
const SIZES: [u32; 4] = [16, 256, 1024, 16_384];
/// Largest allowed difference between the smallest and the largest count, as a fraction of the
/// smallest.
const GOAL: f64 = 0.02;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "anys",
    "what an Any costs that passes through, and comparing TypeCodes, by their \
        sizes",
)
.frames(&["rows", "goals"])
.conditions(ENVIRONMENT)
.tables(&[
    Tabled::matrix(
        "rows",
        "user-space instructions, by number of elements or members",
        ("what", "size"),
        Column::number("", "instructions"),
    ),
    GOALS,
])
.remarks(&["goals: the greatest count is more than the least by this fraction"]);

/// Options of the command `anys`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Rounds in the shorter of the two runs whose difference is counted.
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

/// Process whose instructions are counted.
#[derive(Clone, Debug, Args)]
pub struct Peer {
    /// Work that the process repeats.
    work: Work,
    /// Number of elements of the Any's sequence, or of members of the TypeCode.
    size: u32,
    /// Number of repetitions.
    rounds: u32,
}

/// Runs the command.
///
/// # Errors
/// Valgrind is not installed, or a process fails.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    Instrument::Instructions.check()?;
    let count = |work| -> Result<Vec<f64>> {
        let counts = SIZES.map(|size| a_round(harness, work, size, options.rounds));
        counts.into_iter().collect()
    };
    let (pass_on, copy) = (count(Work::PassOn)?, count(Work::Copy)?);
    let beside = pass_on.iter().zip(&copy);
    let beside: Vec<f64> = beside.map(|(whole, copy)| whole - copy).collect();
    let mut report = Report::new(&EXPERIMENT, Environment::this().on(Row::default()));
    let remains = "what remains";
    let equal = "equal, of shared TypeCodes";
    for (what, counts, has_goal) in [
        ("an Any of BinStructs passes through", pass_on, false),
        ("of that, its octets are copied twice", copy, false),
        (remains, beside, true),
        (equal, count(Work::Compare)?, true),
    ] {
        let row = |(size, count)| {
            Row::default()
                .with("what", what)
                .with("size", size)
                .with("instructions", count)
        };
        report.add("rows", SIZES.iter().zip(&counts).map(row));
        let goal = Goal {
            what,
            bound: Bound::AtMost(GOAL),
            reached: variation(&counts),
            noisy: false,
        };
        report.add("goals", has_goal.then(|| goal.on(Row::default())));
    }
    options.json.deliver(&report)
}

/// Counts the instructions of one round.
fn a_round(harness: &Harness, work: Work, size: u32, rounds: u32) -> Result<f64> {
    let name = work.to_possible_value().ok_or("no such work")?;
    let [count] = of_one(rounds, |rounds| {
        let mut process = Command::new(&harness.program);
        process.args(["anys-peer", name.get_name()]);
        process.args([size.to_string(), rounds.to_string()]);
        Ok([Instrument::Instructions.count(&process)?])
    })?;
    Ok(count)
}

/// Performs the work whose instructions are counted, in a process of its own under valgrind.
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
