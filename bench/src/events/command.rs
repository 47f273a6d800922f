//! Command `events` with its experiments.

use super::{dispatching, latency, throughput};
use crate::Result;
use crate::contender::Harness;
use clap::Subcommand;

/// Experiment with the real-time event channel.
#[derive(Debug, Subcommand)]
pub enum Experiment {
    /// Measure the time from a push to its arrival, through a channel in another process, beside two
    /// one-way messages of raw sockets.
    Latency(latency::Options),
    /// Measure urgent consumers alone and beside others that compute, by each way of dispatching.
    Dispatching(dispatching::Options),
    /// Measure how many events a second go through a channel's process to several consumers, and the
    /// processor time that they cost there.
    Throughput(throughput::Options),
}

/// Runs an experiment.
///
/// # Errors
/// A process fails, or a file cannot be written.
pub(crate) fn run(harness: &Harness, experiment: &Experiment) -> Result<()> {
    match experiment {
        Experiment::Latency(options) => latency::run(harness, options),
        Experiment::Dispatching(options) => dispatching::run(harness, options),
        Experiment::Throughput(options) => throughput::run(harness, options),
    }
}
