//! Client that makes the calls that its input asks for.

use super::idl::demux::Directory;
use super::interfaces::Target;
use super::setup::{Algorithm, Setup, Strategy};
use crate::Result;
use crate::peer::{nanoseconds_since, sampled};
use crate::protocol::obey;
use punctual::{Interface, Orb};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Upper bound of a client's references to one group of objects.
pub(super) const REFERENCES: u32 = 1000;

/// Time without a further arrival from which one-ways count as lost.
const LOST: Duration = Duration::from_secs(30);

/// Calls that a client is to make in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) strategy: Strategy,
    pub(super) operations: u32,
    pub(super) algorithm: Algorithm,
    pub(super) calls: u32,
    /// Set if each call is timed; one-way calls are timed all together.
    pub(super) timed: bool,
}

/// Command of the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Demand {
    /// Make a batch of calls; its samples are the answer.
    Calls(Batch),
    /// Call each of the server's objects so many times. The answer is the number of calls, of those that failed, of
    /// those that arrived, and the nanoseconds that all took.
    Each { times: u32 },
}

/// References to the objects that are registered under one strategy.
struct Group {
    strategy: Strategy,
    operations: u32,
    targets: Vec<Target>,
    /// Number of calls made so far, for each calling order.
    made: HashMap<&'static str, usize>,
}

struct Client {
    directory: Directory,
    groups: Vec<Group>,
    one_way: bool,
    /// Number of one-ways that the server will have counted when all have arrived.
    thrown: u64,
}

/// Makes the calls that each line of input requests, until the input ends.
pub(crate) fn call(setup: &Setup, at: &str) -> Result<()> {
    let mut client = Client::new(setup, at)?;
    obey("", |demand| match demand {
        Demand::Calls(batch) => client.perform(batch),
        Demand::Each { times } => client.call_each(times),
    })
}

impl Client {
    /// Makes the client, and one call by each reference, so that each is bound to its connection.
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
            let target = match strategy {
                Strategy::Dii => Target::dynamic(object, self.one_way),
                _ => Target::new(object, operations, self.one_way),
            };
            target.call(0)?;
            targets.push(target);
        }
        Ok(targets)
    }

    fn perform(&mut self, batch: Batch) -> Result<Vec<u64>> {
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
            let each = nanoseconds_since(began) / u64::from(batch.calls.max(1));
            return Ok(vec![each]);
        }
        if !batch.timed {
            for (object, operation) in order {
                targets[object].call(operation)?;
            }
            return Ok(Vec::new());
        }
        let mut order = order.into_iter();
        sampled(batch.calls, || {
            let (object, operation) = order.next().unwrap_or_default();
            let began = Instant::now();
            targets[object].call(operation)?;
            Ok(nanoseconds_since(began))
        })
    }

    /// Calls each of the server's objects, with references to a thousand of them at a time.
    fn call_each(&mut self, times: u32) -> Result<Vec<u64>> {
        let [Group { operations, .. }] = self.groups[..] else {
            return Err("there is more than one group of objects".into());
        };
        let (mut made, mut failed, mut first) = (0, 0, 0);
        let before = self.directory.thrown()?;
        let began = Instant::now();
        loop {
            let objects = self.directory.part(operations, first, REFERENCES)?;
            if objects.is_empty() {
                break;
            }
            first += u32::try_from(objects.len())?;
            for object in objects.into_iter().flatten() {
                let target = Target::new(object, operations, self.one_way);
                for _ in 0..times {
                    made += 1;
                    failed += u64::from(target.call(0).is_err());
                }
            }
        }
        let arrived = match self.one_way {
            true => self.arrived(before, made - failed)?,
            false => made - failed,
        };
        self.thrown = before + arrived;
        let took = nanoseconds_since(began);
        Ok(vec![made, failed, arrived, took])
    }

    /// Waits until the server has counted so many more one-ways than before, or none for a while, and returns how many.
    fn arrived(&self, before: u64, wanted: u64) -> Result<u64> {
        let (mut arrived, mut last) = (0, Instant::now());
        while arrived < wanted && last.elapsed() < LOST {
            let now = self.directory.thrown()? - before;
            if now > arrived {
                (arrived, last) = (now, Instant::now());
            }
        }
        Ok(arrived)
    }

    /// Waits until all one-way requests have arrived at the server.
    fn settle(&self) -> Result<()> {
        let (mut arrived, mut grown) = (0, Instant::now());
        while self.one_way && arrived < self.thrown {
            let now = self.directory.thrown()?;
            if now > arrived {
                (arrived, grown) = (now, Instant::now());
            } else if grown.elapsed() > LOST {
                return Err(format!("of {} one-ways {arrived} have arrived", self.thrown).into());
            }
        }
        Ok(())
    }
}
