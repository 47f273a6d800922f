//! Claims of the papers, each with the way to find what becomes of it here.

use super::evidence::Evidence;
use super::figures::{
    Gain, by_dii, call_time, demultiplexed, dispatched, micros, p50, reliable, urgent,
};
use serde_json::json;

/// Claim of a paper.
pub(super) struct Claim {
    pub(super) paper: &'static str,
    /// Figure, table or section.
    pub(super) place: &'static str,
    pub(super) claim: &'static str,
    /// Figures of the paper.
    pub(super) theirs: &'static str,
    /// Name of the measurement that has our figures; `None` if there is none.
    pub(super) by: Option<&'static str>,
    pub(super) find: fn(&Evidence<'_>) -> Result<Found, String>,
    /// Reason why there is no measurement.
    pub(super) without: &'static str,
}

/// Figures found for a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) ours: String,
    pub(super) verdict: Verdict,
    /// Set if rounds lay far apart, so that the verdict is not certain.
    pub(super) is_restless: bool,
}

/// What becomes of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Holds,
    /// It does not hold as the paper has it; the text says why.
    Differently(&'static str),
    /// A time of the paper's machines, which no machine of today can confirm or refute.
    OfItsTime,
}

impl Found {
    /// Makes figures with a verdict: the claim holds, or else differs because of `why`.
    pub(super) fn judged(ours: String, holds: bool, why: &'static str) -> Result<Self, String> {
        Ok(Self {
            ours,
            verdict: match holds {
                true => Verdict::Holds,
                false => Verdict::Differently(why),
            },
            is_restless: false,
        })
    }

    /// Makes figures to stand beside a time of the paper's machines.
    const fn of_its_time(ours: String) -> Self {
        Self {
            ours,
            verdict: Verdict::OfItsTime,
            is_restless: false,
        }
    }

    pub(super) fn restless(self, is_restless: bool) -> Self {
        Self {
            is_restless,
            ..self
        }
    }
}

const SCHMIDT_2001: &str = "Schmidt et al. 2001";
const GOKHALE_1998: &str = "Gokhale and Schmidt 1998";
const ARULANTHU_2000: &str = "Arulanthu et al. 2000";
const SCHMIDT_2000: &str = "Schmidt 2000";
const ORYAN_2001: &str = "O'Ryan et al. 2001";

/// Claim that a measurement finds.
const fn by(
    name: &'static str,
    (paper, place): (&'static str, &'static str),
    claim: &'static str,
    theirs: &'static str,
    find: fn(&Evidence<'_>) -> Result<Found, String>,
) -> Claim {
    Claim {
        paper,
        place,
        claim,
        theirs,
        by: Some(name),
        find,
        without: "",
    }
}

/// Claim that no measurement finds, with the reason.
const fn without(
    (paper, place): (&'static str, &'static str),
    claim: &'static str,
    theirs: &'static str,
    without: &'static str,
) -> Claim {
    Claim {
        paper,
        place,
        claim,
        theirs,
        by: None,
        find: |_| Err(String::new()),
        without,
    }
}

/// Reason why shorter messages gain nothing.
const LENGTH_IS_FREE: &str =
    "a packet takes the same time today whether it has 15 bytes more or less";

/// Reason why calls by the DII are hardly slower.
const DII_PREPARES: &str =
    "a request object keeps what it prepares, and values are copied as octets";

/// All claims, by paper.
pub(super) const CLAIMS: &[Claim] = &[
    by(
        "cubit",
        (SCHMIDT_2001, "figure 16"),
        "Unix sockets (UIOP) are faster than TCP (IIOP) for all types of data",
        "20 to 50 %",
        |e| {
            let gain = Gain::of(e, "uiop", "iiop")?;
            Found::judged(
                gain.to_string(),
                gain.least > 0.0,
                "some types gain nothing: TCP in loopback is nearly as fast today",
            )
        },
    ),
    by(
        "cubit",
        (SCHMIDT_2001, "figure 16"),
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
        (SCHMIDT_2001, "figure 16"),
        "GIOPlite gains slightly more over Unix sockets",
        "0.37 to 5.29 %, 3.26 % on average",
        |e| {
            let gain = Gain::of(e, "giop_lite+uiop", "uiop")?;
            let over_tcp = Gain::of(e, "giop_lite+iiop", "iiop")?;
            let is_more = gain.mean > 0.0 && gain.mean > over_tcp.mean;
            Found::judged(gain.to_string(), is_more, LENGTH_IS_FREE)
        },
    ),
    without(
        (SCHMIDT_2001, "tables 1 and 2"),
        "time of each stage of a call at the client and at the server",
        "client 6.3 to 50.7 µs a stage, server 1.4 to 93.6 µs",
        "`timeprobes` measures it, by a program that is built with time probes (bench/README.md)",
    ),
    by(
        "latency",
        (SCHMIDT_2001, "figure 18"),
        "the operating system takes just over half of a round trip over TCP",
        "just over 50 %",
        |e| {
            let (ours, raw) = (
                p50(e, "punctual", "cube_void")?,
                p50(e, "raw-tcp", "cube_void")?,
            );
            let share = raw / ours * 100.0;
            Found::judged(
                format!("{share:.0} % of {} are the raw socket's", micros(ours)),
                (50.0..=65.0).contains(&share),
                "the shares of ORB and operating system are others today",
            )
        },
    ),
    by(
        "latency",
        (SCHMIDT_2001, "abstract"),
        "a round trip in loopback takes some 189 µs on a Pentium II of 400 MHz",
        "189 µs",
        |e| {
            let ours = p50(e, "punctual", "cube_void")?;
            let of = |name| p50(e, name, "cube_void").map_or_else(|_| "–".to_owned(), micros);
            let rest = format!("omniORB {}, raw socket {}", of("omniorb"), of("raw-tcp"));
            Ok(Found::of_its_time(format!("{} ({rest})", micros(ours))))
        },
    ),
    by(
        "latency",
        (SCHMIDT_2001, "figure 19"),
        "what the operating system takes grows faster with the size of a parameter than what the ORB takes",
        "a plot; both grow a little from 256 octets on, from where TAO does not copy",
        |e| {
            let of = |contender, units| p50(e, contender, &format!("take_octets:{units}"));
            let parts = |units: u64| {
                let system = of("raw-tcp", units)?;
                Ok::<_, String>((system, of("punctual", units)? - system))
            };
            let [small, middle, large] = [parts(1)?, parts(256)?, parts(16_384)?];
            Found::judged(
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
            )
        },
    ),
    by(
        "demux",
        (GOKHALE_1998, "figures 31 and 32"),
        "linear search takes longest, and its worst case is far above random calls",
        "worst case 1.87 × random, 500 objects of 100 operations",
        |e| {
            let linear = |how| demultiplexed(e, "linear", how, 500, 100);
            let (worst, random) = (linear("worst_case")?, linear("random")?);
            let mut others = Vec::new();
            for strategy in ["active", "dynamic_hash", "perfect_hash", "de_layered"] {
                others.push(demultiplexed(e, strategy, "worst_case", 500, 100)?);
            }
            let most = others.into_iter().fold(0.0, f64::max);
            Found::judged(
                format!(
                    "{:.2} ×, {} beside {}; the others up to {}",
                    worst / random,
                    micros(worst),
                    micros(random),
                    micros(most)
                ),
                worst / random > 1.1 && worst > most,
                "comparing names takes so little beside a round trip that a search of 600 costs next to nothing",
            )
        },
    ),
    by(
        "demux",
        (GOKHALE_1998, "figures 31 and 32"),
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
        (GOKHALE_1998, "figures 6 to 9"),
        "two-way latency grows with the number of servants where the ORB searches for them (Orbix), and hardly otherwise (VisiBroker)",
        "Orbix grows by 1.12 × for each 100 servants",
        |e| {
            let of = |objects| demultiplexed(e, "active", "round_robin", objects, 1);
            let (one, all) = (of(1)?, of(500)?);
            Found::judged(
                format!("{} with 1 servant, {} with 500", micros(one), micros(all)),
                all / one < 1.1,
                "it grows here, too",
            )
        },
    ),
    by(
        "latency",
        (GOKHALE_1998, "figure 10"),
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
                "the shares of ORB and operating system are others today",
            )
        },
    ),
    by(
        "latency",
        (GOKHALE_1998, "§4.1"),
        "two-way calls by the DII take far longer than by stubs",
        "Orbix 2.6 ×; TAO's own about as long",
        |e| {
            let ratio = by_dii(e, "cube_void")?;
            Found::judged(format!("{ratio:.2} ×"), ratio > 1.5, DII_PREPARES)
        },
    ),
    by(
        "latency",
        (GOKHALE_1998, "figures 11 to 26"),
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
        (GOKHALE_1998, "figures 11 to 28"),
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
        (GOKHALE_1998, "figures 6 to 9"),
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
        (GOKHALE_1998, "figures 6 to 9"),
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
        "ami",
        (ARULANTHU_2000, "table 1"),
        "asynchronous calls with reply handlers have the latency of synchronous ones",
        "479 beside 497 µs, 0.96 ×",
        |e| {
            let ratio = e.figure("latency", &[("contender", json!("ami"))], "beside_smi")?;
            let poller = e.figure("latency", &[("contender", json!("poller"))], "beside_smi")?;
            Found::judged(
                format!("{ratio:.2} ×, by a poller {poller:.2} ×"),
                ratio < 1.1,
                "the handler runs on the thread that reads replies, which has to be woken; a poller reads its reply itself",
            )
        },
    ),
    by(
        "ami",
        (ARULANTHU_2000, "table 1"),
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
        (ARULANTHU_2000, "table 2"),
        "asynchronous calls have more throughput than the best synchronous client",
        "8,524 beside 7,080 calls a second, 1.2 ×",
        |e| {
            let ami = [("contender", json!("ami"))];
            let (rate, ratio) = (
                e.figure("throughput", &ami, "rate")?,
                e.figure("throughput", &ami, "beside_best_smi")?,
            );
            Found::judged(
                format!("{rate:.0} a second, {ratio:.1} ×"),
                ratio > 1.1,
                "they have no more",
            )
        },
    ),
    by(
        "ami",
        (ARULANTHU_2000, "table 2"),
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
    by(
        "inversion",
        (SCHMIDT_2000, "priority inversion"),
        "with a lane for each priority, an urgent client does not notice how many others there are",
        "level, while other ORBs' latency grows with the number of clients",
        |e| urgent(e, "lanes", 1.25),
    ),
    by(
        "pools",
        (SCHMIDT_2000, "thread pools"),
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
        (SCHMIDT_2000, "GIOP and GIOPlite"),
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
        (SCHMIDT_2000, "ORB and operating system"),
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
        (SCHMIDT_2000, "event dispatching"),
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
        (SCHMIDT_2000, "event dispatching"),
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
    without(
        (SCHMIDT_2000, "minimum CORBA"),
        "leaving out what minimum CORBA leaves out makes the ORB a quarter smaller",
        "862 → 640 KB",
        "`cargo xtask footprint` measures it, as it builds programs with other Cargo features",
    ),
    by(
        "start",
        (ORYAN_2001, "rate groups"),
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
        (ORYAN_2001, "figures 14 and 15"),
        "one ORB with an endpoint for each priority serves an urgent client as well as an ORB a thread",
        "as low, and as level",
        |e| {
            let (_, most) = e.ends("rows", "low")?;
            let mean = |contender: &str| {
                let wanted = [("contender", json!(contender)), ("low", json!(most))];
                e.figure("rows", &wanted, "high.mean")
            };
            let (lanes, apart) = (mean("lanes")?, mean("orb-a-thread")?);
            Found::judged(
                format!(
                    "{} beside {most} low clients, an ORB a thread {}",
                    micros(lanes),
                    micros(apart)
                ),
                lanes / apart < 1.1,
                "it is slower",
            )
        },
    ),
    by(
        "oneway",
        (ORYAN_2001, "figure 16"),
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
        (ORYAN_2001, "figure 17"),
        "SYNC_WITH_SERVER has half as much throughput again as two-way calls",
        "more than 1.5 ×",
        |e| {
            let ratio = reliable(e, "SYNC_WITH_SERVER", "cross")?;
            Found::judged(
                format!("{ratio:.2} ×, with a processor each"),
                ratio > 1.5,
                "the servant's work is too short for the client to gain by going on meanwhile",
            )
        },
    ),
    by(
        "oneway",
        (ORYAN_2001, "figure 17"),
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
