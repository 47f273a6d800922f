//! `scale`: how servers keep up with more clients and more processors, by concurrency strategy and link.
//!
//! Each client is a thread with a connection of its own that makes void calls one after the other. Server and
//! clients share as many processors as a stage has, or each side has half of them (`--apart`). The same client calls all servers (`client`), and
//! connections stay open through all rounds of a point (`turns`). A server's processor time and context switches are the
//! kernel's, of the threads that it has at the end of a turn.

mod client;
mod place;
mod server;
mod turns;

pub(crate) use client::{Setup, call};

use crate::Result;
use crate::contender::{self, Harness, Selection};
use crate::experiment::{
    self, Bound, Chart, Column, Effort, Experiment, Report, Row, Sheet, Stage, Tabled,
};
use crate::output::Output;
use crate::placement::Placement;
use clap::{Args, ValueEnum};
use place::Place;
use server::{Link, Server, Strategy};
use turns::{Point, Scale};

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
    use super::turns::Turns;
    use super::*;
    use crate::contender::{Contender, RAW_TCP};
    use crate::experiment::Workload;
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
}
