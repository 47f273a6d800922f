//! Node of a filter's tree.

use crate::codes;

/// Node of a tree in prefix order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Condition.
    pub(crate) rule: Rule,
    /// Number of its children, whose subtrees follow it.
    pub(crate) children: u32,
    /// Handle in the schedule; 0 for none.
    pub(crate) rt_info: i32,
}

impl Node {
    pub(crate) const fn leaf(rule: Rule) -> Self {
        Self {
            rule,
            children: 0,
            rt_info: 0,
        }
    }
}

/// Condition of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Type and source are these; 0 is all.
    Event { kind: i32, source: i32 },
    /// Every event.
    Null,
    /// Type and source under masks are the values.
    Masked { masks: Bits, values: Bits },
    /// Type and source have a bit of their mask each, and the child accepts.
    Bitmask(Bits),
    /// Any child accepts, and passes.
    Disjunction,
    /// Each child passes in its turn; the set is passed on.
    Conjunction,
    /// All children accept.
    Both,
    /// The child does not accept.
    Not,
    /// Event of the node's own timer.
    Timer(Timer),
}

/// Bits of type and source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) kind: i32,
    pub(crate) source: i32,
}

/// Timer of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer {
    pub(crate) style: TimerStyle,
    /// Time to the expiry in nanoseconds.
    pub(crate) length: u64,
}

/// Behaviour of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerStyle {
    /// Expires once.
    Once,
    /// Expires at each multiple of its length.
    Interval,
    /// Expires at each multiple of its length since the consumer last received something.
    Deadline,
}

impl TimerStyle {
    /// Returns the type of its events.
    pub(crate) const fn code(self) -> i32 {
        match self {
            Self::Once => codes::TIMEOUT,
            Self::Interval => codes::INTERVAL_TIMEOUT,
            Self::Deadline => codes::DEADLINE_TIMEOUT,
        }
    }

    /// Returns the style of a type, if it is that of a timer.
    pub(crate) const fn of_code(code: i32) -> Option<Self> {
        match code {
            codes::TIMEOUT => Some(Self::Once),
            codes::INTERVAL_TIMEOUT => Some(Self::Interval),
            codes::DEADLINE_TIMEOUT => Some(Self::Deadline),
            _ => None,
        }
    }
}
