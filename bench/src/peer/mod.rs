//! The programs that are measured: clients and servers in processes of their own.
//!
//! A client keeps its connection and its arguments; what is timed is the call alone, from before its
//! arguments are marshaled until its result is there.

mod floor;
mod punctual;

use crate::Result;
use crate::case::Case;
use crate::protocol::{Answer, Command};
use clap::{Args, Subcommand, ValueEnum};
use std::io::{BufRead, Read, Write};
use std::time::Instant;

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// A raw blocking socket.
    Floor,
    /// This ORB.
    Punctual,
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
}

/// Runs a side of a program.
///
/// # Errors
/// What keeps it from its work.
pub fn run(program: Program, side: &Side) -> Result<()> {
    let (Side::Server(Server { pin }) | Side::Client(Client { pin, .. })) = side;
    if let Some(processor) = *pin {
        punctual_sys::processor::pin_to(processor)?;
    }
    match (program, side) {
        (Program::Floor, Side::Server(_)) => floor::serve(),
        (Program::Punctual, Side::Server(_)) => punctual::serve(),
        (Program::Floor, Side::Client(client)) => call_as_told(floor::Client::new(&client.at)?),
        (Program::Punctual, Side::Client(client)) => {
            call_as_told(punctual::Client::new(&client.at)?)
        }
    }
}

/// Says that the server is ready, and returns when the harness has had enough.
fn serve_until_the_end(address: String) -> Result<()> {
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
    for line in input.lines() {
        let answer = line?.parse().and_then(|command| perform(caller, command));
        let answer = answer.unwrap_or_else(|error| Answer::Error(error.to_string()));
        answer.write_to(output)?;
    }
    Ok(())
}

fn perform(caller: &mut impl Caller, command: Command) -> Result<Answer> {
    match command {
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
    // All of it is touched ahead, so that no page is mapped between two calls.
    let mut samples = vec![1; calls as usize];
    for sample in &mut samples {
        let began = Instant::now();
        call()?;
        *sample = nanoseconds_since(began);
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

fn nanoseconds_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
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
