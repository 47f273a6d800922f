//! Stand-in for the ways to find objects that are for comparison, where there are none. Nothing of it exists at run time.

/// Way in which requests find objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Strategy {
    /// By the entry that is in the key; an id that comes without one is hashed.
    Active,
}

/// A way for comparison: none.
pub(crate) enum Comparison {}

/// A fault of such a way: none.
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
