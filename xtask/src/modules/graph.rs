//! Circles in a graph of uses.

use super::read::Edge;
use std::collections::{BTreeMap, BTreeSet};

type Graph<'e> = BTreeMap<&'e str, BTreeSet<&'e str>>;

/// Returns the circles, each as its files ordered by name.
pub(super) fn circles(edges: &[Edge]) -> Vec<String> {
    let mut graph = Graph::new();
    for edge in edges {
        graph.entry(&edge.from).or_default().insert(&edge.to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|from| (*from, reached(&graph, from)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for (from, to) in &reach {
        if !to.contains(from) || !seen.insert(*from) {
            continue;
        }
        let is_of = |other: &&&str| reach.get(**other).is_some_and(|back| back.contains(from));
        let members: Vec<&str> = to.iter().filter(is_of).copied().collect();
        seen.extend(&members);
        circles.push(members.join(", "));
    }
    circles
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
    fn a_circle_is_found_whatever_hangs_on_it() {
        let found = circles(&edges(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]));
        assert_eq!(found, ["b, c"]);
    }

    #[test]
    fn what_only_points_down_has_none() {
        assert!(circles(&edges(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
    }
}
