//! `rt`: test that a CORBA priority holds from the client's thread to the servant.
//!
//! An urgent client (*high*) calls beside others (*low*) of lower priorities that make calls as
//! fast as they can, all in one process and their servants in another, each process on one
//! processor. `latency` is the acceptance experiment: a paced high client, alone and beside the
//! load, whose times are judged by goals. `series` are the papers' experiments over the number of
//! low clients.
//!
//! The harness starts two processes for each contender (`setup`: lanes, a pool, an ORB a
//! thread, raw sockets with the same priorities as the `floor`, `omniorb`); pairs live through a
//! placement and take turns, a `batch` at a time.
//!
//! A real-time load that does not end would keep all other processes from the processor. Each batch
//! has a limit, low clients stop with the high one, and a `watchdog` with the highest priority ends
//! a process that exceeds the limit.

pub(crate) mod awake;
mod batch;
mod calling;
mod client;
mod floor;
pub(crate) mod latency;
pub(crate) mod launch;
pub(crate) mod mutex;
pub(crate) mod network;
mod omniorb;
pub(crate) mod order;
pub(crate) mod receive;
pub(crate) mod series;
mod server;
mod setup;
pub(crate) mod starting;
mod watchdog;
pub(crate) mod work;

use crate::Result;
use crate::contender::Harness;
use crate::experiment::{self, Pair};
use crate::placement::{Placement, Processors};
use clap::{Args, Subcommand};
pub(crate) use client::call;
pub(crate) use server::serve;
pub(crate) use setup::Setup;
use setup::{Contender, HIGH, LOWEST, Link};

/// Experiment with priorities.
#[derive(Debug, Subcommand)]
pub enum Experiment {
    /// Measure a paced high client, alone and beside low ones at full load.
    Latency(latency::Options),
    /// Run Schmidt 2000's priority inversion test: a high client at full load of calls, and 1 to 50
    /// low ones of one priority, or of one each.
    Inversion(series::Inversion),
    /// Run O'Ryan et al. 2001's figures 14 and 15: an ORB a thread against endpoints with
    /// priorities, beside 1 to 15 low clients of different priorities.
    Endpoints(series::Endpoints),
    /// Run Schmidt 2000's comparison of thread pools: one whose threads read and serve, one that
    /// buffers, a thread for each connection, and lanes, beside low clients of different
    /// priorities.
    Pools(series::Pools),
    /// Check that requests are served in the order of their priorities, by a timeline of each.
    Order(order::Options),
    /// Measure how long an urgent thread waits for a lock while one in between computes, by locks
    /// that inherit priorities, that have a ceiling, and by a plain one.
    Mutex(mutex::Options),
    /// Measure an urgent call beside bulk transfers over a slow link, with and without classes of packets, DSCP and
    /// pacing. Needs root, for two network namespaces.
    Network(network::Options),
    /// Run one side of `network`, as that starts it.
    #[command(hide = true)]
    NetworkSide(network::SideOptions),
    /// Measure the jitter of periodic one-ways at their receiver, with and without launch times. Needs root, for two network
    /// namespaces.
    Launch(launch::Options),
    /// Run one side of `launch`, as that starts it.
    #[command(hide = true)]
    LaunchSide(launch::SideOptions),
    /// Measure calls with and without busy polling and receive steering. Needs root, for two network namespaces, and
    /// `ethtool`.
    Receive(receive::Options),
    /// Run one side of `receive`, as that starts it.
    #[command(hide = true)]
    ReceiveSide(receive::SideOptions),
    /// Measure the time of a server with lanes from the start of its process to its first reply.
    Start(starting::Options),
}

/// Common options of the experiments.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Link over which the calls are made.
    #[arg(long, default_value = "uiop")]
    link: Link,
    /// Processors of client and server.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    placement: Vec<Placement>,
    /// Only these contenders; the raw-socket baseline always takes part.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    contenders: Vec<Contender>,
    /// Processor time of each upcall, in microseconds.
    #[arg(long, default_value_t = 0, value_name = "MICROSECONDS", value_parser = clap::value_parser!(u64).range(..=10_000))]
    work: u64,
    /// Schedule threads by SCHED_OTHER; CORBA priorities are only propagated.
    #[arg(long)]
    best_effort: bool,
    /// Native priority of a pool's threads between upcalls; the high client's is 80, those of the
    /// low ones are from 10 on.
    #[arg(long, default_value_t = LOWEST, value_parser = clap::value_parser!(i16).range(1..=i64::from(HIGH)))]
    pool_priority: i16,
}

impl Common {
    /// Returns those of the known contenders that the options select, and the raw-socket baseline.
    fn wanted(&self, known: &[Contender]) -> Result<Vec<Contender>> {
        if let Some(other) = self.contenders.iter().find(|one| !known.contains(one)) {
            return Err(format!("`{other}` has no part in this experiment").into());
        }
        let is_wanted = |one: &Contender| {
            *one == Contender::Floor || self.contenders.is_empty() || self.contenders.contains(one)
        };
        Ok(known.iter().copied().filter(is_wanted).collect())
    }

    /// Checks that the machine grants real-time priorities.
    ///
    /// # Errors
    /// The machine does not grant them; the message gives advice.
    fn check_rights(&self) -> Result<()> {
        match setup::rt_orb(self.best_effort) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{error}; `--best-effort` runs without").into()),
        }
    }

    /// Returns the setup of a contender.
    fn setup(&self, contender: Contender, low: u16, alike: bool) -> Setup {
        Setup {
            contender,
            link: self.link,
            low,
            alike,
            best_effort: self.best_effort,
            work: self.work,
            pool_priority: self.pool_priority,
        }
    }
}

/// Runs an experiment.
///
/// # Errors
/// The machine does not grant real-time priorities, a contender fails, or a file cannot be written.
pub fn run(harness: &Harness, experiment: &Experiment) -> Result<()> {
    match experiment {
        Experiment::Latency(options) => latency::run(harness, options),
        Experiment::Inversion(options) => series::run(harness, &options.plan()?),
        Experiment::Endpoints(options) => series::run(harness, &options.plan()?),
        Experiment::Pools(options) => series::run(harness, &options.plan()?),
        Experiment::Order(options) => order::run(options),
        Experiment::Mutex(options) => mutex::run(options),
        Experiment::Network(options) => network::run(options),
        Experiment::NetworkSide(options) => network::run_side(options),
        Experiment::Launch(options) => launch::run(options),
        Experiment::LaunchSide(options) => launch::run_side(options),
        Experiment::Receive(options) => receive::run(options),
        Experiment::ReceiveSide(options) => receive::run_side(options),
        Experiment::Start(options) => starting::run(harness, options),
    }
}

/// Starts the processes of a contender.
///
/// # Errors
/// The reason why it cannot take part.
fn start(harness: &Harness, setup: &Setup, at: Option<Processors>) -> Result<Pair> {
    let at = at.ok_or("each side needs a processor here")?;
    match setup.contender {
        Contender::OmniOrb | Contender::OmniOrbFifo => {
            let its = omniorb::Sides::of(harness, setup)?;
            Pair::start(&mut its.server(at.server), |address| {
                its.client(at.client, address)
            })
        }
        _ => experiment::start(harness, &experiment::Setup::Rt(setup.clone()), Some(at)),
    }
}

/// Returns the name of the scheduling policy of the clients and servers.
fn scheduled(best_effort: bool) -> &'static str {
    match best_effort {
        true => "SCHED_OTHER",
        false => "SCHED_FIFO",
    }
}
