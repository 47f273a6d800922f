//! Subcommands of `punctual-bench`.

use crate::contender::Harness;
use crate::counting::{self, Instrument};
#[cfg(feature = "events")]
use crate::events;
use crate::experiment::{Experiment, Side};
use crate::timeprobes::{self, record};
use crate::{
    Result, ami, anys, budgets, cubit, data, demux, goals, latency, load, memory, oneway, papers,
    peer, rt, scale, stubs, throughput,
};
use clap::Subcommand;
use std::path::PathBuf;

/// Experiments, in the order of the commands.
static EXPERIMENTS: &[&Experiment] = &[
    &goals::EXPERIMENT,
    &latency::EXPERIMENT,
    &throughput::EXPERIMENT,
    &scale::EXPERIMENT,
    &memory::EXPERIMENT,
    &load::EXPERIMENT,
    &counting::EXPERIMENT,
    &timeprobes::EXPERIMENT,
    &demux::EXPERIMENT,
    &demux::counts::EXPERIMENT,
    &demux::servants::EXPERIMENT,
    &anys::EXPERIMENT,
    &data::EXPERIMENT,
    &stubs::EXPERIMENT,
    &budgets::EXPERIMENT,
    &oneway::EXPERIMENT,
    &ami::EXPERIMENT,
    &cubit::EXPERIMENT,
    &rt::latency::EXPERIMENT,
    &rt::series::INVERSION,
    &rt::series::ENDPOINTS,
    &rt::series::POOLS,
    &rt::order::EXPERIMENT,
    &rt::mutex::EXPERIMENT,
    &rt::network::EXPERIMENT,
    &rt::launch::EXPERIMENT,
    &rt::receive::EXPERIMENT,
    &rt::starting::EXPERIMENT,
    #[cfg(feature = "events")]
    &events::latency::EXPERIMENT,
    #[cfg(feature = "events")]
    &events::dispatching::EXPERIMENT,
    #[cfg(feature = "events")]
    &events::throughput::EXPERIMENT,
];

/// Subcommand of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the experiments: the question of each, and the figures of papers that it reproduces.
    Experiments,
    /// Compare the goals of the data path with the figures reached here: all measurements in one
    /// table.
    Goals(goals::Options),
    /// Reproduce what the papers claim: one report of all their figures that this machine can hold.
    Papers(papers::Options),
    /// Measure the latency of calls, beside raw sockets and other ORBs.
    Latency(latency::Options),
    /// Measure the number of calls per second, two-way and one-way.
    Throughput(throughput::Options),
    /// Measure how servers keep up with more clients and processors, by concurrency strategy and
    /// link.
    Scale(scale::Options),
    /// Measure the memory of an idle server and of idle connections.
    Memory(memory::Options),
    /// Measure latency under ten thousand connections, many idle and some hostile.
    Load(load::Options),
    /// Count the user-space instructions of a call, under valgrind.
    Instructions(counting::Options),
    /// Count the system calls of a call, under strace.
    SystemCalls(counting::Options),
    /// Count the allocations of a call, under valgrind.
    Allocations(counting::Options),
    /// Count the bytes that a call copies in user space, under valgrind.
    Copies(counting::Options),
    /// Count the context switches of a call, both sides on one processor.
    ContextSwitches(counting::Options),
    /// Show the time that each stage of a call takes: the stages of Schmidt et al. 2001's tables 1
    /// and 2. Needs a program that was built with time probes.
    Timeprobes(timeprobes::Options),
    /// Measure the cost of finding an object and its operation, by strategy, over objects,
    /// operations and the depth of adapters: Gokhale and Schmidt 1998's figures 31 and 32.
    Demux(demux::Options),
    /// Call each of up to a million servants many times: Gokhale and Schmidt 1998's limit (§4.4), raised.
    Servants(demux::servants::Options),
    /// Count the user-space instructions of a server's call, over objects, operations and depth,
    /// under valgrind.
    DemuxInstructions(demux::counts::Options),
    /// Measure the parts of a call alone; `demux` starts it.
    #[command(hide = true)]
    DemuxInside(demux::inside::Options),
    /// Count the instructions of an Any that passes through, and of comparing TypeCodes, by size,
    /// under valgrind.
    Anys(anys::Options),
    /// Measure what encoding and decoding cost, by type of data and byte order, beside copying the
    /// same data.
    Data(data::Options),
    /// Run the process of `data` that is counted.
    #[command(hide = true)]
    DataPeer(data::Peer),
    /// Compare compiled with interpreted stubs, of an interface of 200 operations: size, and
    /// instructions of a call.
    Stubs(stubs::Options),
    /// Run the process of `anys` that is counted.
    #[command(hide = true)]
    AnysPeer(anys::Peer),
    /// Measure Schmidt et al. 2001's figure 16: every messaging protocol over every link, by type
    /// of data.
    Cubit(cubit::Options),
    /// Measure Arulanthu et al. 2000's tables 1 and 2: latency and throughput of synchronous and
    /// asynchronous calls.
    Ami(ami::Options),
    /// Measure O'Ryan et al. 2001's figures 16 and 17: one-ways, buffered and with each SyncScope,
    /// beside two-way requests.
    Oneway(oneway::Options),
    /// Run one side of an experiment, as the experiment itself starts it.
    #[command(hide = true)]
    Side {
        /// Side to run, as JSON.
        side: Side,
    },
    /// Measure Real-time CORBA: the latency of an urgent client beside others at full load, by
    /// lanes, by a pool, and of raw sockets with the same priorities.
    Rt {
        /// Experiment to run.
        #[command(subcommand)]
        experiment: rt::Experiment,
    },
    /// Measure the real-time event channel: the time from a push to its arrival, and whether urgent
    /// consumers get their events as soon beside others that compute.
    #[cfg(feature = "events")]
    Events {
        /// Experiment to run.
        #[command(subcommand)]
        experiment: events::Experiment,
    },
    /// Compare what a call costs with the budgets kept in the tree.
    Budgets(budgets::Options),
    /// Run one side of a contender, as the harness starts it.
    #[command(hide = true)]
    Peer {
        /// Switch the time probes on, and write their time stamps to files in this folder.
        #[arg(long, value_name = "FOLDER")]
        stamps: Option<PathBuf>,
        /// Program to run.
        program: peer::Program,
        /// Side to run.
        #[command(subcommand)]
        side: peer::Side,
    },
}

/// Runs a subcommand.
///
/// # Errors
/// Failures of the measurement, and goals or budgets that are not kept.
pub fn run(harness: &Harness, command: &Command) -> Result<()> {
    if cfg!(debug_assertions) && !is_peer(command) {
        eprintln!("note: this command is not optimised, its figures mean nothing");
    }
    match command {
        Command::Experiments => list(),
        Command::Goals(options) => goals::run(harness, options),
        Command::Papers(options) => papers::run(harness, options),
        Command::Latency(options) => latency::run(harness, options),
        Command::Throughput(options) => throughput::run(harness, options),
        Command::Scale(options) => scale::run(harness, options),
        Command::Memory(options) => memory::run(harness, options),
        Command::Load(options) => load::run(harness, options),
        Command::Instructions(options) => counting::run(harness, Instrument::Instructions, options),
        Command::SystemCalls(options) => counting::run(harness, Instrument::SystemCalls, options),
        Command::Allocations(options) => counting::run(harness, Instrument::Allocations, options),
        Command::Copies(options) => counting::run(harness, Instrument::CopiedBytes, options),
        Command::ContextSwitches(options) => {
            counting::run(harness, Instrument::ContextSwitches, options)
        }
        Command::Ami(options) => ami::run(harness, options),
        Command::Anys(options) => anys::run(harness, options),
        Command::AnysPeer(peer) => anys::run_peer(peer),
        Command::Data(options) => data::run(harness, options),
        Command::DataPeer(peer) => data::run_peer(peer),
        Command::Stubs(options) => stubs::run(options),
        Command::Cubit(options) => cubit::run(harness, options),
        Command::Oneway(options) => oneway::run(harness, options),
        Command::Side { side } => side.run(),
        Command::Rt { experiment } => rt::run(harness, experiment),
        #[cfg(feature = "events")]
        Command::Events { experiment } => events::run(harness, experiment),
        Command::Budgets(options) => budgets::run(harness, options),
        Command::Demux(options) => demux::run(harness, options),
        Command::Servants(options) => demux::servants::run(harness, options),
        Command::DemuxInstructions(options) => demux::counts::run(harness, options),
        Command::DemuxInside(options) => demux::inside::run(options),
        Command::Timeprobes(options) => timeprobes::run(harness, options),
        Command::Peer {
            program,
            side,
            stamps: None,
        } => peer::run(*program, side),
        Command::Peer {
            program,
            side,
            stamps: Some(folder),
        } => record::recorded(folder, side, || peer::run(*program, side)),
    }
}

fn list() -> Result<()> {
    for experiment in EXPERIMENTS {
        println!("{}: {}", experiment.name, experiment.question);
        if !experiment.reproduces.is_empty() {
            println!("    reproduces {}", experiment.reproduces);
        }
    }
    Ok(())
}

fn is_peer(command: &Command) -> bool {
    matches!(
        command,
        Command::Peer { .. }
            | Command::DemuxInside(_)
            | Command::AnysPeer(_)
            | Command::DataPeer(_)
            | Command::Side { .. }
    )
}
