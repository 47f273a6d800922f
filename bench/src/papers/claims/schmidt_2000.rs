//! Claims of Schmidt 2000.

use crate::papers::claim::{Claim, Found, Verdict, by};
use crate::papers::figures::{dispatched, p50, program, urgent};
use serde_json::json;

const PAPER: &str = "Schmidt 2000";

pub(super) const CLAIMS: &[Claim] = &[
    by(
        "inversion",
        (PAPER, "priority inversion"),
        "with a lane for each priority, an urgent client does not notice how many others there are",
        "level, while other ORBs' latency grows with the number of clients",
        |e| urgent(e, "lanes", 1.25),
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
            Found::judged(
                format!("lanes: {}; pool: {}", lanes.ours, pool.ours),
                is_level(&lanes) && !is_level(&pool),
                "either both are level, or the lanes are not",
            )
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
            let ours = p50(e, "punctual", "cube_void")?;
            let orb = (ours - p50(e, "raw-tcp", "cube_void")?).max(0.0);
            Ok(Found::of_its_time(format!(
                "{:.2} µs beside a raw socket",
                orb / 1000.0
            )))
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
            Found::judged(
                format!(
                    "a server of {minimum:.0} KiB where one by default has {usual:.0}, {saved:.0} %; {all:.0} with all features"
                ),
                saved >= 20.0,
                "it makes less of a difference",
            )
        },
    ),
];
