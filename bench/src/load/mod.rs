//! `load`: effect of many other connections on the calls of a few.
//!
//! A hundred connections make calls in turn, one at a time, in four phases: alone (*quiet*), beside
//! thousands of connections that are silent after one call each (*connected*), while a tenth of all
//! is hostile (*hostile*), and alone again when the others have gone. The percentiles of the
//! hostile phase are compared with the quiet ones; where these differ much from each other, the
//! machine was disturbed. Before the others go, every silent connection makes a call again, and at
//! the end so does a new one: no call may be lost.
//!
//! All clients are in this process, on two threads, and use sockets of their own ([`crate::giop`]);
//! everything is bounded in number and in time, and stays on the loopback.

mod busy;
mod hostile;
mod report;

pub(crate) use report::EXPERIMENT;

use crate::Result;
use crate::child::Process;
use crate::contender::{self, Contender, Harness, Selection};
use crate::experiment::Report;
use crate::giop::{self, Connection, Target};
use crate::output::Json;
use crate::placement::{Placement, Processors};
use crate::process::Memory;
use crate::progress::progress;
use crate::running::Launch;
use busy::Busy;
use clap::Args;
use hostile::Crowd;
use report::ServerFigures;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time limit of a call on a silent connection, after which it counts as lost.
const CALL: Duration = Duration::from_secs(20);
/// Interval at which the server's thread count is checked after all clients have gone.
const GLANCE: Duration = Duration::from_millis(10);
/// Default contender.
const USUAL: &str = "punctual";

/// Options of the command `load`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these contenders.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub contenders: Vec<String>,
    #[command(flatten)]
    crowd: Size,
    #[command(flatten)]
    json: Json,
}

/// Numbers of connections, and the length of phases.
#[derive(Clone, Copy, Debug, Args)]
pub struct Size {
    /// Connections in all; a tenth of them is hostile.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub connections: u32,
    /// Connections, of these, that make calls all the time.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub busy: u32,
    /// Milliseconds of each of the four phases.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    pub phase: u64,
    /// Attacks per second of all hostile connections together.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub acts: u32,
}

impl Size {
    const fn hostile(self) -> usize {
        (self.connections / 10) as usize
    }

    /// Returns the number of silent connections, which make one call at the beginning and one at
    /// the end.
    const fn silent(self) -> usize {
        (self.connections as usize).saturating_sub(self.hostile() + self.busy as usize)
    }
}

/// Runs the command.
///
/// # Errors
/// A server fails or loses a call.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = Selection::named_or(&options.contenders, &[USUAL])?;
    let (contenders, absent) = contender::known(harness, &wanted.without_floors());
    let mut reports = Vec::new();
    for contender in &contenders {
        reports.push(measure(contender, options.crowd)?);
    }
    for absent in &absent {
        eprintln!("skipped {absent}");
    }
    options.json.deliver_all(&reports)
}

/// Runs all phases with one server. Server and clients have a processor each, where there are two:
/// left to the scheduler, a phase may take several times as long as the one before.
///
/// # Errors
/// The server does not start, or does not answer even without load.
pub(crate) fn measure(contender: &Contender, size: Size) -> Result<Report> {
    let processors = Placement::Cross.pinned().ok();
    // A thread of its own, as pinning is permanent and inherited by threads that it starts.
    let seen = std::thread::scope(|scope| {
        let clients = std::thread::Builder::new().name("clients".to_owned());
        let measuring = clients.spawn_scoped(scope, || {
            if let Some(processors) = processors {
                punctual_sys::processor::pin_to(processors.client)?;
            }
            run_phases(contender, size, processors)
        })?;
        measuring.join().map_err(|_| "the clients panicked")?
    });
    Ok(seen?.report(contender.name, size))
}

fn run_phases(
    contender: &Contender,
    size: Size,
    processors: Option<Processors>,
) -> Result<ServerFigures> {
    let mut seen = ServerFigures::default();
    giop::allow(size.connections as usize + SPARE)?;
    let progress = progress(STEPS);
    let step = |what: &'static str| {
        progress.inc(1);
        progress.set_message(what);
    };
    let server = contender.serve(&Launch {
        connections: Some(size.connections as usize + SPARE),
        processors,
        ..Launch::default()
    })?;
    let target = Target::of(server.said())?;
    let length = Duration::from_millis(size.phase);
    let started = server.observed().memory()?;
    let threads = server.observed().threads()?;

    step("quiet");
    let mut busy = Busy::connect(&target, size.busy)?;
    seen.phases.push(busy.run(report::QUIET, length)?);

    step("connecting");
    let mut silent = connect_silent(&target, size.silent())?;
    step("connected");
    seen.phases.push(busy.run("connected", length)?);

    step("hostile");
    let mut crowd = Crowd::connect(&target, size.hostile());
    seen.phases.push(beside(&mut crowd, size.acts, || {
        busy.run(report::HOSTILE, length)
    })?);
    let loaded = server.observed().memory()?;
    seen.threads = server.observed().threads()?;
    seen.hostile = crowd.deeds();

    step("looking for what is lost");
    seen.silent = silent.len();
    seen.silent_lost = count_lost(&target, &mut silent);
    drop((crowd, silent));
    step("quiet again");
    left(&server, threads + size.busy as usize)?;
    seen.phases.push(busy.run(report::QUIET_AGAIN, length)?);
    drop(busy);
    seen.alive = answers(&target);
    let gone = left(&server, threads)?;
    seen.memory = vec![
        ("at the start", started),
        ("under load", loaded),
        ("when all had gone", gone),
    ];
    server.stop()?;
    progress.finish_and_clear();
    Ok(seen)
}

/// Number of connections beyond the measured ones, for temporary use.
const SPARE: usize = 64;
/// Number of steps that the progress bar shows for a measurement.
const STEPS: usize = 6;

fn connect_silent(target: &Target, number: usize) -> Result<Vec<Connection>> {
    let mut silent = Vec::with_capacity(number);
    for _ in 0..number {
        let mut connection = target.connect()?;
        connection.call(target, 1, CALL)?;
        silent.push(connection);
    }
    Ok(silent)
}

/// Runs `work` while the hostile clients perform their attacks on a thread of their own.
fn beside<R>(crowd: &mut Crowd, acts: u32, work: impl FnOnce() -> Result<R>) -> Result<R> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let acting = std::thread::Builder::new()
            .name("hostile".to_owned())
            .spawn_scoped(scope, || crowd.act_until(&stop, acts))?;
        let done = work();
        // Relaxed, without a pairing: the thread only has to see the flag eventually.
        stop.store(true, Ordering::Relaxed);
        acting.join().map_err(|_| "the hostile side panicked")?;
        done
    })
}

fn count_lost(target: &Target, silent: &mut [Connection]) -> usize {
    let calls = silent.iter_mut().map(|one| one.call(target, 2, CALL));
    calls.filter(std::result::Result::is_err).count()
}

fn answers(target: &Target) -> bool {
    let call = |mut connection: Connection| connection.call(target, 1, CALL);
    target.connect().and_then(call).is_ok()
}

/// Returns the server's memory after all clients have gone: once the number of its threads is back
/// at the initial one, or after a time limit.
fn left(server: &Process, threads: usize) -> Result<Memory> {
    let began = Instant::now();
    while server.observed().threads()? > threads && began.elapsed() < CALL {
        std::thread::sleep(GLANCE);
    }
    server.observed().memory()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_are_busy_hostile_or_silent() {
        let size = Size {
            connections: 10_000,
            busy: 100,
            phase: 1,
            acts: 1,
        };
        assert_eq!(size.hostile(), 1000);
        assert_eq!(size.silent() + size.hostile() + 100, 10_000);
    }
}
