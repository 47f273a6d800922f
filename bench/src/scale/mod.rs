//! `scale`: how servers keep up with more clients and more processors, by concurrency strategy and link.
//!
//! Each client is a thread with a connection of its own that makes void calls one after the other. Server and
//! clients share as many processors as a stage has, or each side has half of them (`--apart`). The same client calls all servers (`client`), and
//! connections stay open through all rounds of a point. A server's processor time and context switches are the
//! kernel's, of the threads that it has at the end of a turn.

mod client;
mod place;

pub(crate) use client::{Setup, call};

use crate::Result;
use crate::contender::{self, Contender, Harness, RAW_TCP, RAW_UNIX, Selection};
use crate::experiment::{
    self, Bound, Chart, Column, Effort, Experiment, Outcome, Pair, Report, Row, Sheet, Stage,
    Tabled, Turn, Workload, record_of,
};
use crate::omniorb;
use crate::output::Output;
use crate::placement::{self, Placement};
use crate::protocol::Order;
use crate::statistics::{Rates, Record, median, paired_ratio};
use clap::{Args, ValueEnum};
use client::Calls;
use place::Place;
use serde::Serialize;
use std::fmt;

/// Goal: calls a second of a pool or a reactor, as a ratio to those of a thread for each connection.
const RATE: f64 = 0.85;
/// Goal: its 99th percentile, as a ratio to theirs.
const P99: f64 = 1.0;
/// Upper bound of the clients.
const MOST: u32 = 1024;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "scale",
    "how servers keep up with more clients and processors, by concurrency strategy and link",
)
.conditions(
    "{rounds} rounds of {millis} ms, clients with a connection each",
)
.tables(&[Tabled::listing(
    "rows",
    "{link}, {place}: void calls, µs of a call",
    "{clients} × {strategy}",
    &[
        Column::number("calls/s", "rate").marked_by("noisy"),
        Column::spread(),
        Column::micros("p50", "p50"),
        Column::micros("p99", "p99"),
        Column::micros("processor", "processor").decimals(2),
        Column::ratio("switches", "switches"),
        Column::ratio("× floor", "ratio").known_by("known"),
        Column::ratio("× omniORB", "beside_omniorb").known_by("beside_omniorb_known"),
        Column::ratio("× threads", "beside_threads")
            .rated(Bound::AtLeast(RATE))
            .known_by("beside_threads_known"),
        Column::ratio("p99 × threads", "p99_beside_threads")
            .rated(Bound::AtMost(P99))
            .known_by("beside_threads_known"),
    ],
)
.each(&["link", "place"])])
.sheet(Sheet::new(
    (520, 360),
    3,
    &[
        over_clients("{link}, {place}: calls a second", &[("{strategy}", "rate")], (1.0, "calls a second")),
        over_clients("{link}, {place}: 99th percentile", &[("{strategy}", "p99")], (1000.0, "µs")),
        over_clients("{link}, {place}: the server's processor time a call", &[("{strategy}", "processor")], (1000.0, "µs")),
    ],
))
.remarks(&[
    "processor and switches: the server's processor time and its context switches, a call",
    "goal of leader_followers and reactive: ≥ 0.85 × the calls of thread_per_connection, and p99 not above its",
]);

const fn over_clients(
    title: &'static str,
    curves: &'static [(&'static str, &'static str)],
    up: (f64, &'static str),
) -> Chart {
    Chart::lines("rows", title, ("clients", "clients"), curves, up)
        .logarithmic(true, false)
        .each(&["link", "place"])
}

/// Options of the command `scale`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Links.
    #[arg(long, value_delimiter = ',', default_values = ["iiop", "uiop"])]
    link: Vec<Link>,
    /// Concurrency strategies of the server.
    #[arg(long, value_delimiter = ',',
        default_values = ["thread_per_connection", "leader_followers", "reactive"])]
    strategies: Vec<Strategy>,
    /// Numbers of clients.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 32],
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    clients: Vec<u32>,
    /// Numbers of processors; by default 1, 2, 4, 8 … and all that this process may run on.
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS")]
    processors: Vec<usize>,
    /// The server has half of the processors, and the clients the others; by default they share them. Where they do,
    /// each thread has its share of them, so that a server with few threads has a small one.
    #[arg(long)]
    apart: bool,
    /// Milliseconds of a contender's turn.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    millis: u64,
    /// Rounds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Repetitions of a point whose rates vary by more than 10 %; the attempt with the least noise counts.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=100))]
    again: u32,
    #[command(flatten)]
    output: Output,
}

/// Link between server and clients. Shared memory has threads for connections only, so that there is nothing
/// to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Link {
    /// TCP.
    Iiop,
    /// Unix sockets.
    Uiop,
}

/// Concurrency strategy of the server, by its name in configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
enum Strategy {
    /// A thread for each connection.
    ThreadPerConnection,
    /// A pool of threads: Leader/Followers.
    LeaderFollowers,
    /// One thread for all connections.
    Reactive,
}

impl Link {
    /// Returns the contender whose server has a strategy on this link.
    const fn served(self, strategy: Strategy) -> &'static str {
        match (self, strategy) {
            (Self::Iiop, Strategy::ThreadPerConnection) => "punctual",
            (Self::Iiop, Strategy::LeaderFollowers) => "punctual-lf",
            (Self::Iiop, Strategy::Reactive) => "punctual-reactive",
            (Self::Uiop, Strategy::ThreadPerConnection) => "punctual-uiop",
            (Self::Uiop, Strategy::LeaderFollowers) => "punctual-uiop-lf",
            (Self::Uiop, Strategy::Reactive) => "punctual-uiop-reactive",
        }
    }

    /// Returns omniORB's contender on this link, and the floor.
    const fn others(self) -> [&'static str; 2] {
        match self {
            Self::Iiop => [omniorb::NAME, RAW_TCP],
            Self::Uiop => ["omniorb-unix", RAW_UNIX],
        }
    }
}

/// Point of a stage: a number of clients.
struct Point {
    place: Place,
    clients: u32,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = self.place.link.to_possible_value();
        let link = link.as_ref().map_or("", |link| link.get_name());
        let place = self.place.named();
        write!(f, "{link}, {place}, {} client(s)", self.clients)
    }
}

/// Server that takes part: a contender, and its name in tables.
#[derive(Clone, Debug)]
struct Server {
    contender: Contender,
    strategy: String,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.contender.fmt(f)
    }
}

impl Server {
    fn is_floor(&self) -> bool {
        self.contender.floor == self.contender.name
    }

    /// Returns whether the server is this ORB's.
    fn is_ours(&self) -> bool {
        !self.is_floor() && !self.is_omniorb()
    }

    fn is_omniorb(&self) -> bool {
        self.contender.name.starts_with(omniorb::NAME)
    }

    fn has_threads(&self) -> bool {
        self.is(Strategy::ThreadPerConnection)
    }

    fn is(&self, strategy: Strategy) -> bool {
        strategy
            .to_possible_value()
            .is_some_and(|value| value.get_name() == self.strategy)
    }
}

/// Record of a server's turns at a point.
#[derive(Debug, Default)]
struct Turns {
    rates: Rates,
    times: Record,
    /// Processor time of a call in each round, in nanoseconds.
    processor: Vec<f64>,
    /// Context switches of a call in each round.
    switches: Vec<f64>,
}

struct Scale<'h> {
    harness: &'h Harness,
    millis: u64,
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

/// Runs the command.
///
/// # Errors
/// More processors are asked for than there are, a server fails, or a file cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let allowed = punctual_sys::processor::allowed()?;
    let sets = options.sets(&allowed)?;
    let settings = Row::default()
        .with("rounds", options.rounds)
        .with("millis", options.millis);
    let mut report = Report::new(&EXPERIMENT, settings);
    let mut stages = Vec::new();
    for &link in &options.link {
        let servers = options.servers(harness, link, &mut report)?;
        let places = sets.iter().map(|set| options.place(link, set));
        stages.extend(places.map(|place| options.stage(place, &servers)));
    }
    let effort = Effort {
        rounds: options.rounds,
        again: options.again,
    };
    let scale = Scale {
        harness,
        millis: options.millis,
    };
    experiment::run(&scale, &stages, effort, &mut report);
    options.output.deliver(&report)
}

impl Options {
    /// Returns the sets of processors, the last of those that the process may run on.
    fn sets(&self, allowed: &[usize]) -> Result<Vec<Vec<usize>>> {
        let all = allowed.len();
        let powers = std::iter::successors(Some(1), |number| Some(number * 2));
        let usual = powers.take_while(|&number| number < all).chain([all]);
        let least = if self.apart { 2 } else { 1 };
        let numbers: Vec<usize> = match self.processors.is_empty() {
            true => usual.filter(|&number| number >= least).collect(),
            false => self.processors.clone(),
        };
        if numbers.is_empty() {
            return Err("--apart: this process may run on 1 processor only".into());
        }
        let set = |number: usize| {
            match number {
            0 => Err("--processors: 0 processors cannot serve".into()),
            1 if self.apart => Err("--apart: server and clients need a processor each, so at least --processors 2".into()),
            _ => all.checked_sub(number).map_or_else(
                || Err(format!("--processors: {number} are more than the {all} that this process may run on").into()),
                |first| Ok(allowed[first..].to_vec()),
            ),
        }
        };
        numbers.into_iter().map(set).collect()
    }

    /// Returns the place where these processors serve a link's clients.
    fn place(&self, link: Link, processors: &[usize]) -> Place {
        let (of_clients, of_server) = match self.apart {
            true => processors.split_at(processors.len() / 2),
            false => (processors, processors),
        };
        Place {
            link,
            of_server: of_server.to_vec(),
            of_clients: of_clients.to_vec(),
        }
    }

    /// Returns the servers that take part on a link; those that cannot are listed as skipped.
    fn servers(&self, harness: &Harness, link: Link, report: &mut Report) -> Result<Vec<Server>> {
        let named = |strategy: &Strategy| {
            let value = strategy.to_possible_value();
            let name = value.map_or_else(String::new, |value| value.get_name().to_owned());
            (link.served(*strategy), name)
        };
        let ours = self.strategies.iter().map(named);
        let others = link.others().map(|name| (name, name.to_owned()));
        let all: Vec<(&str, String)> = ours.chain(others).collect();
        let wanted: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let (here, absent) = contender::known(harness, &Selection::of(&wanted)?);
        absent.iter().for_each(|absent| report.skip(absent));
        let server = |(name, strategy): (&str, String)| {
            let contender = here.iter().find(|one| one.name == name)?.clone();
            Some(Server {
                contender,
                strategy,
            })
        };
        Ok(all.into_iter().filter_map(server).collect())
    }

    fn stage<'h>(&self, place: Place, servers: &[Server]) -> Stage<Scale<'h>> {
        let point = |&clients| Point {
            place: place.clone(),
            clients,
        };
        Stage {
            placement: Placement::Unpinned,
            contenders: servers.to_vec(),
            points: self.clients.iter().map(point).collect(),
            setting: place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::parsed;

    fn sets(arguments: &[&str], allowed: &[usize]) -> Result<Vec<Vec<usize>>> {
        parsed::<Options>(arguments)?.sets(allowed)
    }

    #[test]
    fn powers_of_two_and_all_processors_are_compared_unless_numbers_are_given() {
        let numbers = |all: usize| -> Vec<usize> {
            let allowed: Vec<usize> = (0..all).collect();
            sets(&[], &allowed).unwrap().iter().map(Vec::len).collect()
        };
        assert_eq!(numbers(1), [1]);
        assert_eq!(numbers(2), [1, 2]);
        assert_eq!(numbers(6), [1, 2, 4, 6]);
        assert_eq!(numbers(16), [1, 2, 4, 8, 16]);
        let chosen = sets(&["--processors=2"], &[1, 4, 7]).unwrap();
        assert_eq!(chosen, [[4, 7]]);
    }

    #[test]
    fn server_and_clients_share_processors_or_have_half_of_them_each() {
        let place = |arguments: &[&str]| {
            let options: Options = parsed(arguments).unwrap();
            options.place(Link::Uiop, &[1, 4, 7])
        };
        let shared = place(&[]);
        assert_eq!(shared.of_server, shared.of_clients);
        assert_eq!(
            (shared.processors(), shared.named().as_str()),
            (3, "3 processor(s), shared")
        );
        let apart = place(&["--apart"]);
        assert_eq!(
            (apart.of_server.as_slice(), apart.of_clients.as_slice()),
            (&[4, 7][..], &[1][..])
        );
        assert_eq!(apart.processors(), 3);
        assert_eq!(
            sets(&["--apart"], &[0, 1, 2]).unwrap(),
            [vec![1, 2], vec![0, 1, 2]]
        );
        assert!(sets(&["--apart"], &[0]).is_err());
        assert!(sets(&["--apart", "--processors=1"], &[0, 1]).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = sets(&["--processors=1,3"], &[0, 1]).unwrap_err();
        assert!(
            refused.to_string().contains("3 are more than the 2"),
            "{refused}"
        );
        assert!(sets(&["--processors=0"], &[0, 1]).is_err());
        for arguments in [
            "--clients=0",
            "--clients=1025",
            "--strategies=threads",
            "--link=shmiop",
            "--rounds=0",
            "--millis=0",
        ] {
            assert!(sets(&[arguments], &[0]).is_err(), "{arguments}");
        }
    }

    /// Returns the rows of these servers, given the time of a call in each of three rounds.
    fn rows(servers: &[(&'static str, &'static str, u64)]) -> Vec<Row> {
        let outcomes: Vec<(Server, Turns)> = servers
            .iter()
            .map(|&(name, strategy, time)| {
                let floor = if name == RAW_TCP { name } else { "raw-tcp" };
                let server = Server {
                    contender: Contender::imagined(name, floor),
                    strategy: strategy.to_owned(),
                };
                let mut turns = Turns::default();
                for _ in 0..3 {
                    turns.rates.add_round(10, 10 * time);
                    turns.times.add_round(&[time; 10]);
                    turns.processor.push(time as f64 / 2.0);
                    turns.switches.push(1.0);
                }
                (server, turns)
            })
            .collect();
        let outcomes: Vec<_> = outcomes.iter().map(|(who, turns)| (who, turns)).collect();
        let options: Options = parsed(&[]).unwrap();
        let place = options.place(Link::Iiop, &[0]);
        let stage = options.stage(place, &[]);
        let harness = Harness {
            program: "".into(),
            peers: "".into(),
        };
        let scale = Scale {
            harness: &harness,
            millis: 1,
        };
        scale.rows(&stage, &stage.points[0], &outcomes)
    }

    #[test]
    fn strategies_are_compared_with_the_floor_omniorb_and_threads() {
        let all = rows(&[
            ("punctual", "thread_per_connection", 200),
            ("punctual-lf", "leader_followers", 400),
            ("omniorb", "omniorb", 800),
            ("raw-tcp", "raw-tcp", 100),
        ]);
        let numbers = |name: &str| -> Vec<Option<f64>> {
            let row = |row: &Row| {
                row.number(name)
                    .map(|value| (value * 1000.0).round() / 1000.0)
            };
            all.iter().map(row).collect()
        };
        assert_eq!(
            numbers("ratio"),
            [Some(0.5), Some(0.25), Some(0.125), Some(1.0)]
        );
        assert_eq!(
            numbers("beside_omniorb"),
            [Some(4.0), Some(2.0), None, None]
        );
        assert_eq!(numbers("beside_threads"), [None, Some(0.5), None, None]);
        assert_eq!(numbers("p99_beside_threads"), [None, Some(2.0), None, None]);
        assert_eq!(numbers("processor")[1], Some(200.0));
        let mut report = Report::new(
            &EXPERIMENT,
            Row::default().with("rounds", 3).with("millis", 1),
        );
        report.add("rows", all);
        let text = report.to_string();
        assert!(text.contains("iiop, 1 processor(s), shared"), "{text}");
        assert!(text.contains("1 × leader_followers"), "{text}");
    }

    #[test]
    fn every_strategy_on_every_link_is_a_contender() {
        for link in Link::value_variants() {
            for strategy in Strategy::value_variants() {
                let name = link.served(*strategy);
                let selected = Selection::of(&[name]).unwrap();
                assert_eq!(selected, Selection::of(&[link.others()[1], name]).unwrap());
            }
        }
    }

    #[test]
    fn processes_are_started_on_the_processors_of_their_stage() {
        let allowed = punctual_sys::processor::allowed().unwrap();
        let last = *allowed.last().unwrap();
        let there = on(&[last], || Ok(punctual_sys::processor::allowed()?)).unwrap();
        assert_eq!(there, [last]);
        assert_eq!(punctual_sys::processor::allowed().unwrap(), allowed);
    }
}
