//! Claims of Gokhale and Schmidt 1998.

use crate::papers::claim::{Claim, Found, by};
use crate::papers::evidence::Evidence;
use crate::papers::figures::{
    ByData, CLIENT, Orders, SERVER, Served, Sweep, by_data, by_dii, demultiplexed, micros, p50,
    stage_shares,
};

const PAPER: &str = "Gokhale and Schmidt 1998";

/// Reason why calls by the DII are hardly slower.
const DII_PREPARES: &str =
    "a request object keeps what it prepares, and values are copied as octets";
/// Reason why marshaling takes little.
const SHUFFLED: &str = "structures of numbers are written by the processor's shuffles, nearly as fast as they are copied";

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
                e.lies(worst / most, 1.05..f64::INFINITY),
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
                e.lies(worst / random, 1.1..f64::INFINITY),
                "comparing names takes little beside a round trip",
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
            let level = |e: &Evidence<'_>, who: &str, most: u64| {
                let one = demultiplexed(e, who, "random", least, 100)?;
                let many = demultiplexed(e, who, "random", most, 100)?;
                let ordered = |how| demultiplexed(e, who, how, 500, 100);
                let (random, worst) = (ordered("random")?, ordered("worst_case")?);
                let shown = format!(
                    "{} with {least} object, {} with {most}; of 500, {} at random, {} at worst",
                    micros(one),
                    micros(many),
                    micros(random),
                    micros(worst)
                );
                let is_level = e.lies(many / one, 0.0..1.15);
                Ok::<_, String>((shown, is_level && (0.87..1.15).contains(&(worst / random))))
            };
            let (ours, is_level) = level(e, "active", most)?;
            let found = Found::judged(
                ours,
                is_level,
                "calls to many objects take longer; why is not known, as there are no counters of cache misses here",
            )?;
            let omniorb = level(&e.aside(), "omniorb", 10_000);
            Ok(found.beside(omniorb.map(|(shown, _)| shown)))
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9, two-way by stubs"),
        "request trains take as long as round robin, and neither takes longer with more servants",
        "essentially identical; VisiBroker level, Orbix, which searches, 1.12 × for each 100 servants",
        |e| {
            let omniorb = Orders::of(&e.aside(), "omniorb", true);
            let found = Orders::of(e, "active", true)?.judged(e)?;
            Ok(found.beside(omniorb.map(|orders| orders.to_string())))
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9, two-way by the DII"),
        "the same of calls by the DII",
        "essentially identical; VisiBroker level, Orbix growing",
        |e| Orders::of(e, "dii", true)?.judged(e),
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9, one-way by stubs"),
        "the same of one-ways",
        "essentially identical; VisiBroker level, Orbix longer than two-way calls from 200 servants on",
        |e| {
            let omniorb = Orders::of(&e.aside(), "omniorb", false);
            let found = Orders::of(e, "active", false)?.judged(e)?;
            Ok(found.beside(omniorb.map(|orders| orders.to_string())))
        },
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9, one-way by the DII"),
        "the same of one-ways by the DII",
        "essentially identical; VisiBroker level, Orbix longer than two-way calls from 200 servants on",
        |e| Orders::of(e, "dii", false)?.judged(e),
    ),
    by(
        "demux",
        (PAPER, "figures 6 to 9"),
        "two-way calls by the DII take longer than those by stubs where each has a new request",
        "Orbix 2.6 × as long; VisiBroker, with requests that are used again, as long",
        |e| {
            let (stubs, dynamic) = (
                demultiplexed(e, "active", "random", 100, 100)?,
                demultiplexed(e, "dii", "random", 100, 100)?,
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
        "latency",
        (PAPER, "figure 10"),
        "ORBs make half as many calls as raw sockets",
        "VisiBroker 50 %, Orbix 46 %",
        |e| {
            let share = |who| {
                let raw = p50(e, "raw-tcp", "cube_void")?;
                Ok::<_, String>(raw / p50(e, who, "cube_void")? * 100.0)
            };
            let ours = share("punctual")?;
            let found = Found::judged(
                format!("{ours:.0} %"),
                (40.0..60.0).contains(&ours),
                "the ORB's own part of a call is far smaller than the sockets' today",
            )?;
            Ok(found.beside(share("omniorb").map(|share| format!("{share:.0} %"))))
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
        (PAPER, "figures 11 to 14"),
        "one-ways with 1 to 1,024 octets take the longer, the more are sent, and longer by the DII",
        "linear; Orbix's DII nearly double VisiBroker's",
        |e| Sweep::of(e, "throw_octets")?.judged(),
    ),
    by(
        "latency",
        (PAPER, "figures 15 to 18"),
        "the same of one-ways with BinStructs",
        "linear; Orbix's DII 5.6 × VisiBroker's, with 500 servants",
        |e| Sweep::of(e, "throw_bin_structs")?.judged(),
    ),
    by(
        "latency",
        (PAPER, "figures 19 to 22"),
        "the same of two-way calls with octets",
        "linear; the DII 3 × as long by Orbix, comparable by VisiBroker",
        |e| Sweep::of(e, "take_octets")?.judged(),
    ),
    by(
        "latency",
        (PAPER, "figures 23 to 26"),
        "the same of two-way calls with BinStructs",
        "linear; the DII 14 × as long by Orbix, 4 × by VisiBroker",
        |e| Sweep::of(e, "take_bin_structs")?.judged(),
    ),
    by(
        "marshaling",
        (PAPER, "figures 27 and 28, sender"),
        "a sender of 1,024 BinStructs spends more than half of its time on the system call, and nearly all of the rest on marshaling",
        "Orbix: write 73 %, marshaling and copies 25 %; VisiBroker 56 % and 42 %",
        |e| {
            let [send, marshal] = stage_shares(e, CLIENT, ["I/O: send", "parameter marshal"])?;
            Found::judged(
                format!(
                    "sending {send:.0} %, marshaling {marshal:.0} %, by the time probes, without waiting"
                ),
                send > 50.0 && marshal > 0.8 * (100.0 - send),
                SHUFFLED,
            )
        },
    ),
    by(
        "marshaling",
        (PAPER, "figures 27 and 28, receiver"),
        "a receiver spends most of its time on demarshaling",
        "72 %",
        |e| {
            let wanted = ["I/O: send", "parameter demarshal"];
            let [send, demarshal] = stage_shares(e, SERVER, wanted)?;
            Found::judged(
                format!(
                    "demarshaling {demarshal:.0} %, sending the reply {send:.0} %, by the time probes, without receiving"
                ),
                demarshal > 50.0,
                SHUFFLED,
            )
        },
    ),
    by(
        "instructions",
        (PAPER, "figures 27 and 28, without the system"),
        "of what is not the system's, nearly all is marshaling and demarshaling",
        "sender 25 of 27 % (Orbix) and 42 of 44 % (VisiBroker)",
        |e| {
            let both =
                |who| Ok::<_, String>([by_data(e, who, "client")?, by_data(e, who, "server")?]);
            let shown =
                |[client, server]: &[ByData; 2]| format!("client {client}, server {server}");
            let ours = both("punctual")?;
            let found = Found::judged(
                format!(
                    "instructions more than a void call's, of all, with 1,024 BinStructs: {}",
                    shown(&ours)
                ),
                ours.iter().all(|side| side.share() > 0.8),
                "the rest of a call is a good part of its instructions",
            )?;
            Ok(found.beside(both("omniorb").map(|its| shown(&its))))
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
