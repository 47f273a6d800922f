//! Measurement of the contenders, in turns.

use super::contender::Contender;
use super::order::{Order, What};
use super::report::{Latencies, Rates, Report};
use super::{Options, paper};
use crate::Result;
use crate::child::Process;
use crate::contender::Harness;
use crate::machine::Machine;
use crate::output::progress;
use crate::placement::{Placement, Processors};
use crate::protocol::Answer;
use crate::running::in_turn;
use crate::throughput::Pinning;
use clap::ValueEnum;
use std::process::Command;

/// Server and client of a contender, which live through all rounds of a placement, with their
/// results.
struct Entrant {
    contender: Contender,
    // Processes, in the order in which they are to end.
    client: Process,
    server: Process,
    latencies: Latencies,
    rates: Rates,
    failed: Option<String>,
}

/// Measures every selected contender, and the floor.
pub(super) fn measure(harness: &Harness, options: &Options) -> Result<Report> {
    let mut report = Report {
        machine: Machine::this(),
        rounds: options.rounds,
        calls: options.calls,
        many: options.many,
        skipped: Vec::new(),
        failed: Vec::new(),
        latency: Vec::new(),
        throughput: Vec::new(),
        goals: Vec::new(),
        paper: paper::PRINTED,
    };
    let contenders = match options.contenders.is_empty() {
        true => Contender::value_variants().to_vec(),
        false => [&[Contender::Floor], &options.contenders[..]].concat(),
    };
    let progress = progress(options.placement.len() * options.rounds as usize);
    for &placement in &options.placement {
        let at = match processors(placement) {
            Ok(at) => at,
            Err(reason) => {
                report.skipped.push(reason.to_string());
                continue;
            }
        };
        let mut entrants = contenders
            .iter()
            .map(|&contender| Entrant::start(harness, contender, at))
            .collect::<Result<Vec<_>>>()?;
        for round in 0..options.rounds as usize {
            for what in [What::Latency, What::Throughput] {
                for who in in_turn(round, entrants.len()) {
                    entrants[who].turn(what, options);
                }
            }
            progress.inc(1);
        }
        report.add(placement, entrants.iter().map(Entrant::reached));
        for entrant in entrants {
            report.failed.extend(entrant.stop());
        }
    }
    progress.finish_and_clear();
    Ok(report)
}

fn processors(placement: Pinning) -> Result<Option<Processors>> {
    Ok(match placement {
        Pinning::Same => Some(Placement::Same.pinned()?),
        Pinning::Cross => Some(Placement::Cross.pinned()?),
        Pinning::Unpinned => None,
    })
}

impl Entrant {
    fn start(harness: &Harness, contender: Contender, at: Option<Processors>) -> Result<Self> {
        let command = |side: &str, processor: Option<usize>| {
            let mut command = Command::new(&harness.program);
            command.args(["ami-peer", side]);
            if let Some(processor) = processor {
                command.args(["--pin", &processor.to_string()]);
            }
            if contender == Contender::Floor {
                command.arg("--floor");
            }
            command
        };
        let mut server = Process::spawn(&mut command("server", at.map(|at| at.server)))?;
        let address = server.until_ready()?;
        let mut client = command("client", at.map(|at| at.client));
        let mut client = Process::spawn(client.args(["--at", &address]))?;
        client.until_ready()?;
        Ok(Self {
            contender,
            client,
            server,
            latencies: Latencies::default(),
            rates: Rates::default(),
            failed: None,
        })
    }

    /// Lets a contender make its batch; one that fails is out from then on.
    fn turn(&mut self, what: What, options: &Options) {
        if self.failed.is_some() || what == What::Latency && !self.contender.has_latency() {
            return;
        }
        let done = match what {
            What::Latency => self.latency(options.calls),
            What::Throughput => self.throughput(options.many),
        };
        if let Err(error) = done {
            self.failed = Some(format!("{}: {error}", self.contender));
        }
    }

    fn latency(&mut self, calls: u32) -> Result<()> {
        self.ask(What::Latency, calls.div_ceil(10))?;
        let samples = self.ask(What::Latency, calls)?;
        self.latencies.add_round(&samples);
        Ok(())
    }

    fn throughput(&mut self, many: u32) -> Result<()> {
        // Each of several threads makes an equal share.
        let threads = self.contender.threads().unwrap_or(super::WINDOW);
        let whole = |calls: u32| calls.div_ceil(threads) * threads;
        self.ask(What::Throughput, whole(many.div_ceil(10)))?;
        let took = self.ask(What::Throughput, whole(many))?;
        let took = took.first().copied().unwrap_or_default();
        self.rates.add(whole(many), took);
        Ok(())
    }

    fn ask(&mut self, what: What, calls: u32) -> Result<Vec<u64>> {
        let contender = self.contender;
        match self.client.ask(Order {
            what,
            contender,
            calls,
        })? {
            Answer::Samples(samples) => Ok(samples),
            Answer::Error(error) => Err(error.into()),
            other => Err(format!("it answered {other:?}").into()),
        }
    }

    fn reached(&self) -> (Contender, &Latencies, &Rates) {
        (self.contender, &self.latencies, &self.rates)
    }

    /// Ends both processes; returns what went wrong.
    fn stop(self) -> Vec<String> {
        let ended = [self.client.stop(), self.server.stop()];
        let ended = ended
            .into_iter()
            .filter_map(|end| Some(end.err()?.to_string()));
        self.failed.into_iter().chain(ended).collect()
    }
}
