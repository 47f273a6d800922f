//! Choice of a demonstration.

use super::{avionics, cubit, simulation};
use std::process::ExitCode;

/// Starts the `cubit` example's server and client as processes, which talk by TCP over the loopback
/// interface. Every answer is verified.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(flatten)]
    calls: cubit::Calls,
    #[command(subcommand)]
    other: Option<Other>,
}

#[derive(Debug, clap::Subcommand)]
enum Other {
    /// Run a mission computer of three boards: a schedule that is proved first, and events that keep to it.
    ///
    /// A process with an event channel stands for each board: sensors at 30, 15 and 5 Hz, a rate group at 20 Hz, and
    /// built-in tests, as in examples/schedule/avionics.toml. Without the right to SCHED_FIFO (`punctual doctor`) it runs
    /// all the same, and says so. The exit status is 1 if an operation of high criticality missed a deadline or lost an
    /// event.
    Avionics(avionics::Options),
    /// Run an interactive simulation: the states of 100 entities by multicast between three hosts.
    ///
    /// Each host simulates its share of the entities, and publishes a state when the others' extrapolation of the last one
    /// is more than a threshold from the truth, or at a heartbeat. The numbers of states show what was sent, received and
    /// lost. Hosts are processes of this machine, and the multicast goes over the loopback interface; no privileges are
    /// needed.
    Simulation(simulation::Options),
}

/// Runs a process of a demonstration, if the arguments request one.
pub(crate) fn run_part(arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    let arguments: Vec<String> = arguments.collect();
    avionics::run_part(&arguments).or_else(|| cubit::run_part(&arguments))
}

pub(crate) fn run(options: &Options) -> ExitCode {
    match &options.other {
        None => cubit::run(&options.calls),
        Some(Other::Avionics(options)) => avionics::run(options),
        Some(Other::Simulation(options)) => simulation::run(options),
    }
}
