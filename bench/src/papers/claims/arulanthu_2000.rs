//! Claims of Arulanthu et al. 2000.

use crate::papers::claim::{Claim, Found, by};
use serde_json::json;

const PAPER: &str = "Arulanthu et al. 2000";

pub(super) const CLAIMS: &[Claim] = &[
    by(
        "ami",
        (PAPER, "table 1"),
        "asynchronous calls with reply handlers have the latency of synchronous ones",
        "479 beside 497 µs, 0.96 ×",
        |e| {
            let ours =
                |name: &str| e.figure("latency", &[("contender", json!(name))], "beside_smi");
            let (by_sender, by_thread) = (ours("ami-reactor")?, ours("ami")?);
            let poller = ours("poller")?;
            let found = Found::judged(
                format!(
                    "{by_sender:.2} × where the sending thread reads replies, as the paper's does; {by_thread:.2} × where another \
                     one does, as by default; by a poller {poller:.2} ×"
                ),
                by_sender < 1.1,
                "the thread waits for any of its connections before it reads the one that has a reply",
            )?;
            let omniorb = |name: &str| {
                e.aside()
                    .figure("latency", &[("contender", json!(name))], "average")
            };
            let omniorb = || {
                Ok(format!(
                    "{:.2} ×",
                    omniorb("omniorb-ami")? / omniorb("omniorb")?
                ))
            };
            Ok(found.beside(omniorb()))
        },
    ),
    by(
        "ami",
        (PAPER, "table 1"),
        "deferred synchronous calls by the DII take longer",
        "573 beside 497 µs, 1.15 ×",
        |e| {
            let dii = [("contender", json!("dii-deferred"))];
            let ratio = e.figure("latency", &dii, "beside_smi")?;
            Found::judged(
                format!("{ratio:.2} ×"),
                ratio > 1.03,
                "preparing a request costs little beside the round trip",
            )
        },
    ),
    by(
        "ami",
        (PAPER, "table 2"),
        "asynchronous calls have more throughput than the best synchronous client",
        "8,524 beside 7,080 calls a second, 1.2 ×",
        |e| {
            let ami = [("contender", json!("ami"))];
            let (rate, ratio) = (
                e.figure("throughput", &ami, "rate")?,
                e.figure("throughput", &ami, "beside_best_smi")?,
            );
            let found = Found::judged(
                format!("{rate:.0} a second, {ratio:.1} ×"),
                ratio > 1.1,
                "they have no more",
            )?;
            let omniorb = |name: &str| {
                e.aside()
                    .figure("throughput", &[("contender", json!(name))], "rate")
            };
            let omniorb = || {
                let (asynchronous, one) = (omniorb("omniorb-ami")?, omniorb("omniorb")?);
                Ok(format!(
                    "{asynchronous:.0} a second, {:.1} × one thread",
                    asynchronous / one
                ))
            };
            Ok(found.beside(omniorb()))
        },
    ),
    by(
        "ami",
        (PAPER, "table 2"),
        "a synchronous client with very many threads is far slower than one with few",
        "220 threads 1,914, 7 threads 7,080 calls a second",
        |e| {
            let rate = |name: &str| e.figure("throughput", &[("contender", json!(name))], "rate");
            let (many, few) = (rate("smi220")?, rate("smi7")?);
            Found::judged(
                format!("220 threads {many:.0}, 7 threads {few:.0}"),
                many < few * 0.7,
                "a connection is shared without a lock that all wait for, and switching threads is cheap today",
            )
        },
    ),
];
