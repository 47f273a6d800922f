//! Claims of O'Ryan et al. 2001.

use crate::papers::claim::{Claim, Found, by};
use crate::papers::figures::{beside, micros, reliable};
use serde_json::json;

const PAPER: &str = "O'Ryan et al. 2001";

pub(super) const CLAIMS: &[Claim] = &[
    by(
        "start",
        (PAPER, "rate groups"),
        "one ORB with an endpoint for each of four rate groups takes less memory than an ORB for each",
        "a relatively large footprint, without numbers",
        |e| {
            let of = |contender, name| {
                let wanted = [("contender", json!(contender)), ("what", json!("replies"))];
                e.figure("rows", &wanted, name)
            };
            let kibibytes = |contender| Ok::<_, String>(of(contender, "anonymous")? / 1024.0);
            let (lanes, orbs) = (kibibytes("lanes")?, kibibytes("orb-a-thread")?);
            let (first, second) = (of("lanes", "p50")?, of("orb-a-thread", "p50")?);
            Found::judged(
                format!(
                    "{lanes:.0} KiB of the process's own beside {orbs:.0}; first reply after {} and {}",
                    micros(first),
                    micros(second)
                ),
                lanes < orbs,
                "most of either is what a process has of its own without an ORB",
            )
        },
    ),
    by(
        "endpoints",
        (PAPER, "figures 14 and 15"),
        "one ORB with an endpoint for each priority serves an urgent client as well as an ORB a thread",
        "as low, and as level",
        |e| {
            let (_, most) = e.ends("rows", "low")?;
            let mean = |contender| beside(e, contender, most, "high.mean");
            let (lanes, apart) = (mean("lanes")?, mean("orb-a-thread")?);
            Found::judged(
                format!(
                    "{} beside {most} low clients, an ORB a thread {}",
                    micros(lanes),
                    micros(apart)
                ),
                lanes / apart < 1.1,
                "it is slower, for a reason that is not known",
            )
        },
    ),
    by(
        "oneway",
        (PAPER, "figure 16"),
        "buffering more than doubles the throughput of one-ways",
        "more than 2 ×",
        |e| {
            let wanted = [
                ("figure", json!("buffered")),
                ("octets", json!(64)),
                ("placement", json!("same")),
                ("kind", json!("buffered by 100")),
            ];
            let ratio = e.figure("rows", &wanted, "ratio")?;
            Found::judged(
                format!("{ratio:.1} × requests of 64 bytes that leave one by one, 100 to a buffer"),
                ratio > 2.0,
                "one-ways cost too little by themselves",
            )
        },
    ),
    by(
        "oneway",
        (PAPER, "figure 17"),
        "SYNC_WITH_SERVER has half as much throughput again as two-way calls",
        "more than 1.5 ×",
        |e| {
            let ratio = reliable(e, "SYNC_WITH_SERVER", "cross")?;
            Found::judged(
                format!("{ratio:.2} ×, with a processor each"),
                ratio > 1.5,
                "what follows in a two-way call when its servant is found takes less than a third of it",
            )
        },
    ),
    by(
        "oneway",
        (PAPER, "figure 17"),
        "SYNC_WITH_TARGET has the throughput of two-way calls",
        "1 ×",
        |e| {
            let ratio = reliable(e, "SYNC_WITH_TARGET", "cross")?;
            Found::judged(
                format!("{ratio:.2} ×, with a processor each"),
                (0.85..1.15).contains(&ratio),
                "it differs from a two-way call",
            )
        },
    ),
];
