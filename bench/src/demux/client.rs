//! Client that makes the calls that its input asks for.

use super::idl::demux::Directory;
use super::interfaces::Target;
use super::setup::{Algorithm, Setup, Strategy};
use crate::Result;
use crate::protocol::Answer;
use clap::ValueEnum;
use punctual::{Interface, Orb};
use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::str::FromStr;
use std::time::Instant;

/// Upper bound of a client's references to one group of objects.
pub(super) const REFERENCES: u32 = 1000;

/// Order to a client, on a line of its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) strategy: Strategy,
    pub(super) operations: u32,
    pub(super) algorithm: Algorithm,
    pub(super) calls: u32,
    /// Time each call; of one-ways, all together.
    pub(super) timed: bool,
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map_or_else(String::new, |value| value.get_name().to_owned())
        };
        write!(
            f,
            "{} {} {} {} {}",
            name(self.strategy.to_possible_value()),
            self.operations,
            name(self.algorithm.to_possible_value()),
            self.calls,
            self.timed
        )
    }
}

impl FromStr for Batch {
    type Err = crate::Error;

    fn from_str(line: &str) -> Result<Self> {
        let words: Vec<_> = line.split_whitespace().collect();
        let [strategy, operations, algorithm, calls, timed] = words[..] else {
            return Err(format!("no such batch: `{line}`").into());
        };
        Ok(Self {
            strategy: Strategy::from_str(strategy, false)?,
            operations: operations.parse()?,
            algorithm: Algorithm::from_str(algorithm, false)?,
            calls: calls.parse()?,
            timed: timed.parse()?,
        })
    }
}

/// Objects that are found by one strategy.
struct Group {
    strategy: Strategy,
    operations: u32,
    targets: Vec<Target>,
    /// Number of calls made, by order.
    made: HashMap<&'static str, usize>,
}

struct Client {
    directory: Directory,
    groups: Vec<Group>,
    one_way: bool,
    /// Number of one-ways that the server will have counted when all have arrived.
    thrown: u64,
}

/// Makes the calls of each line of input, until the input ends.
pub(super) fn call(setup: &Setup, at: &str) -> Result<()> {
    let mut client = Client::new(setup, at)?;
    let mut output = std::io::stdout().lock();
    Answer::Ready(String::new()).write_to(&mut output)?;
    for line in std::io::stdin().lock().lines() {
        let answer = line?.parse().and_then(|batch| client.perform(batch));
        let answer = answer.unwrap_or_else(|error| Answer::Error(error.to_string()));
        answer.write_to(&mut output)?;
    }
    Ok(())
}

impl Client {
    /// Makes the client, and a call by each reference, so that all are bound.
    fn new(setup: &Setup, at: &str) -> Result<Self> {
        let orb = Orb::builder().build()?;
        let directory = Directory::narrow(orb.string_to_object(at)?)?;
        let mut client = Self {
            thrown: 0,
            groups: Vec::new(),
            one_way: setup.one_way,
            directory,
        };
        for &strategy in &setup.strategies {
            for &operations in &setup.operations {
                let targets = client.targets(strategy, operations)?;
                client.thrown += targets.len() as u64;
                client.groups.push(Group {
                    strategy,
                    operations,
                    targets,
                    made: HashMap::new(),
                });
            }
        }
        client.settle()?;
        Ok(client)
    }

    fn targets(&self, strategy: Strategy, operations: u32) -> Result<Vec<Target>> {
        let objects = self
            .directory
            .references(strategy.way(), operations, REFERENCES)?;
        let mut targets = Vec::new();
        for object in objects {
            let object = object.ok_or("the server has no such object")?;
            let target = Target::new(object, operations, self.one_way);
            target.call(0)?;
            targets.push(target);
        }
        Ok(targets)
    }

    fn perform(&mut self, batch: Batch) -> Result<Answer> {
        let mut groups = self.groups.iter_mut();
        let wanted = (batch.strategy, batch.operations);
        let Group { targets, made, .. } = groups
            .find(|group| (group.strategy, group.operations) == wanted)
            .ok_or("there are no such objects")?;
        let calls = batch.calls as usize;
        let operations = batch.operations as usize;
        let made = made.entry(batch.algorithm.name()).or_default();
        let numbers = *made..*made + calls;
        *made += calls;
        let order = batch.algorithm.order(targets.len(), operations, numbers);
        if self.one_way {
            let began = Instant::now();
            for (object, operation) in order {
                targets[object].call(operation)?;
            }
            self.thrown += u64::from(batch.calls);
            self.settle()?;
            let each = nanoseconds(began) / u64::from(batch.calls.max(1));
            return Ok(Answer::Samples(vec![each]));
        }
        if !batch.timed {
            for (object, operation) in order {
                targets[object].call(operation)?;
            }
            return Ok(Answer::Done);
        }
        let mut samples = vec![1; calls];
        for (sample, (object, operation)) in samples.iter_mut().zip(order) {
            let began = Instant::now();
            targets[object].call(operation)?;
            *sample = nanoseconds(began);
        }
        Ok(Answer::Samples(samples))
    }

    /// Waits until all one-ways have arrived.
    fn settle(&self) -> Result<()> {
        while self.one_way && self.directory.thrown()? < self.thrown {}
        Ok(())
    }
}

fn nanoseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_back_as_it_was_written() {
        for strategy in Strategy::ALL {
            for algorithm in Algorithm::ALL {
                let batch = Batch {
                    strategy,
                    operations: 100,
                    algorithm,
                    calls: 7,
                    timed: true,
                };
                assert_eq!(batch.to_string().parse::<Batch>().unwrap(), batch);
            }
        }
        for wrong in ["", "active 1 random 7", "fast 1 random 7 true"] {
            assert!(wrong.parse::<Batch>().is_err(), "{wrong}");
        }
    }
}
