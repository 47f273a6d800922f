//! The programs that are measured: clients and servers in processes of their own.
//!
//! A client keeps its connection and its arguments; what is timed is the call alone, from before its
//! arguments are marshaled until its result is there.

mod dynamic;
mod floor;
mod punctual;
mod sample;

use crate::Result;
use crate::case::Case;
use crate::protocol::{Answer, Command, answer_each};
use clap::{Args, Subcommand, ValueEnum};
use floor::memory;
pub(crate) use floor::memory::LONGEST as LONGEST_SHARED;
use floor::socket::{self, Kind, Link};
pub(crate) use sample::SAMPLE;
use std::io::{BufRead, Read, Write};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// Raw TCP sockets that block.
    RawTcp,
    /// Raw Unix sockets that block.
    RawUnix,
    /// Raw TCP sockets whose readers spin.
    RawTcpSpin,
    /// Raw Unix sockets whose readers spin.
    RawUnixSpin,
    /// Raw shared memory whose readers spin.
    RawShm,
    /// This ORB.
    Punctual,
}

impl Program {
    /// What carries a floor's messages, if it is sockets.
    fn sockets(self) -> Option<Kind> {
        let kind = |link, spins| Some(Kind { link, spins });
        match self {
            Self::RawTcp => kind(Link::Tcp, false),
            Self::RawUnix => kind(Link::Unix, false),
            Self::RawTcpSpin => kind(Link::Tcp, true),
            Self::RawUnixSpin => kind(Link::Unix, true),
            Self::RawShm | Self::Punctual => None,
        }
    }
}

/// The side of it, as every program's arguments say it, in whatever language it is written.
#[derive(Debug, Subcommand)]
pub enum Side {
    /// Serve until the input ends.
    Server(Server),
    /// Call as the input says.
    Client(Client),
}

/// A server's options.
#[derive(Debug, Args)]
pub struct Server {
    /// The processor to run on.
    #[arg(long)]
    pin: Option<usize>,
    /// Connections that it must be able to hold.
    #[arg(long)]
    connections: Option<usize>,
    /// The servant is one by the dynamic skeleton interface.
    #[arg(long)]
    dsi: bool,
    #[command(flatten)]
    orb: OrbOptions,
}

/// A client's options.
#[derive(Debug, Args)]
pub struct Client {
    /// The processor to run on.
    #[arg(long)]
    pin: Option<usize>,
    /// Where the server is.
    #[arg(long)]
    at: String,
    /// One-ways wait on their connection, to be sent together.
    #[arg(long)]
    buffered: bool,
    /// Calls are made by the dynamic invocation interface.
    #[arg(long)]
    dii: bool,
    #[command(flatten)]
    orb: OrbOptions,
}

/// What an ORB is told.
#[derive(Debug, Args)]
struct OrbOptions {
    /// Properties of links, as LINK.NAME=VALUE.
    #[arg(long, value_name = "LINK.NAME=VALUE")]
    property: Vec<Property>,
    /// Options of the ORB.
    #[arg(last = true, value_name = "-ORB…")]
    rest: Vec<String>,
}

/// A link's property.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Property {
    link: String,
    name: String,
    value: String,
}

impl std::str::FromStr for Property {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let parts = text
            .split_once('=')
            .and_then(|(key, value)| Some((key.split_once('.')?, value)));
        let ((link, name), value) = parts.ok_or("expected LINK.NAME=VALUE")?;
        Ok(Self {
            link: link.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// What makes the calls of a case.
pub trait Caller {
    /// One call of `case` each time it is run, its arguments being ready.
    ///
    /// # Errors
    /// When the case cannot be prepared.
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>>;

    /// Waits until all one-ways sent have been served.
    ///
    /// # Errors
    /// When the server does not answer.
    fn settle(&mut self) -> Result<()>;

    /// Makes `calls` void calls by `threads` threads at once, and returns how long all took.
    ///
    /// # Errors
    /// When a call fails, or there can be no threads.
    fn flood(&mut self, threads: u32, calls: u32) -> Result<Duration>;
}

/// Runs a side of a program. What keeps it from its work it tells the harness, which tells people.
///
/// # Errors
/// When the harness is gone.
pub fn run(program: Program, side: &Side) -> Result<()> {
    or_told(run_side(program, side))
}

/// Tells the harness what went wrong, if anything did.
pub(crate) fn or_told(done: Result<()>) -> Result<()> {
    done.or_else(|error| Ok(Answer::Error(error.to_string()).write_to(&mut std::io::stdout())?))
}

fn run_side(program: Program, side: &Side) -> Result<()> {
    let (Side::Server(Server { pin, .. }) | Side::Client(Client { pin, .. })) = side;
    run_at(*pin)?;
    match (side, program.sockets()) {
        (Side::Server(_), Some(kind)) => socket::serve(kind),
        (Side::Client(client), Some(kind)) => call_as_told(socket::Client::new(kind, &client.at)?),
        (Side::Server(_), None) if program == Program::RawShm => memory::serve(),
        (Side::Client(client), None) if program == Program::RawShm => {
            call_as_told(memory::Client::new(&client.at)?)
        }
        (Side::Server(server), None) => punctual::serve(server),
        (Side::Client(client), None) if client.dii => call_as_told(dynamic::Client::new(
            punctual::Client::new(client)?.cubit(),
        )?),
        (Side::Client(client), None) => call_as_told(punctual::Client::new(client)?),
    }
}

/// Runs on one processor from now on, if one is named.
pub(crate) fn run_at(processor: Option<usize>) -> Result<()> {
    Ok(processor.map_or(Ok(()), punctual_sys::processor::pin_to)?)
}

/// Says that the server is ready, and returns when the harness has had enough.
pub(crate) fn serve_until_the_end(address: String) -> Result<()> {
    Answer::Ready(address).write_to(&mut std::io::stdout().lock())?;
    std::io::stdin().lock().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn call_as_told(mut caller: impl Caller) -> Result<()> {
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    obey(&mut caller, input, &mut output)
}

/// Does what each line says, until there are no more.
fn obey(caller: &mut impl Caller, input: impl BufRead, output: &mut impl Write) -> Result<()> {
    caller.settle()?;
    Answer::Ready(String::new()).write_to(output)?;
    answer_each(input, output, |command| perform(caller, command))
}

fn perform(caller: &mut impl Caller, command: Command) -> Result<Answer> {
    match command {
        Command::Flood { threads, calls } => {
            let took = caller.flood(threads, calls)?;
            Ok(Answer::Samples(vec![nanoseconds(took)]))
        }
        Command::Calls { case, calls } => {
            repeat(caller, case, calls)?;
            caller.settle()?;
            Ok(Answer::Done)
        }
        Command::Run {
            case,
            warm_up,
            calls,
        } if case.operation.is_two_way() => {
            repeat(caller, case, warm_up)?;
            time_each(caller, case, calls).map(Answer::Samples)
        }
        Command::Run {
            case,
            warm_up,
            calls,
        } => {
            repeat(caller, case, warm_up)?;
            caller.settle()?;
            time_all(caller, case, calls).map(|one| Answer::Samples(vec![one]))
        }
    }
}

fn repeat(caller: &mut impl Caller, case: Case, calls: u32) -> Result<()> {
    let mut call = caller.prepare(case)?;
    (0..calls).try_for_each(|_| call())
}

fn time_each(caller: &mut impl Caller, case: Case, calls: u32) -> Result<Vec<u64>> {
    let mut call = caller.prepare(case)?;
    sampled(calls, || {
        let began = Instant::now();
        call()?;
        Ok(nanoseconds_since(began))
    })
}

/// As many samples of what `one` says.
pub(crate) fn sampled(calls: u32, mut one: impl FnMut() -> Result<u64>) -> Result<Vec<u64>> {
    // All of it is touched ahead, so that no page is mapped between two calls.
    let mut samples = vec![1; calls as usize];
    for sample in &mut samples {
        *sample = one()?;
    }
    Ok(samples)
}

/// The time of one of `calls` one-ways, the server's work included.
fn time_all(caller: &mut impl Caller, case: Case, calls: u32) -> Result<u64> {
    let mut call = caller.prepare(case)?;
    let began = Instant::now();
    (0..calls).try_for_each(|_| call())?;
    drop(call);
    caller.settle()?;
    Ok(nanoseconds_since(began) / u64::from(calls.max(1)))
}

/// Has each of `callers` make its share of `calls` on a thread of its own, all beginning at once, and
/// returns the time from then until the last one is done.
fn race<C>(callers: Vec<C>, calls: u32) -> Result<Duration>
where
    C: FnMut() -> Result<()> + Send,
{
    let share = calls / u32::try_from(callers.len())?.max(1);
    let start = Barrier::new(callers.len() + 1);
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (number, mut call) in callers.into_iter().enumerate() {
            let start = &start;
            let thread = std::thread::Builder::new().name(format!("caller-{number}"));
            running.push(thread.spawn_scoped(scope, move || {
                start.wait();
                (0..share).try_for_each(|_| call())
            })?);
        }
        start.wait();
        let began = Instant::now();
        for thread in running {
            thread.join().map_err(|_| "a caller panicked")??;
        }
        Ok(began.elapsed())
    })
}

pub(crate) fn nanoseconds_since(began: Instant) -> u64 {
    nanoseconds(began.elapsed())
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Counting {
        calls: u32,
        settled: u32,
    }

    impl Caller for Counting {
        fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
            if case.units > 1000 {
                return Err("too many\nunits".into());
            }
            Ok(Box::new(|| {
                self.calls += 1;
                Ok(())
            }))
        }

        fn settle(&mut self) -> Result<()> {
            self.settled += 1;
            Ok(())
        }

        fn flood(&mut self, threads: u32, calls: u32) -> Result<Duration> {
            let made = std::sync::atomic::AtomicU32::new(0);
            let caller = || {
                made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(())
            };
            let took = race(vec![caller; threads as usize], calls)?;
            self.calls += made.into_inner();
            Ok(took)
        }
    }

    #[test]
    fn a_flood_shares_its_calls_among_the_threads() {
        let (caller, answers) = told("flood 4 100\n");
        assert_eq!(caller.calls, 100);
        assert!(matches!(&answers[1], Answer::Samples(samples) if samples.len() == 1));
    }

    #[test]
    fn a_property_names_its_link_and_its_value() {
        let property: Property = "iiop.spin_us=50".parse().unwrap();
        assert_eq!(
            (
                property.link.as_str(),
                property.name.as_str(),
                property.value.as_str()
            ),
            ("iiop", "spin_us", "50")
        );
        assert!("spin_us=50".parse::<Property>().is_err());
    }

    fn told(lines: &str) -> (Counting, Vec<Answer>) {
        let (mut caller, mut output) = (Counting::default(), Vec::new());
        obey(&mut caller, lines.as_bytes(), &mut output).unwrap();
        let mut input = output.as_slice();
        let mut answers = Vec::new();
        while !input.is_empty() {
            answers.push(Answer::read_from(&mut input).unwrap());
        }
        (caller, answers)
    }

    #[test]
    fn a_two_way_batch_has_a_sample_for_each_call_that_counts() {
        let (caller, answers) = told("run cube_void 3 5\n");
        assert_eq!(caller.calls, 8);
        assert!(matches!(&answers[1], Answer::Samples(samples) if samples.len() == 5));
    }

    #[test]
    fn a_one_way_batch_has_one_sample_and_waits_for_the_server() {
        let (caller, answers) = told("run throw_octets:8 3 5\n");
        assert_eq!((caller.calls, caller.settled), (8, 3));
        assert!(matches!(&answers[1], Answer::Samples(samples) if samples.len() == 1));
    }

    #[test]
    fn a_command_that_fails_is_answered_and_the_next_one_obeyed() {
        let (caller, answers) = told("sleep\nrun take_octets:1001 1 1\ncalls cube_long 4\n");
        assert_eq!(answers[0], Answer::Ready(String::new()));
        assert!(matches!(answers[1], Answer::Error(_)));
        assert_eq!(answers[2], Answer::Error("too many units".to_owned()));
        assert_eq!(answers[3], Answer::Done);
        assert_eq!(caller.calls, 4);
    }
}
