//! Ways to find objects and operations, for comparison (Gokhale and Schmidt 1998). Not of the standard.

use crate::object_id::ObjectId;

/// How an adapter finds an object by its key (Gokhale and Schmidt 1998, §3.5 and §5.3). All detect stale and forged
/// keys; they differ in the cost of a lookup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Demultiplexing {
    /// By the place in the map that its key names: a few instructions, whatever the number of objects.
    /// An id that no key of this process names is hashed.
    #[default]
    Active,
    /// One object after the other. For comparison.
    Linear,
    /// By a hash table that grows and shrinks.
    DynamicHash,
    /// By a hash table without collisions over these ids, which are all that there will be.
    PerfectHash(Vec<ObjectId>),
    /// Object and operation in one step, by a hash of both.
    DeLayered,
}

/// How an operation is found by its name. All but [`OperationDemultiplexing::Compiled`] are for comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationDemultiplexing {
    /// By the search that the IDL compiler wrote, which is perfect: it knows all names.
    #[default]
    Compiled,
    /// One name after the other.
    Linear,
    /// By a hash table that is made when the adapter first serves an interface.
    DynamicHash,
}
