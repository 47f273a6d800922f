//! Two sides of a contender, each a process, and their messages to and from the measurement.
//!
//! A server says `ready ADDRESS` and ends when its input ends. A client says `ready`, with
//! `one-way` behind it when the protocol has no replies, and answers each line of its input, a
//! [`Command`], with samples in nanoseconds ([`Answer`]).

use super::operation::Operation;
use super::pair::{self, Medium, Timed};
use crate::Result;
use crate::peer::{or_told, run_at, sampled, serve_until_the_end};
use crate::protocol::{Answer, answer_each};
use clap::{Args, Subcommand};
use std::fmt;
use std::str::FromStr;

/// Word that a client adds if its protocol has no replies.
pub(super) const ONE_WAY: &str = "one-way";
/// Upper bound of the calls of a batch.
pub(super) const MOST_CALLS: u32 = 1_000_000;

/// Side of a contender.
#[derive(Debug, Args)]
pub struct Peer {
    /// Processor to run on.
    #[arg(long)]
    pin: Option<usize>,
    #[command(flatten)]
    medium: Medium,
    /// Address of the server.
    #[arg(long)]
    at: Option<String>,
    #[command(subcommand)]
    side: Side,
}

impl Peer {
    /// Returns the arguments that make this command a server, without those of the ORB.
    pub(super) fn server(medium: &Medium, processor: usize) -> Vec<String> {
        [
            medium.arguments(),
            arguments("--pin", Some(processor)),
            vec!["server".to_owned()],
        ]
        .concat()
    }

    /// Returns the arguments that make this command a client, without those of the ORB.
    pub(super) fn client(medium: &Medium, processor: usize, server: &str) -> Vec<String> {
        [
            medium.arguments(),
            arguments("--pin", Some(processor)),
            arguments("--at", Some(server)),
            vec!["client".to_owned()],
        ]
        .concat()
    }
}

impl Medium {
    fn arguments(&self) -> Vec<String> {
        [
            arguments("--protocol", Some(&self.protocol)),
            arguments("--spin-us", self.spin_us),
        ]
        .concat()
    }
}

fn arguments(name: &str, value: Option<impl ToString>) -> Vec<String> {
    value.map_or_else(Vec::new, |value| vec![name.to_owned(), value.to_string()])
}

#[derive(Debug, Subcommand)]
enum Side {
    /// Serve until the input ends.
    Server {
        /// Options of the ORB.
        #[arg(last = true)]
        orb: Vec<String>,
    },
    /// Call as the input says.
    Client {
        /// Options of the ORB.
        #[arg(last = true)]
        orb: Vec<String>,
    },
}

/// Command to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Call and time each; the first `warm_up` calls do not count.
    Run {
        operation: Operation,
        warm_up: u32,
        calls: u32,
    },
    /// Send one-ways with this many bytes, until the server has counted them. The answer has two
    /// samples: nanoseconds in all, and the number counted.
    Flood { octets: u32, calls: u32 },
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run {
                operation,
                warm_up,
                calls,
            } => write!(f, "run {operation} {warm_up} {calls}"),
            Self::Flood { octets, calls } => write!(f, "flood {octets} {calls}"),
        }
    }
}

impl FromStr for Command {
    type Err = crate::Error;

    fn from_str(line: &str) -> Result<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let calls = |text: &str| match text.parse() {
            Ok(calls) if calls <= MOST_CALLS => Ok(calls),
            _ => Err(format!("`{text}` is no number of calls")),
        };
        Ok(match words[..] {
            ["run", operation, warm_up, number] => Self::Run {
                operation: operation.parse()?,
                warm_up: calls(warm_up)?,
                calls: calls(number)?,
            },
            ["flood", octets, number] => Self::Flood {
                octets: octets.parse()?,
                calls: calls(number)?,
            },
            _ => return Err(format!("no such command: `{line}`").into()),
        })
    }
}

/// Runs a side until its input ends. Its failures are reported to the harness.
///
/// # Errors
/// The harness is gone.
pub fn run(peer: &Peer) -> Result<()> {
    or_told(match &peer.side {
        Side::Server { orb } => serve(peer, orb),
        Side::Client { orb } => call(peer, orb),
    })
}

fn serve(peer: &Peer, orb: &[String]) -> Result<()> {
    run_at(peer.pin)?;
    let server = pair::Server::start(&peer.medium, orb)?;
    serve_until_the_end(server.reference()?)?;
    server.stop()
}

fn call(peer: &Peer, orb: &[String]) -> Result<()> {
    run_at(peer.pin)?;
    let at = peer.at.as_deref().ok_or("a client needs --at")?;
    let mut client = pair::Client::connect(&peer.medium, at, orb)?;
    let note = if client.has_two_ways()? { "" } else { ONE_WAY };
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    Answer::Ready(note.to_owned()).write_to(&mut output)?;
    answer_each(input, &mut output, |command| match command {
        Command::Run {
            operation,
            warm_up,
            calls,
        } => time_each(client.prepare(operation)?, warm_up, calls),
        Command::Flood { octets, calls } => client.flood(octets, calls).map(Answer::Samples),
    })
}

fn time_each(mut call: Timed<'_>, warm_up: u32, calls: u32) -> Result<Answer> {
    for _ in 0..warm_up {
        call()?;
    }
    sampled(calls, call).map(Answer::Samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_back_as_they_were_written() {
        for line in ["run octets:4096 20 1000", "flood 1024 7"] {
            assert_eq!(line.parse::<Command>().unwrap().to_string(), line);
        }
        for line in ["", "run", "run void 1", "run any 1 1", "run void 1 1000001"] {
            assert!(line.parse::<Command>().is_err(), "{line}");
        }
    }

    #[test]
    fn a_command_that_fails_is_answered_and_the_next_one_obeyed() {
        let mut output = Vec::new();
        let lines: &[u8] = b"run void 2 3\nrun any 1 1\nflood 8 5\n";
        let mut made = 0;
        answer_each(lines, &mut output, |command| match command {
            Command::Run { warm_up, calls, .. } => {
                let call = Box::new(|| {
                    made += 1;
                    Ok(7)
                });
                time_each(call, warm_up, calls)
            }
            Command::Flood { .. } => Err("no one-ways".into()),
        })
        .unwrap();
        let mut answers = output.as_slice();
        let mut next = || Answer::read_from(&mut answers).unwrap();
        assert_eq!(next(), Answer::Samples(vec![7; 3]));
        assert_eq!(next(), Answer::Error("`any` is no operation".to_owned()));
        assert_eq!(next(), Answer::Error("no one-ways".to_owned()));
        assert_eq!(made, 5);
    }
}
