//! Turns of the servers at a point, what is recorded of them, and the rows that this makes.

use super::client::{Calls, Setup};
use super::place::Place;
use super::server::{Link, Server};
use crate::Result;
use crate::contender::Harness;
use crate::experiment::{self, Outcome, Pair, Row, Stage, Turn, Workload, record_of};
use crate::placement;
use crate::protocol::Order;
use crate::statistics::{Rates, Record, median, paired_ratio};
use clap::ValueEnum;
use std::fmt;

/// Point of a stage: a number of clients.
pub(super) struct Point {
    pub(super) place: Place,
    pub(super) clients: u32,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = self.place.link.to_possible_value();
        let link = link.as_ref().map_or("", |link| link.get_name());
        let place = self.place.named();
        write!(f, "{link}, {place}, {} client(s)", self.clients)
    }
}

/// Record of a server's turns at a point.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) rates: Rates,
    pub(super) times: Record,
    /// Processor time of a call in each round, in nanoseconds.
    pub(super) processor: Vec<f64>,
    /// Context switches of a call in each round.
    pub(super) switches: Vec<f64>,
}

pub(super) struct Scale<'h> {
    pub(super) harness: &'h Harness,
    pub(super) millis: u64,
}

impl Workload for Scale<'_> {
    type Setting = Place;
    type Contender = Server;
    type Point = Point;
    type Record = Turns;

    fn start(
        &self,
        stage: &Stage<Self>,
        who: &Server,
        _: Option<placement::Processors>,
    ) -> Result<Pair> {
        let place = &stage.setting;
        let setup = experiment::Setup::Scale(Setup {
            processors: place.of_clients.clone(),
            raw: who.is_floor(),
            unix: place.link == Link::Uiop,
        });
        on(&place.of_server, || {
            who.contender
                .start_with(|at| experiment::client(self.harness, &setup, None, at))
        })
    }

    /// Opens the connections of the point, and makes a fifth of a turn's calls.
    fn warm_up(&self, turn: Turn<'_, Self>) -> Result<()> {
        let millis = self.millis.div_ceil(5);
        turn.pair.ask(Order(calls(turn.point, millis))).map(drop)
    }

    fn turn(&self, turn: Turn<'_, Self>, record: &mut Turns) -> Result<()> {
        let (_, server) = turn.pair.observed();
        let before = (server.processor_time()?, server.switches()?.in_all());
        let told = turn.pair.ask(Order(calls(turn.point, self.millis)))?;
        let after = (server.processor_time()?, server.switches()?.in_all());
        let (took, samples) = told.split_first().ok_or("the client told nothing")?;
        let number = samples.len() as u64;
        record.rates.add_round(number, *took);
        record.times.add_round(samples);
        let each =
            |before: u64, after: u64| after.saturating_sub(before) as f64 / number.max(1) as f64;
        record.processor.push(each(before.0, after.0));
        record.switches.push(each(before.1, after.1));
        Ok(())
    }

    fn rows(&self, stage: &Stage<Self>, point: &Point, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
        let row = |(who, turns): &Outcome<'_, Self>| {
            let rates = &turns.rates;
            let beside = |fits: fn(&Server) -> bool, shows: bool| {
                let other = record_of::<Self>(outcomes, fits).filter(|_| shows)?;
                let p99 = paired_ratio(turns.times.p99s(), other.times.p99s());
                let known = !rates.is_noisy() && !other.rates.is_noisy();
                Some((rates.ratio_to(&other.rates)?, p99, known))
            };
            let floor = beside(Server::is_floor, true);
            let omniorb = beside(Server::is_omniorb, who.is_ours());
            let threads = beside(Server::has_threads, who.is_ours() && !who.has_threads());
            let row = Row::default()
                .with("link", stage.setting.link)
                .with("processors", stage.setting.processors())
                .with("place", stage.setting.named())
                .with("clients", point.clients)
                .with("strategy", &who.strategy)
                .with("contender", who.contender.name)
                .with("rate", rates.rate()?)
                .with("spread", rates.spread()?)
                .with("noisy", rates.is_noisy())
                .with("p50", median(turns.times.medians()))
                .with("p99", median(turns.times.p99s()))
                .with("processor", median(&turns.processor))
                .with("switches", median(&turns.switches))
                .with("ratio", floor.map(|beside| beside.0))
                .with("known", floor.is_some_and(|beside| beside.2))
                .with("beside_omniorb", omniorb.map(|beside| beside.0))
                .with(
                    "beside_omniorb_known",
                    omniorb.is_some_and(|beside| beside.2),
                )
                .with("beside_threads", threads.map(|beside| beside.0))
                .with("p99_beside_threads", threads.and_then(|beside| beside.1))
                .with(
                    "beside_threads_known",
                    threads.is_some_and(|beside| beside.2),
                );
            Some(row)
        };
        outcomes.iter().filter_map(row).collect()
    }
}

/// Returns the order for a turn of this length.
fn calls(point: &Point, millis: u64) -> Calls {
    Calls {
        clients: point.clients as usize,
        millis,
    }
}

/// Starts processes on these processors only: by a thread of its own, as they inherit its processors, and it
/// keeps them.
fn on<R: Send>(processors: &[usize], start: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let set = punctual_sys::processor::Processors::of(processors)?;
    std::thread::scope(|scope| {
        let starter = std::thread::Builder::new().name("starter".to_owned());
        let started = starter.spawn_scoped(scope, || {
            set.pin_own()?;
            start()
        })?;
        started.join().map_err(|_| "the starter panicked")?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_started_on_the_processors_of_their_stage() {
        let allowed = punctual_sys::processor::allowed().unwrap();
        let last = *allowed.last().unwrap();
        let there = on(&[last], || Ok(punctual_sys::processor::allowed()?)).unwrap();
        assert_eq!(there, [last]);
        assert_eq!(punctual_sys::processor::allowed().unwrap(), allowed);
    }
}
