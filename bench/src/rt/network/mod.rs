//! `rt network`: an urgent call beside bulk transfers over a slow link, with and without what Linux has against it: the
//! class of packets in the host, DSCP and rules for it, pacing of the bulk.
//!
//! Two network namespaces are the hosts (`hosts`), with a rate-limited queueing discipline at both ends of the cable between
//! them, behind one that delays and loses packets where that is asked for (`netem`).
//! In each case a server has an endpoint for urgent calls and one for bulk, and a client calls the first at a pace
//! while others echo long sequences over the second. The processes are not scheduled in real time: what is measured waits in
//! queues of the network.

mod hosts;

use crate::Result;
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::output::Json;
use crate::peer::nanoseconds_since;
use crate::statistics::Record;
use clap::Args;
pub(super) use hosts::{Hosts, Receiving, Rules, SERVER, Side, Way};
use punctual::{Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::Cubit;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of clients that transfer bulk, each over a connection of its own.
const BULK: u32 = 2;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "rt network",
    "whether an urgent call passes by bulk transfers over a slow link",
)
.conditions("two network namespaces, SCHED_OTHER")
.tables(&[Tabled::listing(
    "rows",
    "µs from the planned release of an urgent call to its end, beside 2 clients that echo {octets} octets, over {rate} Mbit/s, delay {delay} ms each way, loss {loss} %",
    "{case}",
    &[
        Column::micros("median", "response.p50").decimals(0),
        Column::micros("p99", "response.p99").decimals(0),
        Column::micros("max", "response.max").decimals(0),
        Column::micros("p99 of the call", "call.p99").decimals(0),
        Column::number("bulk, Mbit/s each way", "bulk").decimals(1),
    ],
)]);

/// Options of the command `rt network`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Rate of the link in each direction, in Mbit/s.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// Urgent calls of each case.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    calls: u32,
    /// Time from one urgent call to the next, in milliseconds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pace: u64,
    /// Length of the sequences that are echoed, in octets.
    #[arg(long, default_value_t = 262_144, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    octets: u32,
    /// Time that packets are under way in each direction, in milliseconds (`netem`).
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000))]
    delay: u32,
    /// Packets that are lost on the way, in percent (`netem`).
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=50))]
    loss: u32,
    #[command(flatten)]
    json: Json,
}

impl Options {
    fn way(&self) -> Way {
        Way {
            rate: self.rate,
            delay: self.delay,
            loss: self.loss,
        }
    }
}

/// Case of the experiment. Properties are those of both sides.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    rules: Rules,
    urgent: &'static [(&'static str, &'static str)],
    has_bulk: bool,
    /// The bulk's connections are paced to 80 % of the link, together.
    is_paced: bool,
    /// All calls go over one connection.
    shares: bool,
}

const PLAIN: Case = Case {
    name: "bulk, nothing set",
    rules: Rules::Bands,
    urgent: &[],
    has_bulk: true,
    is_paced: false,
    shares: false,
};

const CASES: [Case; 12] = [
    Case {
        name: "alone",
        has_bulk: false,
        ..PLAIN
    },
    PLAIN,
    Case {
        name: "socket_priority=6",
        urgent: &[("socket_priority", "6")],
        ..PLAIN
    },
    Case {
        name: "dscp=EF, device without rules for it",
        urgent: &[("dscp", "EF")],
        ..PLAIN
    },
    Case {
        name: "dscp=EF, device with rules for it",
        rules: Rules::ByDscp,
        urgent: &[("dscp", "EF")],
        ..PLAIN
    },
    Case {
        name: "bulk paced to 80 %",
        is_paced: true,
        ..PLAIN
    },
    Case {
        name: "bulk paced to 80 %, socket_priority=6",
        urgent: &[("socket_priority", "6")],
        is_paced: true,
        ..PLAIN
    },
    Case {
        name: "device with a queue for each class (mqprio), nothing set",
        rules: Rules::Queues,
        ..PLAIN
    },
    Case {
        name: "the same, socket_priority=6",
        rules: Rules::Queues,
        urgent: &[("socket_priority", "6")],
        ..PLAIN
    },
    Case {
        name: "device that serves connections in turn (fq), nothing set",
        rules: Rules::Fair,
        ..PLAIN
    },
    Case {
        name: "the same, bulk paced to 80 %",
        rules: Rules::Fair,
        is_paced: true,
        ..PLAIN
    },
    Case {
        name: "one connection for all, socket_priority=6",
        urgent: &[("socket_priority", "6")],
        shares: true,
        ..PLAIN
    },
];

/// What one side of a case does, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Task {
    /// Serve these endpoints, until standard input ends: that of urgent calls and that of bulk.
    Serve { urgent: String, bulk: String },
    Call {
        urgent: (String, Properties),
        bulk: Option<(String, Properties)>,
        shares: bool,
        calls: u32,
        pace: Duration,
        octets: u32,
    },
}

type Properties = Vec<(String, String)>;

/// Options of one side, as the experiment itself starts it.
#[derive(Clone, Debug, Args)]
pub struct SideOptions {
    /// The side's task, as JSON.
    task: String,
}

/// Result of a client, as JSON: nanoseconds of each urgent call, and bits a second of bulk each way.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    /// From the time at which the call was to begin. A call that takes longer than the pace delays those after it, which
    /// would have waited as long in the network: without that, the worst calls would hide how many they delay.
    responses: Vec<u64>,
    /// From the beginning of the call.
    calls: Vec<u64>,
    bulk: f64,
}

/// Runs the command.
///
/// # Errors
/// There are no network namespaces or queueing disciplines here, or a side fails.
pub(super) fn run(options: &Options) -> Result<()> {
    let hosts = Hosts::new()?;
    let settings = Row::default()
        .with("rate", options.rate)
        .with("octets", options.octets)
        .with("delay", options.delay)
        .with("loss", options.loss)
        .with("pace", options.pace);
    let mut report = Report::new(&EXPERIMENT, settings);
    for case in CASES {
        if let Err(why) = hosts.set_rules(case.rules, &options.way()) {
            // A kernel has some of the disciplines.
            eprintln!("`{}` is left out: {why}", case.name);
            continue;
        }
        let measured = measure(&hosts, &case, options)?;
        let figures = |times: &[u64]| -> Result<Row> {
            let mut record = Record::default();
            record.add_round(times);
            let figures = record.figures().ok_or("no call was made")?;
            Ok(Row::default().with_figures(&figures))
        };
        let row = Row::default()
            .with("case", case.name)
            .with("response", figures(&measured.responses)?)
            .with("call", figures(&measured.calls)?)
            .with("bulk", measured.bulk / 1e6);
        report.add("rows", [row]);
    }
    options.json.deliver(&report)
}

fn measure(hosts: &Hosts, case: &Case, options: &Options) -> Result<Measured> {
    let own = |pairs: &[(&str, &str)]| -> Properties {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    };
    let urgent = own(case.urgent);
    let bulk = match case.is_paced {
        true => {
            let octets = u64::from(options.rate) * 1_000_000 / 8 * 80 / 100 / u64::from(BULK);
            own(&[("pacing_rate", &octets.to_string())])
        }
        false => Properties::new(),
    };
    let endpoint = |port: u16, properties: &Properties| {
        let properties: Vec<_> = properties
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let separator = if properties.is_empty() { "" } else { "/" };
        format!("iiop://{SERVER}:{port}{separator}{}", properties.join("&"))
    };
    let serve = Task::Serve {
        urgent: endpoint(7_001, &urgent),
        bulk: endpoint(7_002, &bulk),
    };
    let mut server = Side::start(&hosts.server, "network-side", &serve)?;
    let (for_urgent, for_bulk) = (server.line()?, server.line()?);
    let call = Task::Call {
        bulk: case.has_bulk.then(|| match case.shares {
            true => (for_urgent.clone(), urgent.clone()),
            false => (for_bulk, bulk),
        }),
        urgent: (for_urgent, urgent),
        shares: case.shares,
        calls: options.calls,
        pace: Duration::from_millis(options.pace),
        octets: options.octets,
    };
    let mut client = Side::start(&hosts.client, "network-side", &call)?;
    let measured = client.line()?;
    Ok(serde_json::from_str(&measured)
        .map_err(|error| format!("the client of `{}` said {measured:?}: {error}", case.name))?)
}

/// Runs one side.
///
/// # Errors
/// The task cannot be read, or a call fails.
pub(super) fn run_side(options: &SideOptions) -> Result<()> {
    let mut output = std::io::stdout();
    match serde_json::from_str(&options.task)? {
        Task::Serve { urgent, bulk } => {
            let orbs = [serve(&urgent)?, serve(&bulk)?];
            for (_, reference) in &orbs {
                writeln!(output, "{reference}")?;
            }
            output.flush()?;
            std::io::stdin().read_to_end(&mut Vec::new())?;
        }
        task @ Task::Call { .. } => {
            let measured = call(&task)?;
            writeln!(output, "{}", serde_json::to_string(&measured)?)?;
        }
    }
    Ok(())
}

fn serve(endpoint: &str) -> Result<(Orb, String)> {
    let endpoint: ListenEndpoint = endpoint.parse()?;
    let orb = Orb::builder().listen(endpoint).build()?;
    let root = orb.root_poa()?;
    root.manager().activate()?;
    let cubit: Cubit = root.activate(Arc::new(CubitImpl::new(orb.clone())))?;
    let reference = orb.object_to_string(cubit.as_object())?;
    Ok((orb, reference))
}

fn call(task: &Task) -> Result<Measured> {
    let Task::Call {
        urgent,
        bulk,
        shares,
        calls,
        pace,
        octets,
    } = task
    else {
        return Err("no call".into());
    };
    let orb = client()?;
    let cubit = cubit(&orb, urgent)?;
    cubit.cube_void()?;
    let is_over = Arc::new(AtomicBool::new(false));
    let echoed = Arc::new(AtomicU64::new(0));
    let mut threads = Vec::new();
    for _ in 0..BULK {
        let Some(bulk) = bulk else { break };
        let orb = if *shares { orb.clone() } else { client()? };
        let cubit = self::cubit(&orb, bulk)?;
        let (is_over, echoed) = (is_over.clone(), echoed.clone());
        let values = vec![7; usize::try_from(*octets)?];
        let echoes = move || -> std::result::Result<(), String> {
            while !is_over.load(Ordering::Relaxed) {
                let back = cubit
                    .echo_octets(&values)
                    .map_err(|error| error.to_string())?;
                echoed.fetch_add(u64::try_from(back.len()).unwrap_or(0), Ordering::Relaxed);
            }
            Ok(())
        };
        threads.push((orb, std::thread::spawn(echoes)));
    }
    // Until the queues are full.
    if bulk.is_some() {
        std::thread::sleep(Duration::from_millis(500));
    }
    let (began, before) = (Instant::now(), echoed.load(Ordering::Relaxed));
    let (responses, times) = at_a_pace(*calls, *pace, || Ok(cubit.cube_void()?))?;
    #[expect(clippy::cast_precision_loss, reason = "it is a rate")]
    let bits = ((echoed.load(Ordering::Relaxed) - before) * 8) as f64;
    let bulk = bits / began.elapsed().as_secs_f64();
    is_over.store(true, Ordering::Relaxed);
    for (_orb, thread) in threads {
        thread.join().map_err(|_| "a thread has panicked")??;
    }
    Ok(Measured {
        responses,
        calls: times,
        bulk,
    })
}

/// Makes calls that are released one pace after another. Returns the nanoseconds of each from its release, and from its
/// beginning, which is later where the one before it took longer than the pace.
fn at_a_pace(
    calls: u32,
    pace: Duration,
    mut call: impl FnMut() -> Result<()>,
) -> Result<(Vec<u64>, Vec<u64>)> {
    let (mut responses, mut times) = (Vec::new(), Vec::new());
    let mut release = Instant::now();
    for _ in 0..calls {
        release += pace;
        std::thread::sleep(release.saturating_duration_since(Instant::now()));
        let began = Instant::now();
        call()?;
        times.push(nanoseconds_since(began));
        responses.push(nanoseconds_since(release));
    }
    Ok((responses, times))
}

fn client() -> Result<Orb> {
    let builder = Orb::builder().configure(|config| config.connections_per_endpoint = 1);
    Ok(builder.build()?)
}

fn cubit(orb: &Orb, (reference, properties): &(String, Properties)) -> Result<Cubit> {
    let policies: Vec<Policy> = properties
        .iter()
        .map(|(key, value)| Policy::link_property("iiop", key, value))
        .collect();
    let object = orb.string_to_object(reference)?;
    let object = object.set_policy_overrides(&policies, SetOverride::Add)?;
    Ok(Cubit::from_object(object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::nanoseconds;

    #[test]
    fn a_call_that_takes_long_counts_for_those_that_it_delays() {
        let (pace, long) = (Duration::from_millis(1), Duration::from_millis(20));
        let mut calls = 0;
        let (responses, times) = at_a_pace(5, pace, || {
            calls += 1;
            if calls == 1 {
                std::thread::sleep(long);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!((responses.len(), times.len()), (5, 5));
        // The fifth was to begin four paces after the first.
        for (number, response) in responses.iter().enumerate() {
            let delayed = long - pace * u32::try_from(number).unwrap();
            assert!(*response >= nanoseconds(delayed), "{responses:?}");
        }
        assert!(
            responses
                .iter()
                .zip(&times)
                .all(|(response, call)| response >= call)
        );
    }
}
