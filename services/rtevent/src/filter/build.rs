//! Functions that make filters.

use super::node::{Bits, Node, Rule, Timer, TimerStyle};
use crate::event::Header;
use std::time::Duration;

/// Filter of events: a tree of conditions, and of correlations between events.
///
/// ```ignore
/// // Position and speed of radar 7 together; or a report each second without both.
/// let both = Filter::all_of([Filter::event(POSITION, 7), Filter::event(SPEED, 7)]);
/// let filter = Filter::any_of([both, Filter::deadline(Duration::from_secs(1))]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Tree in prefix order; never empty.
    pub(super) nodes: Vec<Node>,
}

/// Entry of TAO's `dependencies`: a header that is a part of a filter's tree, and a handle of the schedule
/// (`RtecEventChannelAdmin::Dependency`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    /// Header; its type says what the entry is ([`codes`](crate::codes)).
    pub header: Header,
    /// Handle of an `RT_Info`; 0 for none.
    pub rt_info: i32,
}

impl From<Header> for Dependency {
    fn from(header: Header) -> Self {
        Self { header, rt_info: 0 }
    }
}

impl From<&Header> for Dependency {
    fn from(header: &Header) -> Self {
        Self::from(*header)
    }
}

impl From<&Self> for Dependency {
    fn from(entry: &Self) -> Self {
        *entry
    }
}

impl Filter {
    /// Accepts events of a type and a source; 0 is all types or sources.
    #[must_use]
    pub fn event(kind: i32, source: i32) -> Self {
        Self::leaf(Rule::Event { kind, source })
    }

    /// Accepts no event.
    #[must_use]
    pub fn nothing() -> Self {
        Self::any_of([])
    }

    /// Accepts every event.
    #[must_use]
    pub fn null() -> Self {
        Self::leaf(Rule::Null)
    }

    /// Accepts what any of the filters does, and passes what the first of them that accepts an event passes
    /// (disjunction).
    #[must_use]
    pub fn any_of(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::group(Rule::Disjunction, filters)
    }

    /// Collects until each of the filters has passed something, and passes all of it in the order of arrival
    /// (conjunction). An event is taken by the first filter that accepts it and has passed nothing yet; if all that accept
    /// it have, it is dropped.
    #[must_use]
    pub fn all_of(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::group(Rule::Conjunction, filters)
    }

    /// Accepts events that each of the filters accepts (logical AND).
    #[must_use]
    pub fn both(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::group(Rule::Both, filters)
    }

    /// Accepts events that the filter does not.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a node like its neighbours, not an operator"
    )]
    pub fn not(filter: Self) -> Self {
        Self::group(Rule::Not, [filter])
    }

    /// Accepts what the filter does, of events whose type has a bit of `kind` and whose source has a bit of `source`.
    #[must_use]
    pub fn bitmask(kind: i32, source: i32, filter: Self) -> Self {
        Self::group(Rule::Bitmask(Bits { kind, source }), [filter])
    }

    /// Accepts events whose type and source, under the masks, are the values. Masks and values are pairs of type
    /// and source.
    #[must_use]
    pub fn masked(masks: (i32, i32), values: (i32, i32)) -> Self {
        let bits = |(kind, source)| Bits { kind, source };
        Self::leaf(Rule::Masked {
            masks: bits(masks),
            values: bits(values),
        })
    }

    /// Accepts the event of a timer that expires once, this long after the consumer subscribed.
    #[must_use]
    pub fn timeout(length: Duration) -> Self {
        Self::timer(TimerStyle::Once, length)
    }

    /// Accepts the events of a timer that expires each time after this long.
    #[must_use]
    pub fn interval(length: Duration) -> Self {
        Self::timer(TimerStyle::Interval, length)
    }

    /// Accepts the events of a timer that expires when the consumer has received no event for this long.
    #[must_use]
    pub fn deadline(length: Duration) -> Self {
        Self::timer(TimerStyle::Deadline, length)
    }

    /// Gives the filter's root a handle of the channel's [`Schedule`](crate::Schedule). A delivery has the level of the
    /// innermost node with a handle, on the way from the root to the node that accepted its last event.
    #[must_use]
    pub fn scheduled_as(mut self, rt_info: i32) -> Self {
        if let Some(root) = self.nodes.first_mut() {
            root.rt_info = rt_info;
        }
        self
    }

    fn leaf(rule: Rule) -> Self {
        Self {
            nodes: vec![Node::leaf(rule)],
        }
    }

    fn timer(style: TimerStyle, length: Duration) -> Self {
        let length = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        Self::leaf(Rule::Timer(Timer { style, length }))
    }

    fn group(rule: Rule, filters: impl IntoIterator<Item = Self>) -> Self {
        let mut nodes = vec![Node::leaf(rule)];
        let mut children = 0;
        for filter in filters {
            nodes.extend(filter.nodes);
            children += 1;
        }
        if let Some(root) = nodes.first_mut() {
            root.children = children;
        }
        Self { nodes }
    }
}
