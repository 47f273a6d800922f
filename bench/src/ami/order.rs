//! Orders to a client.

use super::contender::Contender;
use crate::Result;
use clap::ValueEnum;
use std::fmt;
use std::str::FromStr;

/// Quantity to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Time of each call, made one after the other.
    Latency,
    /// Time of all calls together.
    Throughput,
}

/// Order for a number of calls by a contender: `latency smi 2000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) what: What,
    pub(super) contender: Contender,
    pub(super) calls: u32,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Latency => "latency",
            What::Throughput => "throughput",
        };
        write!(f, "{what} {} {}", self.contender, self.calls)
    }
}

impl FromStr for Order {
    type Err = crate::Error;

    fn from_str(line: &str) -> Result<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [what, contender, calls] = words[..] else {
            return Err(format!("no such command: `{line}`").into());
        };
        Ok(Self {
            what: match what {
                "latency" => What::Latency,
                "throughput" => What::Throughput,
                other => return Err(format!("no such measurement: `{other}`").into()),
            },
            contender: Contender::from_str(contender, false)?,
            calls: calls.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_back_as_they_were_written() {
        for line in [
            "latency smi 2000",
            "throughput smi220 7",
            "throughput smi-cores 1",
        ] {
            assert_eq!(line.parse::<Order>().unwrap().to_string(), line);
        }
        for line in [
            "",
            "latency smi",
            "latency nobody 1",
            "width smi 1",
            "latency smi -1",
        ] {
            assert!(line.parse::<Order>().is_err(), "{line}");
        }
    }
}
