//! Plan of a run: its stages, and the objects of each.

use super::setup::{Algorithm, Setup, Strategy};
use super::{Options, Point, Search};
use crate::experiment::Stage;
use serde::Serialize;

/// Numbers of objects in the paper's experiment (§5.3.1).
pub(super) const PAPER: [u32; 6] = [1, 100, 200, 300, 400, 500];
/// Larger numbers of objects, as in current servers.
const MORE: [u32; 3] = [10_000, 100_000, 1_000_000];
/// Numbers of operations in the paper's experiment.
pub(super) const OPERATIONS: [u32; 3] = [1, 10, 100];
/// Depths of nested object adapters to be measured.
const DEPTHS: [u32; 5] = [1, 2, 5, 10, 20];
/// Number of objects above which linear search is left out, by which a call would take milliseconds, and omniORB's server,
/// which takes long to make them.
const FEW: u32 = 10_000;
/// Ratio of the number of one-way calls to the number of two-way calls.
pub(super) const ONE_WAYS: u32 = 10;
/// Number of objects in stages that vary another quantity.
const SOME: u32 = 100;

/// Quantity on the horizontal axis of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Over {
    /// Number of active objects.
    Objects,
    /// Nesting depth of the object adapters.
    Depth,
}

/// Returns the stages of a run, each with a server of its own.
pub(super) fn stages<'h>(options: &Options) -> Vec<Stage<Search<'h>>> {
    let numbers = match (options.objects.is_empty(), options.quick) {
        (false, _) => options.objects.clone(),
        (true, true) => vec![1, 100, 500, 10_000],
        (true, false) => [&PAPER[..], &MORE].concat(),
    };
    let depths = if options.quick { &[1, 20] } else { &DEPTHS[..] };
    let two_way = numbers.iter().map(|&objects| two_way(options, objects));
    let one_way = numbers.iter().map(|&objects| one_way(options, objects));
    let deep = depths.iter().map(|&depth| deep(options, depth));
    two_way.chain(one_way).chain(deep).collect()
}

fn stage<'h>(
    options: &Options,
    over: Over,
    setup: Setup,
    algorithms: &[Algorithm],
) -> Stage<Search<'h>> {
    let points = setup.operations.iter().flat_map(|&operations| {
        algorithms.iter().map(move |&algorithm| Point {
            operations,
            algorithm,
        })
    });
    Stage {
        points: points.collect(),
        placement: options.placement,
        contenders: setup.strategies.clone(),
        setting: (over, setup),
    }
}

/// Returns the stage with the given number of objects: up to the paper's numbers, with each of its
/// numbers of operations; above them, only with the largest.
fn two_way<'h>(options: &Options, objects: u32) -> Stage<Search<'h>> {
    let operations = match objects <= 500 {
        true => OPERATIONS.to_vec(),
        false => vec![100],
    };
    let setup = Setup {
        operations,
        ..Setup::of(objects, &suitable(options, objects))
    };
    stage(options, Over::Objects, setup, &Algorithm::ALL)
}

fn one_way<'h>(options: &Options, objects: u32) -> Stage<Search<'h>> {
    let setup = Setup {
        operations: vec![100],
        one_way: true,
        ..Setup::of(objects, &suitable(options, objects))
    };
    stage(
        options,
        Over::Objects,
        setup,
        &[Algorithm::RequestTrain, Algorithm::RoundRobin],
    )
}

fn deep<'h>(options: &Options, depth: u32) -> Stage<Search<'h>> {
    let mut setup = Setup {
        depth,
        ..Setup::of(SOME, &options.strategies)
    };
    setup.strategies.retain(|one| *one != Strategy::OmniOrb);
    stage(options, Over::Depth, setup, &[Algorithm::RoundRobin])
}

fn suitable(options: &Options, objects: u32) -> Vec<Strategy> {
    let is_far = |one: &Strategy| !matches!(one, Strategy::Linear | Strategy::OmniOrb);
    let fits = |strategy: &&Strategy| objects <= FEW || is_far(strategy);
    options.strategies.iter().filter(fits).copied().collect()
}
