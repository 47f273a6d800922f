//! `data`: cost of encoding and decoding, by type of data and byte order, beside copying the same
//! data without an ORB.
//!
//! Works take turns in one process, so that the ratio of two that run right after each other holds
//! on a busy machine; instructions are counted under valgrind, in processes of their own.

use crate::Result;
use crate::contender::Harness;
use crate::counting::{Instrument, of_one};
use crate::experiment::{Bound, Column, Experiment, GOALS, Goal, Report, Row, Tabled};
use crate::machine::{ENVIRONMENT, Environment};
use crate::output::Json;
use crate::peer::SAMPLE;
use crate::statistics::{median, paired_ratio};
use clap::Args;
use punctual::Any;
use punctual::stub::{
    Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal, unmarshal_slice,
};
use punctual_example_cubit::idl::bench::BinStruct;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

/// Number of structures, as in the calls that are measured elsewhere.
const STRUCTS: usize = 1024;
const LONGS: usize = 1024;
const STRINGS: usize = 1000;
/// Number of bytes of each string, without its NUL.
const TEXT: usize = 20;
/// Repetitions of a work in one turn.
const TURN: u32 = 8;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "data",
    "what encoding and decoding cost, by type of data and byte order, beside \
        copying the same data",
)
.frames(&["rows", "goals"])
.conditions(ENVIRONMENT)
.tables(&[
    Tabled::listing(
        "rows",
        "encoding and decoding",
        "{what}",
        &[
            Column::number("instructions", "instructions"),
            Column::number("floor's", "floor_instructions"),
            Column::number("ns", "nanoseconds"),
            Column::number("floor's", "floor_nanoseconds"),
            Column::ratio("× floor", "ratio"),
        ],
    ),
    GOALS,
])
.remarks(&[
    "floor: the same bytes copied once; strings one by one, each into memory of its own where it is decoded; \
        of an Any, its value without the Any",
]);

/// Options of the command `data`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Rounds in which all works take turns.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    rounds: u32,
    /// Repetitions in the shorter of the two runs whose difference is counted.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    repetitions: u32,
    #[command(flatten)]
    json: Json,
}

/// Process whose instructions are counted.
#[derive(Clone, Debug, Args)]
pub struct Peer {
    /// Number of the work that the process repeats.
    work: usize,
    /// Number of repetitions.
    repetitions: u32,
}

/// Work that is repeated.
struct Work {
    what: &'static str,
    /// Number of the work that is its floor.
    floor: usize,
    /// Greatest ratio to the floor that is a goal.
    goal: Option<f64>,
    run: Box<dyn FnMut()>,
}

/// Runs the command.
///
/// # Errors
/// Valgrind is not installed, or a process fails.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    Instrument::Instructions.check()?;
    let mut works = works()?;
    let times = time(&mut works, options.rounds);
    let counts = (0..works.len()).map(|work| {
        let [count] = of_one(options.repetitions, |repetitions| {
            let mut process = Command::new(&harness.program);
            process.args(["data-peer", &work.to_string(), &repetitions.to_string()]);
            Ok([Instrument::Instructions.count(&process)?])
        })?;
        Ok(count)
    });
    let counts: Vec<f64> = counts.collect::<Result<_>>()?;
    let mut report = Report::new(&EXPERIMENT, Environment::this().on(Row::default()));
    let rows = works.iter().zip(&times).zip(&counts);
    for (number, ((work, times_of), count)) in rows.enumerate() {
        if work.floor == number {
            continue;
        }
        let (floor_times, floor_count) = (&times[work.floor], counts[work.floor]);
        let ratio = paired_ratio(times_of, floor_times);
        let row = Row::default().with("what", work.what);
        report.add(
            "rows",
            [row.clone()
                .with("instructions", count)
                .with("floor_instructions", floor_count)
                .with("nanoseconds", median(times_of))
                .with("floor_nanoseconds", median(floor_times))
                .with("ratio", ratio)],
        );
        let goal = work.goal.map(|most| Goal {
            what: work.what,
            bound: Bound::AtMost(most),
            reached: ratio,
            noisy: false,
        });
        report.add("goals", goal.map(|goal| goal.on(Row::default())));
    }
    options.json.deliver(&report)
}

/// Performs the work whose instructions are counted, in a process of its own under valgrind.
///
/// # Errors
/// There is no such work.
pub fn run_peer(peer: &Peer) -> Result<()> {
    let mut works = works()?;
    let work = works.get_mut(peer.work).ok_or("no such work")?;
    (0..peer.repetitions).for_each(|_| (work.run)());
    Ok(())
}

/// Returns the nanoseconds of each work in each round.
fn time(works: &mut [Work], rounds: u32) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::new(); works.len()];
    for _ in 0..rounds {
        for (work, times) in works.iter_mut().zip(&mut times) {
            (work.run)();
            let began = Instant::now();
            (0..TURN).for_each(|_| (work.run)());
            times.push(began.elapsed().as_nanos() as f64 / f64::from(TURN));
        }
    }
    times
}

/// Returns all works. A floor stands right before what it is the floor of.
fn works() -> Result<Vec<Work>> {
    let native = ByteOrder::NATIVE;
    let other = match native {
        ByteOrder::Little => ByteOrder::Big,
        ByteOrder::Big => ByteOrder::Little,
    };
    let structs = vec![SAMPLE; STRUCTS];
    let longs = vec![123_456_789_i32; LONGS];
    let strings: Vec<String> = (0..STRINGS)
        .map(|number| format!("{number:0TEXT$}"))
        .collect();
    let mut all = Vec::new();

    copied(&mut all, size_of_val(&*structs));
    for (order, names) in [
        (
            native,
            [
                "1,024 BinStructs, encoded",
                "1,024 BinStructs, seen by a servant",
                "1,024 BinStructs, decoded",
            ],
        ),
        (
            other,
            [
                "1,024 BinStructs, encoded, other order",
                "1,024 BinStructs, seen by a servant, other order",
                "1,024 BinStructs, decoded, other order",
            ],
        ),
    ] {
        let [encoded, seen, decoded] = names;
        let floor = floor_of(&all);
        all.push(encoding(encoded, floor, Some(1.3), structs.clone(), order));
        all.push(viewing(seen, floor, Some(1.3), &structs, order)?);
        all.push(decoding(decoded, floor, Some(1.3), &structs, order)?);
    }

    copied(&mut all, size_of_val(&*longs));
    let floor = floor_of(&all);
    let of_longs = |what, order| encoding(what, floor, None, longs.clone(), order);
    all.push(of_longs("1,024 longs, encoded", native));
    all.push(of_longs("1,024 longs, encoded, other order", other));
    let seen = "1,024 longs, seen by a servant, other order";
    all.push(viewing(seen, floor, None, &longs, other)?);

    let texts = strings.clone();
    let mut sent = Vec::new();
    let floor = push_floor(&mut all, move || {
        sent.clear();
        for text in black_box(&texts) {
            let length = text.len() as u32 + 1;
            sent.extend_from_slice(&length.to_ne_bytes());
            sent.extend_from_slice(text.as_bytes());
            // The NUL, and padding.
            sent.extend_from_slice(&[0; 4]);
        }
        black_box(&sent);
    });
    let what = "1,000 strings of 20 bytes, encoded";
    all.push(encoding(what, floor, Some(1.3), strings.clone(), native));

    let received = encoded(&strings, native)?;
    let floor = push_floor(&mut all, move || {
        let mut texts: Vec<Vec<u8>> = Vec::with_capacity(STRINGS);
        let mut rest = black_box(&received[4..]);
        while let Some((length, behind)) = rest.split_first_chunk() {
            let length = u32::from_ne_bytes(*length) as usize;
            texts.push(behind[..length - 1].to_vec());
            rest = behind.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        black_box(&texts);
    });
    let what = "1,000 strings of 20 bytes, decoded";
    all.push(decoding(what, floor, Some(1.3), &strings, native)?);

    anys(&mut all, structs)?;
    Ok(all)
}

/// Adds works of Anys, each beside its value without one.
fn anys(all: &mut Vec<Work>, structs: Vec<BinStruct>) -> Result<()> {
    let order = ByteOrder::NATIVE;
    let one = "a BinStruct, encoded";
    let floor = push_as_floor(all, encoding(one, 0, None, SAMPLE, order));
    let mut sent = Block::default();
    all.push(Work {
        what: "an Any of a BinStruct, made and encoded",
        floor,
        goal: None,
        run: Box::new(move || {
            let any = Any::new(black_box(&SAMPLE)).expect("a struct of numbers");
            sent = encoded_into(std::mem::take(&mut sent), &any, order);
        }),
    });
    let floor = push_as_floor(
        all,
        decoding("a BinStruct, decoded", 0, None, &SAMPLE, order)?,
    );
    all.push(extracting(
        "an Any of a BinStruct, decoded and taken out",
        floor,
        None,
        &SAMPLE,
    )?);

    let sequence = encoding("BinStructs, encoded", 0, None, structs.clone(), order);
    let floor = push_as_floor(all, sequence);
    let (mut sent, values) = (Block::default(), structs.clone());
    all.push(Work {
        what: "an Any of 1,024 BinStructs, made and encoded",
        floor,
        goal: None,
        run: Box::new(move || {
            let any = Any::new(black_box(&values)).expect("structs of numbers");
            sent = encoded_into(std::mem::take(&mut sent), &any, order);
        }),
    });
    let floor = push_as_floor(
        all,
        decoding("BinStructs, decoded", 0, None, &structs, order)?,
    );
    let what = "an Any of 1,024 BinStructs, decoded and taken out";
    all.push(extracting(what, floor, None, &structs)?);
    Ok(())
}

fn floor_of(all: &[Work]) -> usize {
    all.last().map_or(0, |last| last.floor)
}

/// Adds a floor, and returns its number.
fn push_floor(all: &mut Vec<Work>, run: impl FnMut() + 'static) -> usize {
    let work = Work {
        what: "floor",
        floor: 0,
        goal: None,
        run: Box::new(run),
    };
    push_as_floor(all, work)
}

fn push_as_floor(all: &mut Vec<Work>, work: Work) -> usize {
    let floor = all.len();
    all.push(Work { floor, ..work });
    floor
}

/// Adds the floor of copying so many bytes at once.
fn copied(all: &mut Vec<Work>, size: usize) {
    let (octets, mut sent) = (vec![0x5a_u8; size], Vec::new());
    push_floor(all, move || {
        sent.clear();
        sent.extend_from_slice(black_box(&octets));
        black_box(&sent);
    });
}

fn encoding<T: Marshal + 'static>(
    what: &'static str,
    floor: usize,
    goal: Option<f64>,
    value: T,
    order: ByteOrder,
) -> Work {
    let mut sent = Block::default();
    let run = Box::new(move || {
        sent = encoded_into(std::mem::take(&mut sent), black_box(&value), order);
    });
    Work {
        what,
        floor,
        goal,
        run,
    }
}

fn viewing<T: Unmarshal + Marshal + 'static>(
    what: &'static str,
    floor: usize,
    goal: Option<f64>,
    values: &Vec<T>,
    order: ByteOrder,
) -> Result<Work> {
    let received = encoded(values, order)?;
    let run = Box::new(move || {
        let mut input = Decoder::new(&received, order, Coding::default());
        let seen = unmarshal_slice::<T>(&mut input).expect("what was encoded");
        black_box(&*seen);
    });
    Ok(Work {
        what,
        floor,
        goal,
        run,
    })
}

fn decoding<T: Unmarshal + Marshal + 'static>(
    what: &'static str,
    floor: usize,
    goal: Option<f64>,
    value: &T,
    order: ByteOrder,
) -> Result<Work> {
    let received = encoded(value, order)?;
    let run = Box::new(move || {
        let mut input = Decoder::new(&received, order, Coding::default());
        black_box(T::unmarshal(&mut input).expect("what was encoded"));
    });
    Ok(Work {
        what,
        floor,
        goal,
        run,
    })
}

fn extracting<T: punctual::Typed + Unmarshal + Marshal + 'static>(
    what: &'static str,
    floor: usize,
    goal: Option<f64>,
    value: &T,
) -> Result<Work> {
    let order = ByteOrder::NATIVE;
    let received = encoded(&Any::new(value)?, order)?;
    let run = Box::new(move || {
        let mut input = Decoder::new(&received, order, Coding::default());
        let any = Any::unmarshal(&mut input).expect("what was encoded");
        black_box(any.extract::<T>().expect("the value of the Any"));
    });
    Ok(Work {
        what,
        floor,
        goal,
        run,
    })
}

/// Encodes a value into the memory of a block.
fn encoded_into(mut block: Block, value: &impl Marshal, order: ByteOrder) -> Block {
    block.clear();
    let mut out = Encoder::new(block, order, Coding::default());
    value.marshal(&mut out).expect("a value of the sample's");
    black_box(out.into_block())
}

fn encoded(value: &impl Marshal, order: ByteOrder) -> Result<Block> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    value.marshal(&mut out)?;
    Ok(out.into_block())
}
