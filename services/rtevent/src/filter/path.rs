//! Path: what is left of a tree for events of one type and source, or of one timer.
//!
//! Which nodes accept such events never changes. So disjunctions, bitmasks and all that rejects are decided when
//! the path is made; what is left are conjunctions, each with the children that accept, and the nodes that end the path.

use super::accept::{Subject, accepted};
use super::flat::FlatPath;
use super::node::Rule;
use super::tree::{Slot, Tree};
use crate::level::Level;
use std::ops::Range;

/// Path of events down a tree. The first step is the root.
#[derive(Debug)]
pub(crate) struct Path {
    pub(super) steps: Vec<Step>,
    pub(super) choices: Vec<Choice>,
    /// The same for a conjunction that is the root.
    pub(super) flat: Option<FlatPath>,
}

/// Node that events of the path meet.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The event is passed up, to a conjunction or to the consumer.
    Pass { slot: Option<Slot>, level: Level },
    /// The event goes to the first of these children whose mark is not set.
    Conjunction { choices: Range<u32> },
}

/// Child of a conjunction that accepts the event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) mark: u32,
    pub(super) step: u32,
}

impl Path {
    /// Makes the path of events through a tree; `None` if the tree rejects them. Takes time in proportion to
    /// the tree.
    pub(crate) fn new(tree: &Tree, subject: Subject) -> Option<Self> {
        let accepted = accepted(tree, subject);
        if accepted.first() != Some(&true) {
            return None;
        }
        let mut path = Self {
            steps: Vec::new(),
            choices: Vec::new(),
            flat: None,
        };
        let mut nodes = vec![decided(tree, &accepted, 0)];
        // Each node becomes the step of its index; conjunctions add nodes behind.
        while let Some(&node) = nodes.get(path.steps.len()) {
            let step = match tree.conjunction_of[node] {
                None => Step::Pass {
                    slot: tree.slots[node],
                    level: tree.levels[node],
                },
                Some(_) => path.conjunction(tree, &accepted, node, &mut nodes),
            };
            path.steps.push(step);
        }
        path.flat = path.flat();
        Some(path)
    }

    /// Returns the most urgent level that deliveries of this path may have.
    pub(crate) fn most_urgent(&self) -> Level {
        let levels = self.steps.iter().filter_map(|step| match step {
            Step::Pass { level, .. } => Some(*level),
            Step::Conjunction { .. } => None,
        });
        levels.min().unwrap_or_default()
    }

    /// Returns whether all deliveries of this path have one level.
    pub(crate) fn has_one_level(&self) -> bool {
        let urgent = self.most_urgent();
        let is_same = |step: &Step| !matches!(step, Step::Pass { level, .. } if *level != urgent);
        self.steps.iter().all(is_same)
    }

    /// Returns the number of parts of the path.
    pub(crate) fn weight(&self) -> usize {
        self.steps.len() + self.choices.len()
    }

    /// Returns the path for a tree whose only conjunction is the root; `None` if the tree has another form, or deliveries
    /// have several levels.
    fn flat(&self) -> Option<FlatPath> {
        let Some(Step::Conjunction { choices }) = self.steps.first() else {
            return None;
        };
        let choices = choices.start as usize..choices.end as usize;
        let mut accept = 0_u64;
        for choice in self.choices.get(choices)? {
            let step = self.steps.get(choice.step as usize);
            let ends = matches!(step, Some(Step::Pass { .. }));
            accept |= 1_u64.checked_shl(choice.mark).filter(|_| ends)?;
        }
        self.has_one_level().then(|| FlatPath {
            accept,
            level: self.most_urgent(),
        })
    }

    fn conjunction(
        &mut self,
        tree: &Tree,
        accepted: &[bool],
        node: usize,
        nodes: &mut Vec<usize>,
    ) -> Step {
        let first = index(self.choices.len());
        for child in children(tree, node).filter(|child| accepted[*child]) {
            let Some(slot) = tree.slots[child] else {
                continue;
            };
            self.choices.push(Choice {
                mark: slot.mark,
                step: index(nodes.len()),
            });
            nodes.push(decided(tree, accepted, child));
        }
        Step::Conjunction {
            choices: first..index(self.choices.len()),
        }
    }
}

/// Returns the node that decides on an event which a node accepts: below disjunctions the first child that
/// accepts, below bitmasks the child.
fn decided(tree: &Tree, accepted: &[bool], mut node: usize) -> usize {
    while matches!(tree.nodes[node].rule, Rule::Disjunction | Rule::Bitmask(_)) {
        match children(tree, node).find(|child| accepted[*child]) {
            Some(child) => node = child,
            None => break,
        }
    }
    node
}

fn children(tree: &Tree, node: usize) -> impl Iterator<Item = usize> {
    let mut next = node + 1;
    (0..tree.nodes[node].children).map(move |_| {
        let child = next;
        next = tree.ends[child] as usize;
        child
    })
}

/// Trees have fewer nodes than this counts ([`FilterLimits`](super::FilterLimits)).
fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
