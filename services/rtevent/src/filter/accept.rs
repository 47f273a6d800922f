//! Acceptance: which nodes of a tree accept an event.

use super::node::{Bits, Node, Rule};
use super::tree::Tree;

/// Property of an event on which acceptance depends: its type and source, or the timer that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// Event of a supplier.
    Event { kind: i32, source: i32 },
    /// Event of the timer of a node of this tree; its source is 0.
    Timer { node: u32, kind: i32 },
}

impl Subject {
    fn bits(self) -> Bits {
        match self {
            Self::Event { kind, source } => Bits { kind, source },
            Self::Timer { kind, .. } => Bits { kind, source: 0 },
        }
    }
}

/// Returns for each node whether it accepts the event. Takes time in proportion to the tree.
pub(super) fn accepted(tree: &Tree, subject: Subject) -> Vec<bool> {
    let mut accepted = vec![false; tree.nodes.len()];
    // Answers of the subtrees that have no parent yet, the first in the array on top.
    let mut open: Vec<bool> = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let rest = open.len().saturating_sub(node.children as usize);
        let accepts = accepts(node, index, subject, &open[rest..]);
        open.truncate(rest);
        open.push(accepts);
        accepted[index] = accepts;
    }
    accepted
}

fn accepts(node: &Node, index: usize, subject: Subject, children: &[bool]) -> bool {
    let Bits { kind, source } = subject.bits();
    let any = || children.iter().any(|child| *child);
    match node.rule {
        Rule::Event {
            kind: own_kind,
            source: own_source,
        } => (own_kind == 0 || own_kind == kind) && (own_source == 0 || own_source == source),
        Rule::Null => true,
        Rule::Masked { masks, values } => {
            kind & masks.kind == values.kind && source & masks.source == values.source
        }
        Rule::Bitmask(masks) => kind & masks.kind != 0 && source & masks.source != 0 && any(),
        Rule::Disjunction | Rule::Conjunction => any(),
        Rule::Both => children.iter().all(|child| *child),
        Rule::Not => !any(),
        Rule::Timer(_) => matches!(subject, Subject::Timer { node, .. } if node as usize == index),
    }
}
