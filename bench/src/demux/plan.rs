//! Plan of a run: the parts, and the objects of each.

use super::setup::{Algorithm, Setup, Strategy};
use super::{Options, Which};
use serde::Serialize;

/// The paper's numbers of objects (§5.3.1).
pub(super) const PAPER: [u32; 6] = [1, 100, 200, 300, 400, 500];
/// Larger numbers of objects, as in servers of today.
const MORE: [u32; 3] = [10_000, 100_000, 1_000_000];
/// The paper's numbers of operations.
pub(super) const OPERATIONS: [u32; 3] = [1, 10, 100];
/// Depths of nested adapters.
const DEPTHS: [u32; 5] = [1, 2, 5, 10, 20];
/// Number of objects beyond which a linear search is left out: a call takes milliseconds.
const LINEAR: u32 = 10_000;
/// Ratio of one-ways to two-way calls.
pub(super) const ONE_WAYS: u32 = 10;
/// Number of objects where something else is varied.
const SOME: u32 = 100;

/// Quantity on the axis of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Number of objects.
    Objects,
    /// Depth of adapters.
    Depth,
}

/// Parts of a run, and its effort.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) rounds: u32,
    pub(super) calls: u32,
    pub(super) parts: Vec<Part>,
}

/// One server, and the orders in which its objects are called.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) over: Over,
    pub(super) setup: Setup,
    pub(super) algorithms: Vec<Algorithm>,
}

impl Plan {
    pub(super) fn of(options: &Options) -> Self {
        let either = |quick, usual| if options.quick { quick } else { usual };
        let numbers = match (options.objects.is_empty(), options.quick) {
            (false, _) => options.objects.clone(),
            (true, true) => vec![1, 100, 500, 10_000],
            (true, false) => [&PAPER[..], &MORE].concat(),
        };
        let mut parts = Vec::new();
        if options.parts.contains(&Which::Curves) {
            parts.extend(numbers.iter().map(|&objects| two_way(options, objects)));
            parts.extend(numbers.iter().map(|&objects| one_way(options, objects)));
            let depths = if options.quick { &[1, 20] } else { &DEPTHS[..] };
            parts.extend(depths.iter().map(|&depth| deep(options, depth)));
        }
        Self {
            rounds: options.rounds.unwrap_or(either(3, 9)),
            calls: options.calls.unwrap_or(either(100, 300)),
            parts,
        }
    }
}

/// Returns the part with so many objects: the paper's numbers with each of its numbers of
/// operations, larger numbers with its largest.
fn two_way(options: &Options, objects: u32) -> Part {
    let operations = match objects <= 500 {
        true => OPERATIONS.to_vec(),
        false => vec![100],
    };
    Part {
        over: Over::Objects,
        setup: Setup {
            objects,
            depth: 1,
            operations,
            one_way: false,
            strategies: suitable(options, objects),
        },
        algorithms: Algorithm::ALL.to_vec(),
    }
}

fn one_way(options: &Options, objects: u32) -> Part {
    Part {
        over: Over::Objects,
        setup: Setup {
            objects,
            depth: 1,
            operations: vec![100],
            one_way: true,
            strategies: suitable(options, objects),
        },
        algorithms: vec![Algorithm::Random],
    }
}

fn deep(options: &Options, depth: u32) -> Part {
    Part {
        over: Over::Depth,
        setup: Setup {
            objects: SOME,
            depth,
            operations: vec![1],
            one_way: false,
            strategies: options.strategies.clone(),
        },
        algorithms: vec![Algorithm::RoundRobin],
    }
}

fn suitable(options: &Options, objects: u32) -> Vec<Strategy> {
    let fits = |strategy: &&Strategy| **strategy != Strategy::Linear || objects <= LINEAR;
    options.strategies.iter().filter(fits).copied().collect()
}
