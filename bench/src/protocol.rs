//! Protocol of the harness and the programs that it starts.
//!
//! The harness writes a line to a client's standard input for each [`Command`]; every program
//! answers on its standard output:
//!
//! ```text
//! server: ready <address>            once, when it serves; ends when its input ends
//! client: ready                      once, when it is connected
//! harness: run <case> <warm-up> <calls>
//! client: samples <n>, then n numbers of 8 octets in the machine's byte order: nanoseconds
//! harness: calls <case> <calls>      without a look at the clock, for counting instruments
//! client: done
//! harness: flood <threads> <calls> [own]  void calls by several threads at once
//! client: samples 1, then nanoseconds of all of them together
//! client: error <message>            instead of any answer
//! ```
//!
//! The threads of a `flood` call through one reference; with `own`, each through one that was made
//! for it. Each makes a call that does not count, and then all begin at once.
//!
//! A two-way `run` has a sample for each call. A one-way one has a single sample: the time of all
//! its calls and of the two-way call that ends them, divided by the number of calls.

use crate::Result;
use crate::case::Case;
use clap::ValueEnum;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::io::{BufRead, Read, Write};
use std::str::FromStr;

/// Upper bound of the samples of a batch.
const MAX_SAMPLES: usize = 10_000_000;

/// Upper bound of the threads of a client.
pub const MAX_THREADS: u32 = 256;

/// Choice of references when several threads of a client call one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum References {
    /// One reference for all threads.
    Shared,
    /// One reference for each thread.
    Own,
}

/// Command to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Make calls and time each.
    Run {
        /// Case to call.
        case: Case,
        /// Number of calls before those that count.
        warm_up: u32,
        /// Number of calls that count.
        calls: u32,
    },
    /// Make void calls by several threads, and time all of them together.
    Flood {
        /// Number of threads; each makes its share.
        threads: u32,
        /// Number of all calls.
        calls: u32,
        /// Choice of references to call through.
        references: References,
    },
    /// Make calls and time none.
    Calls {
        /// Case to call.
        case: Case,
        /// Number of calls.
        calls: u32,
    },
}

/// Answer of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Ready: a server, with its address, or a connected client, with an empty one.
    Ready(String),
    /// Nanoseconds of each call.
    Samples(Vec<u64>),
    /// Done: all requested calls have been made.
    Done,
    /// Failure of the command, with a message.
    Error(String),
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run {
                case,
                warm_up,
                calls,
            } => write!(f, "run {case} {warm_up} {calls}"),
            Self::Flood {
                threads,
                calls,
                references,
            } => {
                write!(f, "flood {threads} {calls}")?;
                f.write_str(match references {
                    References::Shared => "",
                    References::Own => " own",
                })
            }
            Self::Calls { case, calls } => write!(f, "calls {case} {calls}"),
        }
    }
}

impl FromStr for Command {
    type Err = crate::Error;

    fn from_str(line: &str) -> Result<Self> {
        let words: Vec<_> = line.split_whitespace().collect();
        let refused = || Err(format!("no such command: `{}`", line.trim_end()).into());
        Ok(match words[..] {
            ["run", case, warm_up, calls] => Self::Run {
                case: case.parse()?,
                warm_up: warm_up.parse()?,
                calls: calls.parse()?,
            },
            ["flood", threads, calls, ref own @ ..] => Self::Flood {
                references: match own {
                    [] => References::Shared,
                    ["own"] => References::Own,
                    _ => return refused(),
                },
                threads: threads
                    .parse()
                    .ok()
                    .filter(|threads| (1..=MAX_THREADS).contains(threads))
                    .ok_or_else(|| format!("`{threads}` is no number of threads"))?,
                calls: calls.parse()?,
            },
            ["calls", case, calls] => Self::Calls {
                case: case.parse()?,
                calls: calls.parse()?,
            },
            _ => return refused(),
        })
    }
}

impl Answer {
    /// Writes the answer, and flushes.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write_to(&self, out: &mut impl Write) -> std::io::Result<()> {
        match self {
            Self::Ready(address) if address.is_empty() => writeln!(out, "ready")?,
            Self::Ready(address) => writeln!(out, "ready {address}")?,
            Self::Samples(samples) => {
                writeln!(out, "samples {}", samples.len())?;
                let octets: Vec<u8> = samples.iter().flat_map(|one| one.to_ne_bytes()).collect();
                out.write_all(&octets)?;
            }
            Self::Done => writeln!(out, "done")?,
            Self::Error(message) => writeln!(out, "error {}", message.replace('\n', " "))?,
        }
        out.flush()
    }

    /// Reads the next answer.
    ///
    /// # Errors
    /// The program has ended, or its output is no answer.
    pub fn read_from(input: &mut impl BufRead) -> Result<Self> {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Err("the program ended without an answer".into());
        }
        let line = line.trim_end();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "ready" => Ok(Self::Ready(rest.to_owned())),
            "done" => Ok(Self::Done),
            "error" => Ok(Self::Error(rest.to_owned())),
            "samples" => read_samples(input, rest.parse()?).map(Self::Samples),
            _ => Err(format!("the program said `{line}`").into()),
        }
    }
}

/// Command to one of this crate's own clients, as one line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order<T>(pub(crate) T);

impl<T: Serialize> fmt::Display for Order<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl<T: DeserializeOwned> FromStr for Order<T> {
    type Err = crate::Error;

    fn from_str(line: &str) -> Result<Self> {
        Ok(Self(serde_json::from_str(line)?))
    }
}

/// Reports that a client is ready, with a note about it, and carries out each command read from
/// standard input, until the input ends.
///
/// # Errors
/// The harness is gone.
pub(crate) fn obey<T: DeserializeOwned>(
    note: &str,
    mut perform: impl FnMut(T) -> Result<Vec<u64>>,
) -> Result<()> {
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    Answer::Ready(note.to_owned()).write_to(&mut output)?;
    answer_each(input, &mut output, |Order(order)| {
        perform(order).map(Answer::Samples)
    })
}

/// Carries out each line of input and writes its answer, until the input ends.
///
/// # Errors
/// The lines cannot be read, or the answers cannot be written.
pub fn answer_each<C: FromStr<Err = crate::Error>>(
    input: impl BufRead,
    output: &mut impl Write,
    mut perform: impl FnMut(C) -> Result<Answer>,
) -> Result<()> {
    for line in input.lines() {
        let answer = line?.parse().and_then(&mut perform);
        let answer = answer.unwrap_or_else(|error| Answer::Error(error.to_string()));
        answer.write_to(output)?;
    }
    Ok(())
}

fn read_samples(input: &mut impl Read, count: usize) -> Result<Vec<u64>> {
    if count > MAX_SAMPLES {
        return Err(format!("{count} samples are more than were asked for").into());
    }
    let mut octets = vec![0; count * size_of::<u64>()];
    input.read_exact(&mut octets)?;
    let (whole, _) = octets.as_chunks();
    Ok(whole.iter().map(|&one| u64::from_ne_bytes(one)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_back_as_they_were_written() {
        for line in [
            "run cube_void 20 1000",
            "calls take_octets:4096 7",
            "flood 8 1000",
            "flood 8 1000 own",
        ] {
            assert_eq!(line.parse::<Command>().unwrap().to_string(), line);
        }
    }

    #[test]
    fn a_line_that_is_no_command_is_refused() {
        for line in [
            "",
            "run",
            "run cube_void 1",
            "run cube_void -1 1",
            "walk cube_void 1 1",
            "flood 0 1",
            "flood 1000 1",
            "flood 8 1 mine",
            "flood 8 1 own own",
        ] {
            assert!(line.parse::<Command>().is_err(), "{line}");
        }
    }

    #[test]
    fn answers_are_read_back_as_they_were_written() {
        let answers = [
            Answer::Ready("127.0.0.1:80".to_owned()),
            Answer::Ready(String::new()),
            Answer::Samples(vec![0, 1, u64::MAX, 0x0a0a_0a0a_0a0a_0a0a]),
            Answer::Samples(Vec::new()),
            Answer::Done,
            Answer::Error("no".to_owned()),
        ];
        let mut octets = Vec::new();
        for answer in &answers {
            answer.write_to(&mut octets).unwrap();
        }
        let mut input = octets.as_slice();
        for answer in answers {
            assert_eq!(Answer::read_from(&mut input).unwrap(), answer);
        }
        assert!(Answer::read_from(&mut input).is_err());
    }

    #[test]
    fn samples_without_end_are_refused() {
        let mut input: &[u8] = b"samples 18446744073709551615\n";
        assert!(Answer::read_from(&mut input).is_err());
        let mut cut: &[u8] = b"samples 2\n12345678";
        assert!(Answer::read_from(&mut cut).is_err());
    }
}
