//! Strategies for finding objects and operations, for comparison (Gokhale and Schmidt 1998). Not in
//! the standard.

use crate::object_id::ObjectId;

/// Strategy for finding an object by its key (Gokhale and Schmidt 1998, §3.5 and §5.3). All detect
/// stale and forged keys; they differ in the cost of a lookup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Demultiplexing {
    /// By the map entry in its key: a few instructions, whatever the number of objects. An id that
    /// comes without an entry is hashed.
    #[default]
    Active,
    /// Finds an object by comparing its id with the ids of all objects, one after the other.
    Linear,
    /// Finds an object by a hash table that grows and shrinks.
    DynamicHash,
    /// By a perfect hash over these ids: no collisions, and no other ids can be activated.
    PerfectHash(Vec<ObjectId>),
    /// Together with the operation, by one hash of both.
    DeLayered,
}

/// Strategy for finding an operation by its name. All but [`OperationDemultiplexing::Compiled`] are
/// for comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationDemultiplexing {
    /// By the search that the IDL compiler generated from the known names.
    #[default]
    Compiled,
    /// Finds an operation by comparing its name with all names, one after the other.
    Linear,
    /// By a hash table that is made when the adapter first serves an interface.
    DynamicHash,
}
