//! Tree: a filter made ready for events.

use super::build::Filter;
use super::error::{FilterError, FilterLimits};
use super::node::{Node, Rule, Timer, TimerStyle};
use super::selectors::selectors;
use crate::level::{Level, Schedule};
use crate::peer::Selector;
use std::time::Duration;

/// Filter, and data about it that are computed once, when a consumer subscribes.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// For each node, the index behind its subtree.
    pub(super) ends: Vec<u32>,
    /// For each node, the level of deliveries that it accepts.
    pub(super) levels: Vec<Level>,
    /// For each node, its place below a conjunction whose sets reach the consumer.
    pub(super) slots: Vec<Option<Slot>>,
    /// Conjunctions whose sets can reach the consumer.
    pub(super) conjunctions: Vec<Conjunction>,
    /// For each node, its index among the conjunctions.
    pub(super) conjunction_of: Vec<Option<u32>>,
    timers: Vec<TreeTimer>,
    has_deadlines: bool,
    selectors: Vec<Selector>,
}

/// Child of a conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Index of the conjunction.
    pub(super) conjunction: u32,
    /// Index of the child's mark among those of all conjunctions.
    pub(super) mark: u32,
}

/// Conjunction whose sets can reach the consumer: it stands below no negation and no logical AND, which pass events
/// themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conjunction {
    /// Place of the conjunction below another one.
    pub(super) parent: Option<Slot>,
    /// Number of its children.
    pub(super) children: u32,
    /// Index of the mark of the conjunction's first child.
    pub(super) first_mark: u32,
}

/// Timer of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeTimer {
    /// Index of the timer's node.
    pub(crate) node: u32,
    /// Style and length.
    pub(crate) timer: Timer,
    /// Level of its events.
    pub(crate) level: Level,
}

impl Tree {
    /// Makes a filter ready. `level` is that of nodes without a handle that the schedule knows.
    ///
    /// # Errors
    /// Limits that the filter breaks, and timers without length.
    pub(crate) fn new(
        filter: Filter,
        limits: &FilterLimits,
        level: Level,
        schedule: Option<&dyn Schedule>,
    ) -> Result<Self, FilterError> {
        let nodes = filter.nodes;
        check_size(&nodes, limits)?;
        let mut tree = Self {
            ends: ends(&nodes),
            levels: Vec::with_capacity(nodes.len()),
            slots: Vec::with_capacity(nodes.len()),
            conjunctions: Vec::new(),
            conjunction_of: Vec::with_capacity(nodes.len()),
            timers: Vec::new(),
            has_deadlines: false,
            selectors: selectors(&nodes),
            nodes,
        };
        tree.walk(limits, level, schedule)?;
        Ok(tree)
    }

    /// Returns whether the tree has conjunctions, and so collects events.
    pub(crate) fn collects(&self) -> bool {
        !self.conjunctions.is_empty()
    }

    /// Returns whether the tree has timers that restart when the consumer receives an event.
    pub(crate) fn has_deadlines(&self) -> bool {
        self.has_deadlines
    }

    /// Returns the levels that deliveries may have, without repeats.
    pub(crate) fn levels(&self) -> Vec<Level> {
        let mut levels = self.levels.clone();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// Returns the timers in the order of their nodes.
    pub(crate) fn timers(&self) -> &[TreeTimer] {
        &self.timers
    }

    /// Returns types and sources of all events of suppliers that the tree may accept, and perhaps of
    /// some that it does not.
    pub(crate) fn selectors(&self) -> &[Selector] {
        &self.selectors
    }

    /// Returns the number of marks of all conjunctions.
    pub(super) fn marks(&self) -> usize {
        self.conjunctions
            .last()
            .map_or(0, |last| (last.first_mark + last.children) as usize)
    }

    /// Computes what depends on the nodes above each node.
    fn walk(
        &mut self,
        limits: &FilterLimits,
        level: Level,
        schedule: Option<&dyn Schedule>,
    ) -> Result<(), FilterError> {
        let mut above: Vec<Above> = Vec::new();
        let mut marks = 0;
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            while above
                .last()
                .is_some_and(|above| above.end as usize <= index)
            {
                above.pop();
            }
            if above.len() >= limits.depth {
                return Err(FilterError::TooDeep {
                    at: index,
                    limit: limits.depth,
                });
            }
            let place = above.last_mut().map_or_else(Place::root, Above::next_child);
            let inherited = above.last().map_or(level, |above| above.level);
            let own = (node.rt_info != 0).then(|| schedule?.level(node.rt_info));
            let level = own.flatten().unwrap_or(inherited);
            let conjunction = self.conjunction(&node, place, &mut marks);
            self.levels.push(level);
            self.slots.push(place.slot);
            self.conjunction_of.push(conjunction);
            self.timer(index, &node, level, limits.least_timeout)?;
            above.push(Above {
                end: self.ends[index],
                level,
                below: place.below(node.rule),
                marks: conjunction.map(|index| {
                    let first = self.conjunctions[index as usize].first_mark;
                    (index, first)
                }),
            });
        }
        Ok(())
    }

    fn conjunction(&mut self, node: &Node, place: Place, marks: &mut u32) -> Option<u32> {
        if node.rule != Rule::Conjunction || !place.passes {
            return None;
        }
        let index = u32::try_from(self.conjunctions.len()).ok()?;
        self.conjunctions.push(Conjunction {
            parent: place.slot,
            children: node.children,
            first_mark: *marks,
        });
        *marks += node.children;
        Some(index)
    }

    fn timer(
        &mut self,
        at: usize,
        node: &Node,
        level: Level,
        limit: Duration,
    ) -> Result<(), FilterError> {
        let Rule::Timer(timer) = node.rule else {
            return Ok(());
        };
        let Ok(node) = u32::try_from(at) else {
            return Ok(());
        };
        if timer.length == 0 {
            return Err(FilterError::NoLength { at });
        }
        let length = Duration::from_nanos(timer.length);
        if length < limit {
            return Err(FilterError::TooShort { at, length, limit });
        }
        self.has_deadlines |= timer.style == TimerStyle::Deadline;
        self.timers.push(TreeTimer { node, timer, level });
        Ok(())
    }
}

/// Place of a node: what becomes of what it passes.
#[derive(Clone, Copy)]
struct Place {
    /// Events that it passes go further up: not so below negations and logical ANDs.
    passes: bool,
    slot: Option<Slot>,
}

impl Place {
    fn root() -> Self {
        Self {
            passes: true,
            slot: None,
        }
    }

    /// Returns the place of children of a node here, apart from those of conjunctions.
    fn below(self, rule: Rule) -> Self {
        let passes = self.passes && !matches!(rule, Rule::Both | Rule::Not);
        Self {
            passes,
            slot: self.slot.filter(|_| passes),
        }
    }
}

/// Node above the one that is walked to.
struct Above {
    end: u32,
    level: Level,
    below: Place,
    /// Index of a conjunction, and the mark of its next child.
    marks: Option<(u32, u32)>,
}

impl Above {
    fn next_child(&mut self) -> Place {
        let Some((conjunction, mark)) = self.marks else {
            return self.below;
        };
        self.marks = Some((conjunction, mark + 1));
        Place {
            passes: true,
            slot: Some(Slot { conjunction, mark }),
        }
    }
}

fn check_size(nodes: &[Node], limits: &FilterLimits) -> Result<(), FilterError> {
    let limit = limits.nodes.min(u32::MAX as usize);
    if nodes.len() > limit {
        return Err(FilterError::TooManyNodes {
            nodes: nodes.len(),
            limit,
        });
    }
    let is_timer = |node: &&Node| matches!(node.rule, Rule::Timer(_));
    let timers = nodes.iter().filter(is_timer).count();
    match timers > limits.timers {
        true => Err(FilterError::TooManyTimers {
            timers,
            limit: limits.timers,
        }),
        false => Ok(()),
    }
}

/// Returns the index behind each node's subtree: that of its last child, or of itself.
fn ends(nodes: &[Node]) -> Vec<u32> {
    let mut ends = vec![0; nodes.len()];
    // Ends of the subtrees that have no parent yet, the first in the array on top.
    let mut open: Vec<u32> = Vec::new();
    for (index, node) in nodes.iter().enumerate().rev() {
        let rest = open.len().saturating_sub(node.children as usize);
        let own = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let end = open.get(rest).filter(|_| node.children > 0);
        let end = end.copied().unwrap_or(own);
        open.truncate(rest);
        open.push(end);
        ends[index] = end;
    }
    ends
}
