//! The subcommands of `punctual-bench`.

use crate::contender::Harness;
use crate::counting::{self, Instrument};
use crate::timeprobes::{self, record};
use crate::{
    Result, ami, anys, budgets, cubit, demux, goals, latency, load, memory, oneway, peer, rt,
    stubs, throughput,
};
use clap::Subcommand;
use std::path::PathBuf;

/// A measurement.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The goals of the data path, and what is reached here: all measurements in one table.
    Goals(goals::Options),
    /// How long calls take, beside raw sockets and other ORBs.
    Latency(latency::Options),
    /// How many calls a second, two-way and one-way.
    Throughput(throughput::Options),
    /// What an idle server and idle connections take.
    Memory(memory::Options),
    /// Latency under ten thousand connections, many idle and some hostile.
    Load(load::Options),
    /// User-space instructions a call, under valgrind.
    Instructions(counting::Options),
    /// System calls a call, under strace.
    SystemCalls(counting::Options),
    /// Allocations a call, under valgrind.
    Allocations(counting::Options),
    /// Context switches a call, both sides on one processor.
    ContextSwitches(counting::Options),
    /// Where a call's time goes: the stages of Schmidt et al. 2001's tables 1 and 2. For a program that was built with
    /// its time probes.
    Timeprobes(timeprobes::Options),
    /// What finding an object and its operation costs, by strategy, over objects, operations and the depth
    /// of adapters: Gokhale and Schmidt 1998's figures 31 and 32.
    Demux(demux::Options),
    /// User-space instructions of a server's call, over objects, operations and depth, under valgrind.
    DemuxInstructions(demux::counts::Options),
    /// A process of `demux`; the measurement starts it.
    #[command(hide = true)]
    DemuxPeer {
        /// Which.
        #[command(subcommand)]
        peer: demux::Peer,
    },
    /// Instructions of an Any that passes through, and of comparing TypeCodes, by size, under valgrind.
    Anys(anys::Options),
    /// Compiled beside interpreted stubs, of an interface of 200 operations: size, and instructions a call.
    Stubs(stubs::Options),
    /// The process of `anys` that is counted.
    #[command(hide = true)]
    AnysPeer(anys::Peer),
    /// Schmidt et al. 2001's figure 16: every messaging protocol over every link, by type of data.
    Cubit(cubit::Options),
    /// A side of a pair of `cubit`; the measurement starts it.
    #[command(hide = true)]
    CubitPeer(cubit::Peer),
    /// Arulanthu et al. 2000's tables 1 and 2: latency and throughput of synchronous and asynchronous calls.
    Ami(ami::Options),
    /// A side of a pair of `ami`; the measurement starts it.
    #[command(hide = true)]
    AmiPeer {
        /// Which.
        #[command(subcommand)]
        peer: ami::Peer,
    },
    /// O'Ryan et al. 2001's figures 16 and 17: one-ways, buffered and with each SyncScope, beside two-way requests.
    Oneway(oneway::Options),
    /// The server of `oneway`; the measurement starts it.
    #[command(hide = true)]
    OnewayPeer(oneway::Peer),
    /// Real-time CORBA: the latency of an urgent client beside others at full load, by lanes, by a pool, and of
    /// raw sockets with the same priorities.
    Rt {
        /// Which experiment.
        #[command(subcommand)]
        experiment: rt::Experiment,
    },
    /// A side of a pair of `rt`; the measurement starts it.
    #[command(hide = true)]
    RtPeer {
        /// Which.
        #[command(subcommand)]
        peer: rt::Peer,
    },
    /// Compare what a call costs with the budgets kept in the tree.
    Budgets(budgets::Options),
    /// A side of a contender; the harness starts it.
    #[command(hide = true)]
    Peer {
        /// Switch the probes on, and leave the stamps in this folder.
        #[arg(long, value_name = "FOLDER")]
        stamps: Option<PathBuf>,
        /// Which program.
        program: peer::Program,
        /// Which side of it.
        #[command(subcommand)]
        side: peer::Side,
    },
}

/// Runs one.
///
/// # Errors
/// What kept it from its work, or what it found wrong.
pub fn run(harness: &Harness, command: &Command) -> Result<()> {
    if cfg!(debug_assertions) && !is_peer(command) {
        eprintln!("note: this command is not optimised, its figures mean nothing");
    }
    match command {
        Command::Goals(options) => goals::run(harness, options),
        Command::Latency(options) => latency::run(harness, options),
        Command::Throughput(options) => throughput::run(harness, options),
        Command::Memory(options) => memory::run(harness, options),
        Command::Load(options) => load::run(harness, options),
        Command::Instructions(options) => counting::run(harness, Instrument::Instructions, options),
        Command::SystemCalls(options) => counting::run(harness, Instrument::SystemCalls, options),
        Command::Allocations(options) => counting::run(harness, Instrument::Allocations, options),
        Command::ContextSwitches(options) => {
            counting::run(harness, Instrument::ContextSwitches, options)
        }
        Command::Ami(options) => ami::run(harness, options),
        Command::AmiPeer { peer } => ami::run_peer(peer),
        Command::Anys(options) => anys::run(harness, options),
        Command::AnysPeer(peer) => anys::run_peer(peer),
        Command::Stubs(options) => stubs::run(options),
        Command::Cubit(options) => cubit::run(harness, options),
        Command::CubitPeer(peer) => cubit::run_peer(peer),
        Command::Oneway(options) => oneway::run(harness, options),
        Command::OnewayPeer(peer) => oneway::run_peer(peer),
        Command::Rt { experiment } => rt::run(harness, experiment),
        Command::RtPeer { peer } => rt::run_peer(peer),
        Command::Budgets(options) => budgets::run(harness, options),
        Command::Demux(options) => demux::run(harness, options),
        Command::DemuxInstructions(options) => demux::counts::run(harness, options),
        Command::DemuxPeer { peer } => demux::run_peer(peer),
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

fn is_peer(command: &Command) -> bool {
    matches!(
        command,
        Command::Peer { .. }
            | Command::DemuxPeer { .. }
            | Command::AmiPeer { .. }
            | Command::AnysPeer(_)
            | Command::CubitPeer(_)
            | Command::OnewayPeer(_)
            | Command::RtPeer { .. }
    )
}
