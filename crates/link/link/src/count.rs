//! Counts of a link, for metrics.

/// Kind of a [`LinkCount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkCountKind {
    /// Number of what has happened since the link was made.
    Total,
    /// Number of what there is now.
    Level,
}

/// One number that a link counts, over all its connections and acceptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkCount {
    /// Name of the count, in lower-case letters with `_` between the words.
    pub name: &'static str,
    /// Kind of the number: a total, which only grows, or a level.
    pub kind: LinkCountKind,
    /// The number.
    pub value: u64,
}

impl LinkCount {
    /// Makes a count that only grows.
    #[must_use]
    pub const fn total(name: &'static str, value: u64) -> Self {
        Self {
            name,
            kind: LinkCountKind::Total,
            value,
        }
    }

    /// Makes a count of what there is now.
    #[must_use]
    pub const fn level(name: &'static str, value: u64) -> Self {
        Self {
            name,
            kind: LinkCountKind::Level,
            value,
        }
    }
}
