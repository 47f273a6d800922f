//! Measurement in turns, so that a temporary slowdown of the machine affects all contenders.

use super::contender::{Contender, LeftOut, Running};
use super::operation::Operation;
use super::peer::Command;
use crate::Result;
use crate::contender::Harness;
use crate::placement::Processors;
use crate::running::in_turn;
use crate::statistics::{Record, median, spread};
use indicatif::ProgressBar;
use serde::Serialize;

/// Amount of measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) rounds: u32,
    pub(super) calls: u32,
}

/// Started contenders. One that fails is out from then on.
pub(super) struct Field {
    entrants: Vec<Entrant>,
    failed: Vec<LeftOut>,
    one_way: Vec<String>,
}

struct Entrant {
    contender: Contender,
    running: Option<Running>,
}

/// One-ways of one contender.
#[derive(Clone, Debug, Default)]
pub(super) struct Flood {
    /// Requests per second that the server counted, by round.
    rates: Vec<f64>,
    sent: u64,
    lost: u64,
}

/// Figures of a [`Flood`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Throughput {
    /// Median of the rounds' rates, in requests per second.
    pub(super) rate: f64,
    /// Spread of the rates: their interquartile range, divided by `rate`.
    pub(super) spread: f64,
    pub(super) sent: u64,
    pub(super) lost: u64,
}

impl Field {
    pub(super) fn start(
        harness: &Harness,
        contenders: &[Contender],
        processors: Processors,
        orb: &[String],
    ) -> Self {
        let mut field = Self {
            entrants: Vec::new(),
            failed: Vec::new(),
            one_way: Vec::new(),
        };
        for contender in contenders {
            match Running::start(harness, contender, processors, orb) {
                Ok(running) => field.enter(contender, running),
                Err(error) => field.failed.push(left_out(contender, &error)),
            }
        }
        field
    }

    fn enter(&mut self, contender: &Contender, running: Running) {
        if running.is_one_way() {
            self.one_way.push(contender.name.clone());
        }
        self.entrants.push(Entrant {
            contender: contender.clone(),
            running: Some(running),
        });
    }

    /// Returns the contenders that have one-ways only.
    pub(super) fn one_way(&self) -> &[String] {
        &self.one_way
    }

    /// Runs the rounds of `operation`; contenders that cannot take part have no record.
    pub(super) fn compete(
        &mut self,
        operation: Operation,
        effort: Effort,
        progress: &ProgressBar,
    ) -> Vec<(Contender, Record)> {
        let warm_up = effort.calls.div_ceil(10);
        let command = |calls| Command::Run {
            operation,
            warm_up,
            calls,
        };
        let takes_part = |entrant: &Entrant| {
            let two_way = entrant.running.as_ref().is_some_and(|it| !it.is_one_way());
            two_way && (operation.has_floor() || entrant.contender.protocol().is_some())
        };
        // Buffers grow in the first batch, which does not count.
        self.each_in_turn(0, takes_part, command(0), |_, _| {});
        let mut records = vec![Record::default(); self.entrants.len()];
        for round in 0..effort.rounds as usize {
            self.each_in_turn(round, takes_part, command(effort.calls), |who, samples| {
                records[who].add_round(samples);
            });
            progress.inc(1);
        }
        self.named(records)
    }

    /// Runs rounds of one-ways with this many bytes, by the contenders that have nothing else and
    /// by the base.
    pub(super) fn flood(
        &mut self,
        octets: u32,
        effort: Effort,
        progress: &ProgressBar,
    ) -> Vec<(Contender, Flood)> {
        let command = |calls| Command::Flood { octets, calls };
        let takes_part = |entrant: &Entrant| {
            let one_way = entrant.running.as_ref().is_some_and(Running::is_one_way);
            one_way || entrant.contender.is_base()
        };
        let warm_up = effort.calls.div_ceil(10);
        self.each_in_turn(0, takes_part, command(warm_up), |_, _| {});
        let mut floods = vec![Flood::default(); self.entrants.len()];
        for round in 0..effort.rounds as usize {
            self.each_in_turn(round, takes_part, command(effort.calls), |who, samples| {
                floods[who].add_round(samples, effort.calls);
            });
            progress.inc(1);
        }
        self.named(floods)
    }

    /// Lets each contender make a batch; the order rotates from round to round.
    fn each_in_turn(
        &mut self,
        round: usize,
        takes_part: impl Fn(&Entrant) -> bool,
        command: Command,
        mut done: impl FnMut(usize, &[u64]),
    ) {
        for who in in_turn(round, self.entrants.len()) {
            let entrant = &mut self.entrants[who];
            if !takes_part(entrant) {
                continue;
            }
            let Some(running) = &mut entrant.running else {
                continue;
            };
            match running.ask(command) {
                Ok(samples) => done(who, &samples),
                Err(error) => {
                    let error = format!("`{command}`: {error}");
                    self.failed.push(left_out(&entrant.contender, &error));
                    entrant.running = None;
                }
            }
        }
    }

    fn named<R>(&self, results: Vec<R>) -> Vec<(Contender, R)> {
        let contenders = self.entrants.iter().map(|it| it.contender.clone());
        contenders.zip(results).collect()
    }

    /// Ends all processes, and returns those that failed.
    pub(super) fn stop(mut self) -> Vec<LeftOut> {
        for Entrant { contender, running } in self.entrants {
            let ended = running.map_or(Ok(()), Running::stop);
            self.failed
                .extend(ended.err().map(|error| left_out(&contender, &error)));
        }
        self.failed
    }
}

impl Flood {
    #[allow(clippy::cast_precision_loss)]
    fn add_round(&mut self, samples: &[u64], sent: u32) {
        if let [took, counted] = *samples {
            self.rates.push(counted as f64 * 1e9 / took.max(1) as f64);
            self.sent += u64::from(sent);
            self.lost += u64::from(sent).saturating_sub(counted);
        }
    }

    /// Returns the figures; `None` before the first round.
    pub(super) fn throughput(&self) -> Option<Throughput> {
        Some(Throughput {
            rate: median(&self.rates)?,
            spread: spread(&self.rates)?,
            sent: self.sent,
            lost: self.lost,
        })
    }
}

fn left_out(contender: &Contender, error: &dyn std::fmt::Display) -> LeftOut {
    LeftOut {
        contender: contender.name.clone(),
        reason: error.to_string(),
    }
}

/// Fails when no contender could be measured.
pub(super) fn any<T>(results: &[T], failed: &[LeftOut]) -> Result<()> {
    match failed.first() {
        Some(first) if results.is_empty() => {
            Err(format!("{}: {}", first.contender, first.reason).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_the_median_of_its_rates_and_counts_what_was_lost() {
        let mut flood = Flood::default();
        assert_eq!(flood.throughput(), None);
        for (took, counted) in [(1_000_000, 10), (2_000_000, 10), (1_000_000, 8)] {
            flood.add_round(&[took, counted], 10);
        }
        let figures = flood.throughput().unwrap();
        assert!((figures.rate - 8000.0).abs() < 1e-6, "{figures:?}");
        assert_eq!((figures.sent, figures.lost), (30, 2));
    }
}
