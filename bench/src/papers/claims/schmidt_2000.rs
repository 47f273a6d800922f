//! Claims of Schmidt 2000.

use crate::papers::claim::{Claim, Found, Verdict, by};
use crate::papers::figures::{Growth, copies, dispatched, micros, p50, program, urgent};
use serde_json::json;

const PAPER: &str = "Schmidt 2000";

/// Growth below which latency and jitter beside clients with a priority each count as level.
const LEVEL: f64 = 1.5;

/// Returns why a figure grows with the number of clients that are released at the same time, by that of raw sockets.
fn growth_beside(floor: &Growth) -> &'static str {
    match floor.times() < LEVEL {
        true => "it grows with their number",
        false => {
            "it grows with their number, with raw sockets, too: all clients wake up at the same moment"
        }
    }
}

pub(super) const CLAIMS: &[Claim] = &[
    by(
        "inversion",
        (PAPER, "priority inversion"),
        "with a lane for each priority, an urgent client does not notice how many others there are",
        "level, while other ORBs' latency grows with the number of clients",
        |e| {
            let omniorb = Growth::of(e, "omniorb", "high.mean");
            Ok(urgent(e, "lanes", 1.25)?.beside(omniorb.map(|growth| growth.to_string())))
        },
    ),
    by(
        "priorities",
        (PAPER, "ORB and operating system, latency"),
        "with a priority for each of up to 50 clients, a real-time operating system keeps the latency of the highest level",
        "plots: level on LynxOS, growing with the number of clients on others",
        |e| {
            let ours = Growth::of(e, "lanes", "high.mean")?;
            let floor = Growth::of(e, "floor", "high.mean")?;
            Found::judged(
                format!("{ours}; raw sockets: {floor}"),
                ours.times() < LEVEL,
                growth_beside(&floor),
            )
        },
    ),
    by(
        "priorities",
        (PAPER, "ORB and operating system, jitter"),
        "and its jitter",
        "plots: level on LynxOS, growing with the number of clients on others",
        |e| {
            let ours = Growth::of(e, "lanes", "high.jitter")?;
            let floor = Growth::of(e, "floor", "high.jitter")?;
            Found::judged(
                format!("{ours}; raw sockets {}", micros(floor.crowded)),
                ours.times() < LEVEL,
                growth_beside(&floor),
            )
        },
    ),
    by(
        "priorities",
        (PAPER, "ORB and operating system, low clients"),
        "low clients wait for those of higher priorities",
        "plots: they grow with the number of clients",
        |e| {
            let ours = Growth::of(e, "lanes", "low_ones.mean")?;
            let floor = Growth::of(e, "floor", "low_ones.mean")?;
            Found::judged(
                format!(
                    "{} of a single one, {} on average of {}; raw sockets {}",
                    micros(ours.alone),
                    micros(ours.crowded),
                    ours.many,
                    micros(floor.crowded)
                ),
                ours.times() > 1.5,
                "they hardly meet: the processor is idle most of the time",
            )
        },
    ),
    by(
        "priorities",
        (PAPER, "ORB and operating system, overhead"),
        "what the ORB adds to the operating system's time does not depend on the number of clients",
        "relatively constant, some 49 µs",
        |e| {
            let mut added = Growth::of(e, "lanes", "high.mean")?;
            let floor = Growth::of(e, "floor", "high.mean")?;
            added.alone -= floor.alone;
            added.crowded -= floor.crowded;
            if added.alone < 0.0 || added.crowded < 0.0 {
                let why = format!(
                    "raw sockets took longer than the ORB in this run ({added}): their own latency varies by more than it adds"
                );
                return Err(why);
            }
            Found::judged(
                added.to_string(),
                added.crowded - added.alone < 2000.0,
                "it grows; why is not known, as there are no counters of cache misses here",
            )
        },
    ),
    by(
        "pools",
        (PAPER, "thread pools"),
        "lanes keep an urgent client from waiting behind others; a pool without lanes does not",
        "level with lanes",
        |e| {
            let lanes = urgent(e, "lanes", 1.25)?;
            let pool = urgent(e, "pool", 1.25)?;
            let is_level = |found: &Found| found.verdict == Verdict::Holds;
            let found = Found::judged(
                format!("lanes: {}; pool: {}", lanes.ours, pool.ours),
                is_level(&lanes) && !is_level(&pool),
                "either both are level, or the lanes are not",
            )?;
            let omniorb = Growth::of(e, "omniorb", "high.mean");
            Ok(found.beside(omniorb.map(|growth| growth.to_string())))
        },
    ),
    by(
        "cubit",
        (PAPER, "GIOP and GIOPlite"),
        "GIOPlite saves 15 bytes a request, and gains next to nothing",
        "2,906 and 2,943 calls a second, 1.3 %",
        |e| {
            let void = [
                ("contender", json!("giop_lite+iiop")),
                ("operation", json!("void")),
            ];
            let gain = e.figure("figure_16", &void, "gain_percent")?;
            Found::judged(
                format!("{gain:+.1} % for a void call"),
                gain.abs() < 5.0,
                "the difference is larger",
            )
        },
    ),
    by(
        "latency",
        (PAPER, "ORB and operating system"),
        "the ORB takes 49 µs of a two-way call",
        "49 µs",
        |e| {
            let orb = |who| {
                let added = p50(e, who, "cube_void")? - p50(e, "raw-tcp", "cube_void")?;
                Ok::<_, String>(format!("{:.2} µs", added.max(0.0) / 1000.0))
            };
            let shown = orb("punctual")? + " more than a raw socket";
            Ok(Found::of_its_time(shown).beside(orb("omniorb")))
        },
    ),
    by(
        "dispatching",
        (PAPER, "event dispatching"),
        "with a thread for each level, urgent consumers get events as soon beside others that compute",
        "plots without numbers",
        |e| {
            let growth = dispatched(e, "threads")?;
            Found::judged(
                format!("the 99th percentile beside the load is {growth:.2} × that without"),
                growth < 1.3,
                "the machine's own interruptions are longer than what the load adds",
            )
        },
    ),
    by(
        "dispatching",
        (PAPER, "event dispatching"),
        "with a single thread, urgent consumers wait for others that compute",
        "plots without numbers",
        |e| {
            let growth = dispatched(e, "single")?;
            Found::judged(
                format!("the 99th percentile beside the load is {growth:.2} × that without"),
                growth > 1.3,
                "the load is too small to be waited for",
            )
        },
    ),
    by(
        "footprint",
        (PAPER, "minimum CORBA"),
        "leaving out what minimum CORBA leaves out makes the ORB a quarter smaller",
        "862 → 640 KB, 26 %",
        |e| {
            let [all, usual, minimum] = ["all", "usual", "minimum"].map(|set| program(e, set));
            let (all, usual, minimum) = (all?, usual?, minimum?);
            // All features have more than minimum CORBA leaves out: TLS, bridges, groups.
            let saved = (1.0 - minimum / usual) * 100.0;
            let found = Found::judged(
                format!(
                    "a server of {minimum:.0} KiB with its libraries where one by default has {usual:.0}, {saved:.0} %; {all:.0} with all features"
                ),
                saved >= 20.0,
                "it makes less of a difference",
            )?;
            let omniorb = program(e, "omniORB");
            Ok(found.beside(omniorb.map(|all| format!("{all:.0} KiB"))))
        },
    ),
    by(
        "copies",
        (PAPER, "data copies"),
        "processors copy a parameter four times between the caller's memory and the servant's: marshaled, sent, received, demarshaled",
        "4, and one by the bus",
        |e| {
            let sent = copies(e, "punctual", "take_octets:65536", "client")?;
            let received = copies(e, "punctual", "take_octets:65536", "server")?;
            let found = Found::judged(
                format!(
                    "64 KiB of octets: {sent:.2} by the client's ORB and {received:.2} by the server's, \
                     by the C library's functions; beside one by the kernel at each end of a socket"
                ),
                (sent + received - 2.0).abs() < 0.2,
                "a client sends long arguments from where they lie, and a servant reads them where they were received",
            )?;
            let omniorb =
                ["client", "server"].map(|side| copies(e, "omniorb", "take_octets:65536", side));
            let [sent, received] = omniorb;
            Ok(found.beside(sent.and_then(|sent| Ok(format!("{sent:.2} and {:.2}", received?)))))
        },
    ),
    by(
        "copies",
        (PAPER, "data copies, of a result"),
        "and a result as often on its way back",
        "4, and one by the bus",
        |e| {
            // The request is copied as above, so that the rest is the reply's.
            let back = |case, side| {
                let there = copies(e, "punctual", "take_octets:65536", side)?;
                Ok::<_, String>(copies(e, "punctual", case, side)? - there)
            };
            let [server, client] = ["server", "client"].map(|side| back("echo_octets:65536", side));
            let (server, client) = (server?, client?);
            let into = back("echo_octets_into:65536", "client")?;
            Found::judged(
                format!(
                    "{server:.2} by the server, whose servant copies its argument for the result, {client:.2} by the client, \
                     {into:.2} into a buffer of the caller's"
                ),
                (server - 1.0 + client - 2.0).abs() < 0.2,
                "a long result is sent from the servant's memory, and copied once into the caller's",
            )
        },
    ),
    by(
        "complexity",
        (PAPER, "benefits of patterns"),
        "most components have a cyclomatic complexity below 10",
        "a plot: v(G) < 10 for most",
        |e| {
            let all = |name| e.figure("rows", &[("folder", json!("all"))], name);
            let simple = all("simple_percent")?;
            let (mean, functions, most) = (all("mean")?, all("functions")?, all("most")?);
            Found::judged(
                format!(
                    "{simple:.1} % of {functions:.0} functions, {mean:.1} on average, {most:.0} at most"
                ),
                simple > 90.0,
                "too many functions have more paths",
            )
        },
    ),
];
