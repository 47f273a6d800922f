//! Errors and limits of filters.

use std::time::Duration;

/// Limits of a consumer's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLimits {
    /// Largest number of nodes. Default 10,000.
    pub nodes: usize,
    /// Largest depth; a filter of one node has depth 1. Default 1,000.
    pub depth: usize,
    /// Largest number of timers. Default 64.
    pub timers: usize,
    /// Least length of a timer. Default 1 ms.
    pub least_timeout: Duration,
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self {
            nodes: 10_000,
            depth: 1_000,
            timers: 64,
            least_timeout: Duration::from_millis(1),
        }
    }
}

/// Error in a filter. `at` is the index of the entry or node at fault, from 0.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A group, negation or bitmask has fewer children than it needs.
    #[error(
        "entry {at} needs {announced} children, and {found} follow: add the missing entries, or correct the count in its \
         source (in the `basic` convention groups have no count)"
    )]
    TooFewChildren {
        /// Entry of the parent.
        at: usize,
        /// Number of children that it needs.
        announced: usize,
        /// Number of complete children that follow.
        found: usize,
    },
    /// A group announces a negative number of children.
    #[error("entry {at} announces {count} children in its source: a count is 0 or more")]
    NegativeCount {
        /// Entry of the group.
        at: usize,
        /// Number that it announces.
        count: i32,
    },
    /// The entries with masks and values are missing.
    #[error(
        "entry {at} needs {needs} further entries for its masks and values, and {found} follow"
    )]
    MissingMasks {
        /// Entry of the bitmask or masked type.
        at: usize,
        /// Number of entries that it needs.
        needs: usize,
        /// Number of entries that follow.
        found: usize,
    },
    /// A group stands inside of another in the convention without counts.
    #[error(
        "entry {at} begins a group inside of the group of entry {group}: groups nest in the `prefix` convention only, which \
         counts children"
    )]
    NestedGroup {
        /// Entry of the inner group.
        at: usize,
        /// Entry of the outer group.
        group: usize,
    },
    /// Entries follow after the tree is complete.
    #[error(
        "entry {at} stands after the end of the filter, which is one tree: join several conditions by a disjunction (type 9)"
    )]
    Leftover {
        /// First entry that is left over.
        at: usize,
    },
    /// A timer's length is zero.
    #[error("the timer of entry {at} has no length: state it in creation_time, in units of 100 ns")]
    NoLength {
        /// Entry of the timer.
        at: usize,
    },
    /// A timer's length is longer than time is counted.
    #[error("the timer of entry {at} is longer than 584 years: {length} units of 100 ns")]
    TooLong {
        /// Entry of the timer.
        at: usize,
        /// Length in units of 100 ns.
        length: u64,
    },
    /// A timer's length is below the limit.
    #[error(
        "the timer of entry {at} has {length:?}, and the channel allows no less than {limit:?}: lengthen it, or lower \
         `filter_limits.least_timeout`"
    )]
    TooShort {
        /// Entry of the timer.
        at: usize,
        /// Length of the timer.
        length: Duration,
        /// Least length allowed.
        limit: Duration,
    },
    /// The filter has too many nodes.
    #[error("it has {nodes} nodes, and the channel allows {limit}: raise `filter_limits.nodes`")]
    TooManyNodes {
        /// Number of its nodes.
        nodes: usize,
        /// Largest number allowed.
        limit: usize,
    },
    /// The filter is too deep.
    #[error(
        "it is deeper than {limit} at node {at}: raise `filter_limits.depth`, or flatten its groups"
    )]
    TooDeep {
        /// First node that is too deep.
        at: usize,
        /// Largest depth allowed.
        limit: usize,
    },
    /// The filter has too many timers.
    #[error("it has {timers} timers, and the channel allows {limit}: raise `filter_limits.timers`")]
    TooManyTimers {
        /// Number of its timers.
        timers: usize,
        /// Largest number allowed.
        limit: usize,
    },
}
