//! `rt receive`: what busy polling (`busy_poll_us`) and receive steering (`incoming_cpu`) bring to a call.
//!
//! Two network namespaces are the hosts, with a cable (`hosts`). A client calls as soon as the call before has ended. Busy
//! polling is compared with sleeping until a packet has come and with polling the socket (`spin_us`), by what the receiving
//! device does with packets ([`Receiving`]). For steering, two processes listen at one port, each on a processor of its own,
//! and packets are received on the processor of the first: that one serves, or the other.

use super::network::{Hosts, Receiving, SERVER, Side};
use crate::Result;
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::output::Json;
use crate::peer::nanoseconds_since;
use crate::statistics::Record;
use clap::{Args, ValueEnum};
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::Cubit;
use punctual_sys::processor::{self, Processors};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Instant;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "rt receive",
    "whether busy polling and receive steering make calls shorter",
)
.conditions("two network namespaces, SCHED_OTHER")
.tables(&[Tabled::listing(
    "rows",
    "µs of a call, {calls} of each case in {rounds} round(s)",
    "{case}",
    &[
        Column::micros("median", "call.p50").decimals(1),
        Column::micros("p99", "call.p99").decimals(1),
    ],
)]);

/// Options of the command `rt receive`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Calls of each case in a round.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    calls: u32,
    /// Rounds, in each of which every case has its turn.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Client and server have a processor each; otherwise the kernel chooses.
    #[arg(long)]
    apart: bool,
    /// Cases: of busy polling, or of steering.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["polling", "steering"])]
    cases: Vec<Kind>,
    #[command(flatten)]
    json: Json,
}

/// Property whose use a case shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// `busy_poll_us`.
    Polling,
    /// `incoming_cpu`.
    Steering,
}

/// Case. Properties are those of both sides.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    receiving: Receiving,
    properties: &'static [(&'static str, &'static str)],
    steering: Option<Steering>,
}

/// Processor that serves what processor 1 receives. The client and its packets have processor 0.
#[derive(Clone, Copy)]
enum Steering {
    Receiving,
    Other,
}

/// Least number of processors for steering: the client's, that which receives, and another.
const PROCESSORS: usize = 3;

const SLEEPS: &[(&str, &str)] = &[("spin_us", "0")];
const SPINS: &[(&str, &str)] = &[("spin_us", "50")];
const POLLS: &[(&str, &str)] = &[("spin_us", "0"), ("busy_poll_us", "50")];

const fn polling(
    name: &'static str,
    receiving: Receiving,
    properties: &'static [(&'static str, &'static str)],
) -> Case {
    Case {
        name,
        receiving,
        properties,
        steering: None,
    }
}

const fn steered(name: &'static str, steering: Steering) -> Case {
    Case {
        name,
        receiving: Receiving::Steered,
        properties: SLEEPS,
        steering: Some(steering),
    }
}

const CASES: [Case; 11] = [
    polling("no queue to poll, sleeps", Receiving::Backlog, SLEEPS),
    polling("no queue to poll, spin_us=50", Receiving::Backlog, SPINS),
    polling(
        "no queue to poll, busy_poll_us=50",
        Receiving::Backlog,
        POLLS,
    ),
    polling("NAPI, sleeps", Receiving::Napi, SLEEPS),
    polling("NAPI, spin_us=50", Receiving::Napi, SPINS),
    polling("NAPI, busy_poll_us=50", Receiving::Napi, POLLS),
    polling("NAPI by threads, sleeps", Receiving::NapiThreads, SLEEPS),
    polling("NAPI by threads, spin_us=50", Receiving::NapiThreads, SPINS),
    polling(
        "NAPI by threads, busy_poll_us=50",
        Receiving::NapiThreads,
        POLLS,
    ),
    steered(
        "incoming_cpu of the processor that serves",
        Steering::Receiving,
    ),
    steered("incoming_cpu of another processor", Steering::Other),
];

/// What one side of a case does, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Task {
    /// Serve at this endpoint, until standard input ends.
    Serve {
        endpoint: String,
        processor: Option<usize>,
    },
    Call {
        reference: String,
        properties: Vec<(String, String)>,
        processor: Option<usize>,
        calls: u32,
    },
}

/// Options of one side, as the experiment itself starts it.
#[derive(Clone, Debug, Args)]
pub struct SideOptions {
    /// The side's task, as JSON.
    task: String,
}

/// Runs the command.
///
/// # Errors
/// There are no network namespaces here, or a side fails.
pub(super) fn run(options: &Options) -> Result<()> {
    let hosts = Hosts::new()?;
    let processors = processor::allowed()?.len();
    let settings = Row::default()
        .with("calls", options.calls)
        .with("rounds", options.rounds)
        .with("processors", processors)
        .with("apart", options.apart);
    if options.apart && processors < 2 {
        return Err("--apart: this process may run on 1 processor only".into());
    }
    let mut report = Report::new(&EXPERIMENT, settings);
    let mut records: Vec<(Case, Record)> = Vec::new();
    let is_asked = |case: &Case| {
        let kind = case.steering.map_or(Kind::Polling, |_| Kind::Steering);
        options.cases.contains(&kind)
    };
    for case in CASES.into_iter().filter(is_asked) {
        let possible = match case.steering {
            Some(_) if processors < PROCESSORS => Err(format!(
                "steering takes {PROCESSORS} processors, and here are {processors}"
            )
            .into()),
            _ => hosts.receive_by(case.receiving),
        };
        match possible {
            Ok(()) => records.push((case, Record::default())),
            Err(why) => eprintln!("`{}` is left out: {why}", case.name),
        }
    }
    for _ in 0..options.rounds {
        for (case, record) in &mut records {
            hosts.receive_by(case.receiving)?;
            record.add_round(&measure(&hosts, case, options)?);
        }
    }
    for (case, record) in records {
        let figures = record.figures().ok_or("no call was made")?;
        let row = Row::default()
            .with("case", case.name)
            .with("call", Row::default().with_figures(&figures));
        report.add("rows", [row]);
    }
    options.json.deliver(&report)
}

/// Returns the nanoseconds of each call of a case.
fn measure(hosts: &Hosts, case: &Case, options: &Options) -> Result<Vec<u64>> {
    let is_pinned = options.apart || case.steering.is_some();
    let calls = options.calls;
    // The processor of each server, and that whose connections it takes.
    let servers: &[(usize, Option<usize>)] = match case.steering {
        None => &[(1, None)],
        Some(Steering::Receiving) => &[(1, Some(1)), (2, Some(2))],
        Some(Steering::Other) => &[(1, Some(2)), (2, Some(1))],
    };
    let mut properties = case.properties.to_vec();
    if is_pinned && properties == SPINS {
        // Otherwise a thread that may run on one processor only does not spin.
        properties.push(("spin_always", "true"));
    }
    let options = properties
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let options: Vec<String> = options.collect();
    let mut started = Vec::new();
    for &(processor, takes) in servers {
        let mut options = options.clone();
        options.extend(takes.map(|takes| format!("incoming_cpu={takes}")));
        let serve = Task::Serve {
            endpoint: format!("iiop://{SERVER}:7004/{}", options.join("&")),
            processor: is_pinned.then_some(processor),
        };
        let mut side = Side::start(&hosts.server, "receive-side", &serve)?;
        let reference = side.line()?;
        started.push((side, reference));
    }
    let (_, reference) = started.first().ok_or("no server")?;
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let call = Task::Call {
        reference: reference.clone(),
        properties: properties.iter().map(own).collect(),
        processor: is_pinned.then_some(0),
        calls,
    };
    let mut client = Side::start(&hosts.client, "receive-side", &call)?;
    let said = client.line()?;
    client.stop()?;
    Ok(serde_json::from_str(&said)
        .map_err(|error| format!("the client of `{}` said {said:?}: {error}", case.name))?)
}

/// Runs one side.
///
/// # Errors
/// The task cannot be read, or a call fails.
pub(super) fn run_side(options: &SideOptions) -> Result<()> {
    let mut output = std::io::stdout();
    match serde_json::from_str(&options.task)? {
        Task::Serve {
            endpoint,
            processor,
        } => {
            pin(processor)?;
            let endpoint: ListenEndpoint = endpoint.parse()?;
            let orb = Orb::builder().listen(endpoint).build()?;
            let root = orb.root_poa()?;
            // Servers at one port have the same object.
            let policies = [
                PoaPolicy::Lifespan(LifespanPolicy::Persistent),
                PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            ];
            let poa = root.create_poa("receive", Some(root.manager()), &policies)?;
            root.manager().activate()?;
            let servant = Arc::new(CubitImpl::new(orb.clone()));
            let cubit: Cubit = poa.activate_with_id(&"cubit".into(), servant)?;
            writeln!(output, "{}", orb.object_to_string(cubit.as_object())?)?;
            output.flush()?;
            std::io::stdin().read_to_end(&mut Vec::new())?;
        }
        Task::Call {
            reference,
            properties,
            processor,
            calls,
        } => {
            pin(processor)?;
            let orb = Orb::builder().build()?;
            let policies: Vec<Policy> = properties
                .iter()
                .map(|(name, value)| Policy::link_property("iiop", name, value))
                .collect();
            let object = orb.string_to_object(&reference)?;
            let object = object.set_policy_overrides(&policies, SetOverride::Add)?;
            let cubit = Cubit::from_object(object);
            for _ in 0..WARM {
                cubit.cube_void()?;
            }
            let mut times = Vec::new();
            for _ in 0..calls {
                let began = Instant::now();
                cubit.cube_void()?;
                times.push(nanoseconds_since(began));
            }
            writeln!(output, "{}", serde_json::to_string(&times)?)?;
        }
    }
    Ok(())
}

/// Number of calls that find code and connections cold.
const WARM: u32 = 50;

/// Has this process run on one processor, if that is asked for.
fn pin(processor: Option<usize>) -> Result<()> {
    match processor {
        Some(processor) => Ok(Processors::of(&[processor])?.pin_own()?),
        None => Ok(()),
    }
}
