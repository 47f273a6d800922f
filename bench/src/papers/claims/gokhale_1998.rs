//! Claims of Gokhale and Schmidt 1998.

use crate::papers::claim::{Claim, Found, by};
use crate::papers::figures::{Served, by_dii, call_time, demultiplexed, micros, p50};

const PAPER: &str = "Gokhale and Schmidt 1998";

/// Reason why calls by the DII are hardly slower.
const DII_PREPARES: &str =
    "a request object keeps what it prepares, and values are copied as octets";

pub(super) const CLAIMS: &[Claim] = &[
    by(
        "demux",
        (PAPER, "figures 31 and 32"),
        "linear search takes longest",
        "a plot, 500 objects of 100 operations",
        |e| {
            let linear = |how| demultiplexed(e, "linear", how, 500, 100);
            let worst = linear("worst_case")?;
            let mut others = Vec::new();
            for strategy in ["active", "dynamic_hash", "perfect_hash", "de_layered"] {
                others.push(demultiplexed(e, strategy, "worst_case", 500, 100)?);
            }
            let most = others.into_iter().fold(0.0, f64::max);
            Found::judged(
                format!(
                    "{} at worst; the others up to {}",
                    micros(worst),
                    micros(most)
                ),
                worst > 1.05 * most,
                "comparing names takes little beside a round trip",
            )
        },
    ),
    by(
        "demux",
        (PAPER, "figures 31 and 32"),
        "the worst case of linear search is far above random calls",
        "1.87 × random, 500 objects of 100 operations",
        |e| {
            let linear = |how| demultiplexed(e, "linear", how, 500, 100);
            let (worst, random) = (linear("worst_case")?, linear("random")?);
            Found::judged(
                format!(
                    "{:.2} ×, {} beside {}",
                    worst / random,
                    micros(worst),
                    micros(random)
                ),
                worst / random > 1.1,
                "random calls find less in the processor's caches, which takes as long as the longer search",
            )
        },
    ),
    by(
        "demux",
        (PAPER, "figures 31 and 32"),
        "active demultiplexing does not depend on the number of objects, nor on the order of calls",
        "level",
        |e| {
            let (least, most) = e.ends("rows", "objects")?;
            let one = demultiplexed(e, "active", "random", least, 100)?;
            let many = demultiplexed(e, "active", "random", most, 100)?;
            let ordered = |how| demultiplexed(e, "active", how, 500, 100);
            let (random, worst) = (ordered("random")?, ordered("worst_case")?);
            Found::judged(
                format!(
                    "{} with {least} object, {} with {most}; of 500, {} at random, {} at worst",
                    micros(one),
                    micros(many),
                    micros(random),
                    micros(worst)
                ),
                many / one < 1.15 && (0.87..1.15).contains(&(worst / random)),
                "calls to many objects, in any order but one, find less in the processor's caches",
            )
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9"),
        "two-way latency does not grow with the number of servants where the ORB does not search for them",
        "VisiBroker: hardly; Orbix, which searches: by 1.12 × for each 100 servants",
        |e| {
            let of = |objects| demultiplexed(e, "active", "round_robin", objects, 1);
            let (one, all) = (of(1)?, of(500)?);
            Found::judged(
                format!("{} with 1 servant, {} with 500", micros(one), micros(all)),
                (0.9..1.1).contains(&(all / one)),
                "the two differ by more than a tenth, and were measured minutes apart",
            )
        },
    ),
    by(
        "latency",
        (PAPER, "figure 10"),
        "ORBs make half as many calls as raw sockets",
        "VisiBroker 50 %, Orbix 46 %",
        |e| {
            let raw = p50(e, "raw-tcp", "cube_void")?;
            let ours = raw / p50(e, "punctual", "cube_void")? * 100.0;
            let omniorb = p50(e, "omniorb", "cube_void").map(|time| raw / time * 100.0);
            let omniorb = omniorb.map_or_else(|_| "–".to_owned(), |share| format!("{share:.0} %"));
            Found::judged(
                format!("{ours:.0} %, omniORB {omniorb}"),
                (40.0..60.0).contains(&ours),
                "the ORB's own part of a call is far smaller than the sockets' today",
            )
        },
    ),
    by(
        "latency",
        (PAPER, "§4.1"),
        "two-way calls by the DII take far longer than by stubs",
        "Orbix 2.6 ×; TAO's own about as long",
        |e| {
            let ratio = by_dii(e, "cube_void")?;
            Found::judged(format!("{ratio:.2} ×"), ratio > 1.5, DII_PREPARES)
        },
    ),
    by(
        "latency",
        (PAPER, "figures 11 to 26"),
        "the DII costs most for structures: 1,024 octets, and 1,024 BinStructs",
        "Orbix 3 × and 14 ×, VisiBroker 1 × and 4 ×",
        |e| {
            let octets = by_dii(e, "take_octets:1024")?;
            let structs = by_dii(e, "take_bin_structs:1024")?;
            Found::judged(
                format!("{octets:.2} × and {structs:.2} ×"),
                structs > 1.3 * octets && structs > 1.1,
                DII_PREPARES,
            )
        },
    ),
    by(
        "latency",
        (PAPER, "figures 11 to 28"),
        "marshaling structures costs most of a call: 1,024 BinStructs beside as many octets",
        "42 % of the sender's time are marshaling and copies (VisiBroker)",
        |e| {
            let structs = p50(e, "punctual", "take_bin_structs:1024")?;
            let floor = p50(e, "raw-tcp", "take_bin_structs:1024")?;
            let share = (structs - floor) / structs * 100.0;
            Found::judged(
                format!(
                    "{share:.0} % of {} are not the raw socket's",
                    micros(structs)
                ),
                share > 30.0,
                "structures of numbers are written by the processor's shuffles, nearly as fast as they are copied",
            )
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9"),
        "two-way calls by the DII take longer than those by stubs where each has a new request",
        "Orbix 2.6 × as long; VisiBroker, with requests that are used again, as long",
        |e| {
            let (stubs, dynamic) = (
                call_time(e, ("active", "random"), (100, 100), true)?,
                call_time(e, ("dii", "random"), (100, 100), true)?,
            );
            Found::judged(
                format!(
                    "{:.2} ×, {} beside {}, with a new request for each call",
                    dynamic / stubs,
                    micros(dynamic),
                    micros(stubs)
                ),
                dynamic / stubs > 1.1,
                "a new request is some hundred instructions beside the system calls of a round trip",
            )
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9"),
        "one-ways and calls by the DII do not take longer with more servants",
        "VisiBroker: level; Orbix: one-ways take longer than two-way calls from 200 servants on",
        |e| {
            let (least, most) = e.ends("rows", "objects")?;
            let of = |objects, two_way| call_time(e, ("dii", "random"), (objects, 100), two_way);
            let (one, many) = (of(least, true)?, of(most, true)?);
            let (one_thrown, many_thrown) = (of(least, false)?, of(most, false)?);
            Found::judged(
                format!(
                    "two-way {} with {least}, {} with {most}; one-way {} and {}",
                    micros(one),
                    micros(many),
                    micros(one_thrown),
                    micros(many_thrown)
                ),
                many / one < 1.15 && many_thrown / one_thrown < 1.15,
                "calls to many objects find less in the processor's caches",
            )
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9"),
        "request trains and round robin take as long: neither ORB keeps servants that were called lately",
        "essentially identical",
        |e| {
            let of = |how| demultiplexed(e, "active", how, 500, 1);
            let (train, round) = (of("request_train")?, of("round_robin")?);
            Found::judged(
                format!("{} and {} with 500 servants", micros(train), micros(round)),
                (0.9..1.1).contains(&(train / round)),
                "the two differ by more than a tenth",
            )
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9"),
        "one-ways by stubs do not take longer with more servants, and are shorter than two-way calls",
        "VisiBroker: level; Orbix: longer than two-way calls from 200 servants on",
        |e| {
            let of = |objects, two_way| call_time(e, ("active", "random"), (objects, 100), two_way);
            let (one, many, two_way) = (of(1, false)?, of(500, false)?, of(500, true)?);
            Found::judged(
                format!(
                    "{} with 1 servant, {} with 500; a two-way call {}",
                    micros(one),
                    micros(many),
                    micros(two_way)
                ),
                many / one < 1.15 && many < two_way,
                "calls to more objects find less in the processor's caches",
            )
        },
    ),
    by(
        "servants",
        (PAPER, "§4.4"),
        "the ORBs end with 1,000 servants: neither answers more than 80 calls of each",
        "80,000 calls at most; a leak of memory",
        |e| {
            let (_, most) = e.ends("rows", "servants")?;
            let served = Served::of(e, 1000, "two-way")?;
            let raised = Served::of(e, most, "one-way")?;
            Found::judged(
                format!("{served}; {raised}"),
                !(served.is_whole() && raised.is_whole()),
                "all calls are served, and no memory is kept of them",
            )
        },
    ),
    by(
        "latency",
        (PAPER, "figure 33"),
        "optimised marshaling gains the more, the more octets are sent: beside requests whose values TypeCodes describe",
        "1,024 octets 1.5 to 2 × as fast as SunSoft's interpreter",
        |e| {
            let (few, many) = (by_dii(e, "take_octets:1")?, by_dii(e, "take_octets:1024")?);
            Found::judged(
                format!("{few:.2} × with 1 octet, {many:.2} × with 1,024"),
                many > 1.1 * few,
                "values without stubs are copied as a run of octets as well, and are not interpreted one by one",
            )
        },
    ),
    by(
        "latency",
        (PAPER, "figure 34"),
        "and most for structures",
        "1,024 BinStructs 4 × as fast as SunSoft's interpreter",
        |e| {
            let of = |units| by_dii(e, &format!("take_bin_structs:{units}"));
            let (few, many) = (of(1)?, of(1024)?);
            Found::judged(
                format!("{few:.2} × with 1 structure, {many:.2} × with 1,024"),
                many > 1.1 * few,
                "values without stubs are copied as a run of octets as well, and are not interpreted one by one",
            )
        },
    ),
];
