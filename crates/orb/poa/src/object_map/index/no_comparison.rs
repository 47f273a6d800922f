//! Stand-in for the strategies for comparison in builds without them. Its types have no values, so
//! that it costs nothing at run time.

/// Strategy by which requests find their target objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Strategy {
    /// By the map entry in the object key; an id without an entry is hashed.
    Active,
}

/// Type without values, in place of the lookup strategies that this build leaves out.
pub(crate) enum Comparison {}

/// Error of a strategy for comparison: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DuplicateId {}

impl Comparison {
    pub(crate) fn new(strategy: &Strategy) -> Result<Option<Self>, DuplicateId> {
        match strategy {
            Strategy::Active => Ok(None),
        }
    }

    pub(crate) fn may_have(&self, _: &[u8]) -> bool {
        match *self {}
    }

    pub(crate) fn is_complete(&self) -> bool {
        match *self {}
    }

    pub(crate) fn insert(&self, _: &[u8], _: u32, _: usize) {
        match *self {}
    }

    pub(crate) fn remove(&self, _: &[u8]) {
        match *self {}
    }
}
