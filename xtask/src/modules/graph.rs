//! Cycles in a graph of the uses between files.

use super::read::Edge;
use std::collections::{BTreeMap, BTreeSet};

type Graph<'e> = BTreeMap<&'e str, BTreeSet<&'e str>>;

/// Returns the cycles, each as a list of its files, ordered by name.
pub(super) fn cycles(edges: &[Edge]) -> Vec<String> {
    let mut graph = Graph::new();
    for edge in edges {
        graph.entry(&edge.from).or_default().insert(&edge.to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|from| (*from, reached(&graph, from)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut cycles = Vec::new();
    for (from, to) in &reach {
        if !to.contains(from) || !seen.insert(*from) {
            continue;
        }
        let is_of = |other: &&&str| reach.get(**other).is_some_and(|back| back.contains(from));
        let members: Vec<&str> = to.iter().filter(is_of).copied().collect();
        seen.extend(&members);
        cycles.push(members.join(", "));
    }
    cycles
}

/// Returns the number of uses against the order when the files of each cycle are sorted to keep
/// that number small (a heuristic: Eades, Lin and Smyth 1993).
pub(super) fn arrows_back(edges: &[Edge]) -> usize {
    let mut graph = Graph::new();
    for edge in edges {
        graph.entry(&edge.from).or_default().insert(&edge.to);
        graph.entry(&edge.to).or_default();
    }
    let order = order(&graph);
    let place = |file: &str| order.iter().position(|one| *one == file);
    graph
        .iter()
        .flat_map(|(from, to)| to.iter().map(move |to| (*from, *to)))
        .filter(|(from, to)| from != to && place(from) > place(to))
        .count()
}

/// Returns the files in an order in which few uses point backwards: files that use others come
/// before those.
fn order<'e>(graph: &Graph<'e>) -> Vec<&'e str> {
    let mut left: BTreeSet<&str> = graph.keys().copied().collect();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let uses = |file: &str| count(graph.get(file), |to| left.contains(to) && to != file);
        let users = |file: &str| {
            let others = left.iter().filter(|other| **other != file);
            others
                .filter(|other| graph.get(**other).is_some_and(|to| to.contains(file)))
                .count()
        };
        let unused = left.iter().find(|file| users(file) == 0).copied();
        let bottom = left.iter().find(|file| uses(file) == 0).copied();
        let next = match (bottom, unused) {
            (Some(file), _) => {
                last.push(file);
                file
            }
            (None, Some(file)) => {
                first.push(file);
                file
            }
            (None, None) => {
                let most = |file: &&&str| uses(file).cast_signed() - users(file).cast_signed();
                let Some(file) = left.iter().max_by_key(most).copied() else {
                    break;
                };
                first.push(file);
                file
            }
        };
        left.remove(next);
    }
    last.reverse();
    first.extend(last);
    first
}

fn count(files: Option<&BTreeSet<&str>>, is_counted: impl Fn(&str) -> bool) -> usize {
    files.map_or(0, |files| {
        files.iter().filter(|file| is_counted(file)).count()
    })
}

fn reached<'e>(graph: &Graph<'e>, from: &str) -> BTreeSet<&'e str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = graph.get(from).into_iter().flatten().copied().collect();
    while let Some(next) = open.pop() {
        if let Some((&next, _)) = graph.get_key_value(next)
            && reached.insert(next)
        {
            open.extend(graph.get(next).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(pairs: &[(&str, &str)]) -> Vec<Edge> {
        let edge = |(from, to): &(&str, &str)| Edge {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
        };
        pairs.iter().map(edge).collect()
    }

    #[test]
    fn a_cycle_is_found_whatever_hangs_on_it() {
        let found = cycles(&edges(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]));
        assert_eq!(found, ["b, c"]);
    }

    #[test]
    fn arrows_back_are_the_fewest_that_break_the_cycles() {
        let back = |pairs: &[(&str, &str)]| arrows_back(&edges(pairs));
        assert_eq!(back(&[("a", "b"), ("b", "c"), ("a", "c")]), 0);
        assert_eq!(back(&[("a", "b"), ("b", "c"), ("c", "a"), ("a", "c")]), 1);
        assert_eq!(back(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]), 2);
    }

    #[test]
    fn what_only_points_down_has_none() {
        assert!(cycles(&edges(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
    }
}
