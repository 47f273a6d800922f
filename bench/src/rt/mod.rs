//! `rt`: whether a CORBA priority holds from the client's thread to the servant.
//!
//! An urgent client (*high*) calls beside others (*low*) of lower priorities that make calls as fast as they can, all in
//! one process and their servants in another, each process on one processor. `latency` is the acceptance
//! experiment: a paced high client, alone and beside the load, whose times are held against `goals`. `series` are the
//! papers' experiments over the number of low clients.
//!
//! The harness starts a `pair` of processes for each contender (`setup`: lanes, a pool, an ORB a thread, raw sockets
//! with the same priorities as the `floor`, `omniorb`); pairs live through a placement and take turns, a `batch` at a time.
//!
//! A real-time load that does not end would keep everybody else from the processor. Each batch has a limit, low clients
//! stop with the high one, and a `watchdog` ahead of all others ends a process that does not keep to it.

mod awake;
mod batch;
mod calling;
mod client;
mod floor;
mod goals;
mod latency;
mod mutex;
mod omniorb;
mod order;
mod pair;
mod plot;
mod report;
mod series;
mod server;
mod setup;
mod start;
mod watchdog;
mod work;

use crate::Result;
use crate::contender::Harness;
use crate::peer::or_told;
use crate::placement::Placement;
use clap::{Args, Subcommand};
use setup::{Contender, HIGH, LOWEST, Link, Setup};

/// Which experiment.
#[derive(Debug, Subcommand)]
pub enum Experiment {
    /// A paced high client, alone and beside low ones at full load.
    Latency(latency::Options),
    /// Schmidt 2000's priority inversion test: a high client at full load of calls, and 1 to 50 low ones of one priority.
    Inversion(series::Inversion),
    /// O'Ryan et al. 2001's figures 14 and 15: an ORB a thread against endpoints with priorities, beside 1 to 15 low clients of
    /// different priorities.
    Endpoints(series::Endpoints),
    /// Schmidt 2000's comparison of thread pools: one whose threads read and serve, one that buffers, a thread for each
    /// connection, and lanes, beside low clients of different priorities.
    Pools(series::Pools),
    /// Whether requests are served in the order of their priorities, by a timeline of each.
    Order(order::Options),
    /// Three threads and a lock: how long an urgent one waits while one in between computes, by locks that inherit priorities,
    /// that have a ceiling, and by a plain one.
    Mutex(mutex::Options),
    /// How long a server with lanes takes from the start of its process to its first reply.
    Start(start::Options),
}

/// A side of a pair.
#[derive(Debug, Subcommand)]
pub enum Peer {
    /// Serve until the input ends.
    Server(server::Server),
    /// Call as the input says.
    Client(client::Client),
}

/// What the experiments have in common.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// What carries the calls.
    #[arg(long, default_value = "uiop")]
    link: Link,
    /// Where client and server run.
    #[arg(long, value_delimiter = ',', default_values = ["same", "cross"])]
    placement: Vec<Placement>,
    /// Only these contenders; the floor always takes part.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    contenders: Vec<Contender>,
    /// What each upcall takes of the processor, in microseconds.
    #[arg(long, default_value_t = 0, value_name = "MICROSECONDS", value_parser = clap::value_parser!(u64).range(..=10_000))]
    work: u64,
    /// Threads are scheduled by SCHED_OTHER, and CORBA priorities only travel.
    #[arg(long)]
    best_effort: bool,
    /// The native priority that a pool's threads have between upcalls; the high client's is 80, those of the low ones are
    /// from 10 on.
    #[arg(long, default_value_t = LOWEST, value_parser = clap::value_parser!(i16).range(1..=i64::from(HIGH)))]
    pool_priority: i16,
}

impl Common {
    /// Those of these contenders that are asked for, and the floor.
    fn wanted(&self, known: &[Contender]) -> Result<Vec<Contender>> {
        if let Some(other) = self.contenders.iter().find(|one| !known.contains(one)) {
            return Err(format!("`{other}` has no part in this experiment").into());
        }
        let is_wanted = |one: &Contender| {
            *one == Contender::Floor || self.contenders.is_empty() || self.contenders.contains(one)
        };
        Ok(known.iter().copied().filter(is_wanted).collect())
    }

    /// Whether the machine grants what is asked for.
    ///
    /// # Errors
    /// When it does not, with advice.
    fn check_rights(&self) -> Result<()> {
        match setup::rt_orb(self.best_effort) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{error}; `--best-effort` runs without").into()),
        }
    }

    /// The setup of a contender.
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
/// When the machine does not grant real-time priorities, a contender fails, or a file cannot be written.
pub fn run(harness: &Harness, experiment: &Experiment) -> Result<()> {
    match experiment {
        Experiment::Latency(options) => latency::run(harness, options),
        Experiment::Inversion(options) => series::run(harness, &options.plan()?),
        Experiment::Endpoints(options) => series::run(harness, &options.plan()?),
        Experiment::Pools(options) => series::run(harness, &options.plan()?),
        Experiment::Order(options) => order::run(options),
        Experiment::Mutex(options) => mutex::run(options),
        Experiment::Start(options) => start::run(harness, options),
    }
}

/// Runs a side of a pair. What keeps it from its work it tells the harness, which tells people.
///
/// # Errors
/// When the harness is gone.
pub fn run_peer(peer: &Peer) -> Result<()> {
    or_told(match peer {
        Peer::Server(server) => server::serve(server),
        Peer::Client(client) => client::run(client),
    })
}

/// Says what went wrong, if anything did.
fn verdict_of(failed: &[String]) -> Result<()> {
    match failed.len() {
        0 => Ok(()),
        number => Err(format!("{number} failure(s), see the end of the report").into()),
    }
}

/// How a load is scheduled, in words.
fn scheduled(best_effort: bool) -> &'static str {
    match best_effort {
        true => "SCHED_OTHER",
        false => "SCHED_FIFO",
    }
}
