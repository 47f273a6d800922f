//! Claims of Schmidt et al. 2001.

use crate::papers::claim::{Claim, Found, by};
use crate::papers::evidence::Evidence;
use crate::papers::figures::{
    CLIENT, Gain, Lending, OverSockets, SERVER, micros, nanos, octets, p50, stages, system_share,
};

const PAPER: &str = "Schmidt et al. 2001";

/// Reason why shorter messages gain nothing.
const LENGTH_IS_FREE: &str =
    "a packet takes the same time today whether it has 15 bytes more or less";

pub(super) const CLAIMS: &[Claim] = &[
    by(
        "cubit",
        (PAPER, "figure 16"),
        "Unix sockets (UIOP) are faster than TCP (IIOP) for all types of data",
        "20 to 50 %",
        |e| {
            let gain = Gain::of(e, "uiop", "iiop")?;
            let found = Found::judged(
                gain.to_string(),
                gain.least > 0.0,
                "some types gain nothing: TCP in loopback is nearly as fast today",
            )?;
            Ok(found.beside(Gain::of_omniorb(e).map(|gain| gain.to_string())))
        },
    ),
    by(
        "cubit",
        (PAPER, "figure 16"),
        "GIOPlite is faster than GIOP over TCP, by a small margin",
        "0.36 to 4.74 %, 2.74 % on average",
        |e| {
            let gain = Gain::of(e, "giop_lite+iiop", "iiop")?;
            let is_small = (0.0..5.0).contains(&gain.mean) && gain.mean > 0.0;
            Found::judged(gain.to_string(), is_small, LENGTH_IS_FREE)
        },
    ),
    by(
        "cubit",
        (PAPER, "figure 16"),
        "GIOPlite gains slightly more over Unix sockets",
        "0.37 to 5.29 %, 3.26 % on average",
        |e| {
            let gain = Gain::of(e, "giop_lite+uiop", "uiop")?;
            let over_tcp = Gain::of(e, "giop_lite+iiop", "iiop")?;
            let is_more = gain.mean > 0.0 && gain.mean > over_tcp.mean;
            Found::judged(gain.to_string(), is_more, LENGTH_IS_FREE)
        },
    ),
    by(
        "timeprobes",
        (PAPER, "tables 1 and 2"),
        "time of each stage of a call at the client and at the server, receiving and sending apart",
        "client 0.7 to 50.7 µs a stage, 91 µs in all; server 1.4 to 93.6 µs, 146 µs in all",
        |e| {
            let client = stages(e, CLIENT)?;
            let server = stages(e, SERVER)?;
            Ok(Found::of_its_time(format!(
                "client {client}; server {server}"
            )))
        },
    ),
    by(
        "timeprobes",
        (PAPER, "figure 18"),
        "by the probes, the ORB has nearly half of a round trip, and the operating system the rest",
        "just over 50 % for the operating system, over TCP",
        |e| {
            let over = |run| system_share(e, run);
            let (tcp, unix) = (over("punctual same")?, over("punctual-uiop same")?);
            Found::judged(
                format!(
                    "messages are under way for {tcp:.0} % of a call over TCP, {unix:.0} % over Unix sockets"
                ),
                (50.0..=65.0).contains(&tcp),
                "the ORB's own part of a call is far smaller than the sockets' today",
            )
        },
    ),
    by(
        "cubit",
        (PAPER, "figure 18"),
        "the operating system takes just over half of a void call over TCP, by either messaging protocol",
        "just over 50 %; a plot of four protocols",
        |e| {
            let mut shares = Vec::new();
            let mut shown = Vec::new();
            for one in OverSockets::of_all(e)? {
                shares.push(one.share());
                shown.push(one.to_string());
            }
            let found = Found::judged(
                shown.join("; "),
                shares[..2]
                    .iter()
                    .all(|share| (50.0..=65.0).contains(share)),
                "the ORB's own part of a call is far smaller than the sockets' today",
            )?;
            let omniorb = OverSockets::of_omniorb(&e.aside());
            Ok(found.beside(omniorb.map(|[tcp, unix]| format!("{tcp}; {unix}"))))
        },
    ),
    by(
        "cubit",
        (PAPER, "figure 18"),
        "the ORB takes as long over each of the four protocols; what TCP takes longer than Unix sockets is the operating system's",
        "generally constant",
        |e| {
            let all = OverSockets::of_all(e)?;
            let orb = || all.iter().map(OverSockets::orb);
            let apart = orb().fold(0.0, f64::max) - orb().fold(f64::INFINITY, f64::min);
            let links = all[0].system - all[2].system;
            Found::judged(
                format!(
                    "the ORB's times lie {} apart, those of the sockets {}",
                    nanos(apart),
                    nanos(links)
                ),
                apart < links / 2.0,
                "differences of the ORB's times, each a difference of two medians, are as small as those of the rounds",
            )
        },
    ),
    by(
        "latency",
        (PAPER, "abstract"),
        "a round trip in loopback takes some 189 µs on a Pentium II of 400 MHz",
        "189 µs",
        |e| {
            let ours = p50(e, "punctual", "cube_void")?;
            let of = |name| p50(&e.aside(), name, "cube_void").map(micros);
            let shown = format!("{}; a raw socket {}", micros(ours), of("raw-tcp")?);
            Ok(Found::of_its_time(shown).beside(of("omniorb")))
        },
    ),
    by(
        "latency",
        (PAPER, "figure 19"),
        "what the operating system takes grows faster with the size of a parameter than what the ORB takes",
        "a plot; both grow a little from 256 octets on, from where TAO does not copy",
        |e| {
            let added = |e: &Evidence<'_>, who: &str, units: u64| {
                let of = |who| p50(e, who, &format!("take_octets:{units}"));
                let system = of("raw-tcp")?;
                Ok::<_, String>((system, of(who)? - system))
            };
            let [small, middle, large] = [1, 256, 16_384].map(|units| added(e, "punctual", units));
            let (small, middle, large) = (small?, middle?, large?);
            let found = Found::judged(
                format!(
                    "sockets alone {}, {}, {} with 1, 256 and 16,384 octets; the ORB {}, {}, {} more",
                    micros(small.0),
                    micros(middle.0),
                    micros(large.0),
                    micros(small.1),
                    micros(middle.1),
                    micros(large.1)
                ),
                large.0 - small.0 > large.1 - small.1,
                "the ORB copies octets into the message, which the socket copies once more",
            )?;
            let omniorb = |units| Ok::<_, String>(micros(added(&e.aside(), "omniorb", units)?.1));
            let omniorb =
                || Ok([omniorb(1)?, omniorb(256)?, omniorb(16_384)?].join(", ") + " more");
            Ok(found.beside(omniorb()))
        },
    ),
    by(
        "lent",
        (PAPER, "figure 19"),
        "from some size on, which can be configured, it is faster not to copy",
        "256 octets by default",
        |e| {
            let lending = Lending::of(e)?;
            Found::judged(
                lending.to_string(),
                lending.pays_from().is_some(),
                "the largest size that was measured is still as fast copied",
            )
        },
    ),
    by(
        "lent",
        (PAPER, "figure 19"),
        "the size from which the ORB lends by default is near the best one of the machine",
        "256 octets by default",
        |e| {
            let lending = Lending::of(e)?;
            let usual = lending.usual;
            let shown = lending.pays_from().map_or_else(
                || "no size is faster lent".to_owned(),
                |best| format!("{} and more are faster lent", octets(best)),
            );
            Found::judged(
                format!("{shown}; the ORB lends from {} on", octets(usual)),
                lending.is_near_best(),
                "it depends on the machine: `lend_threshold` of shmiop sets it",
            )
        },
    ),
];
