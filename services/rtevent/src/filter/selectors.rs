//! Types and sources that a filter may accept.

use super::node::{Bits, Node, Rule};
use crate::peer::Selector;

/// Selector of all events.
const ALL: Selector = Selector::new(0, 0);

/// Returns types and sources of all events of suppliers that a filter may accept, sorted. They may include
/// some that it does not: of negations and masks all, of a logical AND those of one child.
pub(super) fn selectors(nodes: &[Node]) -> Vec<Selector> {
    // Selectors of the subtrees that have no parent yet, the first in the array on top.
    let mut open: Vec<Vec<Selector>> = Vec::new();
    for node in nodes.iter().rev() {
        let rest = open.len().saturating_sub(node.children as usize);
        let children = open.split_off(rest);
        open.push(of_node(node, children));
    }
    sorted(open.pop().unwrap_or_default())
}

fn of_node(node: &Node, children: Vec<Vec<Selector>>) -> Vec<Selector> {
    match node.rule {
        Rule::Event { kind, source } => vec![Selector::new(kind, source)],
        Rule::Masked { masks, values } => masked(masks, values),
        Rule::Null | Rule::Not => vec![ALL],
        Rule::Timer(_) => Vec::new(),
        Rule::Bitmask(Bits { kind, source }) if kind == 0 || source == 0 => Vec::new(),
        Rule::Bitmask(_) | Rule::Disjunction | Rule::Conjunction => union(children),
        Rule::Both => narrowest(children),
    }
}

/// Returns the selectors of values under masks: a whole mask leaves one value.
fn masked(masks: Bits, values: Bits) -> Vec<Selector> {
    let is_possible = values.kind & !masks.kind == 0 && values.source & !masks.source == 0;
    let one = |mask: i32, value: i32| if mask == -1 { value } else { 0 };
    match is_possible {
        true => vec![Selector::new(
            one(masks.kind, values.kind),
            one(masks.source, values.source),
        )],
        false => Vec::new(),
    }
}

/// Joins lists into the longest of them, so that each selector is moved a few times only, even in deep trees.
fn union(mut lists: Vec<Vec<Selector>>) -> Vec<Selector> {
    let longest = (0..lists.len()).max_by_key(|index| lists[*index].len());
    let Some(longest) = longest else {
        return Vec::new();
    };
    let mut all = lists.swap_remove(longest);
    all.extend(lists.into_iter().flatten());
    all
}

/// Returns the shortest list, preferring those that are limited to types.
fn narrowest(lists: Vec<Vec<Selector>>) -> Vec<Selector> {
    let takes_all_types = |list: &[Selector]| list.iter().any(|one| one.kind == 0);
    lists
        .into_iter()
        .min_by_key(|list| (takes_all_types(list), list.len()))
        .unwrap_or_else(|| vec![ALL])
}

fn sorted(mut selectors: Vec<Selector>) -> Vec<Selector> {
    selectors.sort_unstable();
    selectors.dedup();
    selectors
}
