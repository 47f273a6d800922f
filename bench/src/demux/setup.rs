//! Varied settings: the strategies by which objects and operations are found, and the orders in
//! which they are called.

use super::idl::demux::Strategy as Way;
use clap::ValueEnum;
use punctual::ObjectId;
use punctual::poa::{Demultiplexing, IdAssignmentPolicy, OperationDemultiplexing, PoaPolicy};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Strategy by which an object and its operation are found. The paper's first four each combine a
/// method for objects and one for operations (§5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Defaults of the ORB: objects by the index in the object key (active demultiplexing),
    /// operations by the search that the IDL compiler generates.
    Active,
    /// Linear search, for objects and for operations.
    Linear,
    /// Two hash tables, one for objects and one for operations.
    DynamicHash,
    /// Perfect hash functions: one over the object ids, and the one that the IDL compiler generates
    /// over the operations' names.
    PerfectHash,
    /// One hash table for the combination of object and operation (de-layered demultiplexing).
    DeLayered,
    /// The objects of `active`, called by the dynamic invocation interface instead of stubs, with a new request for each
    /// call.
    Dii,
    /// omniORB's server with its default strategies, called by Punctual's stubs.
    #[value(name = "omniorb")]
    #[serde(rename = "omniorb")]
    OmniOrb,
}

impl Strategy {
    /// All strategies by which a server searches.
    pub const ALL: [Self; 5] = [
        Self::Active,
        Self::Linear,
        Self::DynamicHash,
        Self::PerfectHash,
        Self::DeLayered,
    ];

    /// Returns the name in tables and plots.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Linear => "linear search",
            Self::DynamicHash => "dynamic hashing",
            Self::PerfectHash => "perfect hashing",
            Self::DeLayered => "de-layered",
            Self::Dii => "active, by the DII",
            Self::OmniOrb => "omniORB's server",
        }
    }

    pub(super) const fn way(self) -> Way {
        match self {
            Self::Active | Self::Dii | Self::OmniOrb => Way::Active,
            Self::Linear => Way::Linear,
            Self::DynamicHash => Way::DynamicHash,
            Self::PerfectHash => Way::PerfectHash,
            Self::DeLayered => Way::DeLayered,
        }
    }

    /// Returns the strategy by which a server searches.
    pub(super) const fn of_server(self) -> Self {
        match self {
            Self::Dii | Self::OmniOrb => Self::Active,
            other => other,
        }
    }

    /// Returns the policies of an adapter for the given number of objects. Their ids are those that
    /// [`id`] returns, except under active demultiplexing, where the adapter assigns the ids.
    pub(super) fn policies(self, objects: u32) -> Vec<PoaPolicy> {
        let (object, operation) = match self {
            Self::Active | Self::Dii | Self::OmniOrb => {
                (Demultiplexing::Active, OperationDemultiplexing::Compiled)
            }
            Self::Linear => (Demultiplexing::Linear, OperationDemultiplexing::Linear),
            Self::DynamicHash => (
                Demultiplexing::DynamicHash,
                OperationDemultiplexing::DynamicHash,
            ),
            Self::PerfectHash => (
                Demultiplexing::PerfectHash((0..objects).map(id).collect()),
                OperationDemultiplexing::Compiled,
            ),
            Self::DeLayered => (Demultiplexing::DeLayered, OperationDemultiplexing::Compiled),
        };
        let ids = match self {
            Self::Active | Self::Dii | Self::OmniOrb => IdAssignmentPolicy::System,
            _ => IdAssignmentPolicy::User,
        };
        vec![
            PoaPolicy::Demultiplexing(object),
            PoaPolicy::OperationDemultiplexing(operation),
            PoaPolicy::IdAssignment(ids),
        ]
    }
}

/// Returns the id of an object, where the application assigns ids.
pub(super) fn id(object: u32) -> ObjectId {
    ObjectId::from(format!("object {object}").as_str())
}

/// Order in which objects and operations are called (Gokhale and Schmidt 1998, §3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// A hundred calls to each object.
    RequestTrain,
    /// One call to each object, repeated.
    RoundRobin,
    /// Randomly chosen objects and operations.
    Random,
    /// Always the last operation of the last object.
    WorstCase,
}

/// Number of calls of a request train to one object: the paper's MAXITER.
const TRAIN: usize = 100;

impl Algorithm {
    /// All orders.
    pub const ALL: [Self; 4] = [
        Self::RequestTrain,
        Self::RoundRobin,
        Self::Random,
        Self::WorstCase,
    ];

    /// Returns the name in tables and plots.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RequestTrain => "request train",
            Self::RoundRobin => "round robin",
            Self::Random => "random",
            Self::WorstCase => "worst case",
        }
    }

    /// Returns the object and the operation of each call whose number is in the given range; the
    /// numbers continue from batch to batch. In request trains and in rounds the operations follow
    /// one another in turn.
    pub(super) fn order(
        self,
        objects: usize,
        operations: usize,
        calls: Range<usize>,
    ) -> Vec<(usize, usize)> {
        let mut chance = Chance(calls.start as u64);
        calls
            .map(|call| match self {
                Self::RequestTrain => (call / TRAIN % objects, call % operations),
                Self::RoundRobin => (call % objects, call % operations),
                Self::Random => (chance.below(objects), chance.below(operations)),
                Self::WorstCase => (objects - 1, operations - 1),
            })
            .collect()
    }
}

/// Pseudo-random numbers, the same in each run (splitmix64).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// Objects that a server activates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Number of objects for each combination of a strategy and a number of operations.
    pub(crate) objects: u32,
    /// Depth of the innermost adapter below the root: the number of nested adapters.
    pub(crate) depth: u32,
    /// Numbers of operations that an interface has: one, ten or a hundred; for each number there
    /// are separate objects.
    pub(crate) operations: Vec<u32>,
    /// Set if the operations are one-ways.
    pub(crate) one_way: bool,
    /// Strategies by which objects are found.
    pub(crate) strategies: Vec<Strategy>,
}

impl Setup {
    /// Returns the setup of this many objects, whose interface has one operation.
    pub(super) fn of(objects: u32, strategies: &[Strategy]) -> Self {
        Self {
            objects,
            depth: 1,
            operations: vec![1],
            one_way: false,
            strategies: strategies.to_vec(),
        }
    }

    /// Returns the strategies by which the server searches, each once.
    pub(super) fn of_server(&self) -> Vec<Strategy> {
        let mut strategies = Vec::new();
        for strategy in self.strategies.iter().map(|one| one.of_server()) {
            if !strategies.contains(&strategy) {
                strategies.push(strategy);
            }
        }
        strategies
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} objects, {} deep", self.objects, self.depth)?;
        f.write_str(if self.one_way { ", one-way" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_stays_with_an_object_and_a_round_does_not() {
        let train = Algorithm::RequestTrain.order(3, 10, 0..301);
        assert_eq!(train[0], (0, 0));
        assert_eq!(train[99], (0, 9));
        assert_eq!(train[100], (1, 0));
        assert_eq!(train[300], (0, 0));
        let round = Algorithm::RoundRobin.order(3, 10, 0..5);
        assert_eq!(round, [(0, 0), (1, 1), (2, 2), (0, 3), (1, 4)]);
        let next = Algorithm::RoundRobin.order(3, 10, 5..7);
        assert_eq!(next, [(2, 5), (0, 6)]);
    }

    #[test]
    fn chance_meets_every_object_and_operation_and_is_the_same_each_time() {
        let order = Algorithm::Random.order(10, 10, 0..2000);
        assert_eq!(order, Algorithm::Random.order(10, 10, 0..2000));
        for wanted in 0..10 {
            assert!(order.iter().any(|(object, _)| *object == wanted));
            assert!(order.iter().any(|(_, operation)| *operation == wanted));
        }
    }

    #[test]
    fn the_worst_case_is_the_last_of_the_last() {
        assert!(
            Algorithm::WorstCase
                .order(500, 100, 0..9)
                .iter()
                .all(|call| *call == (499, 99))
        );
    }
}
