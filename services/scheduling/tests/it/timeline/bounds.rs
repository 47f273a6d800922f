//! No simulated response exceeds the computed one.

use super::models::{EXAMPLES, Shape, example, planned, random};
use crate::assignment::sets::{Random, count};
use punctual_scheduling::Time;
use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::{Plan, Verdict};
use punctual_scheduling::timeline::simulate;

const STRATEGIES: [&str; 10] = [
    "RMS",
    "DMS",
    "RMS_FAIR",
    "EDF",
    "MLF",
    "RMS_MLF",
    "MUF",
    "MUF_FAIR",
    "OPA",
    "CRITICALITY",
];

/// Checks the streams of which the plan knows the response.
///
/// Streams behind a stream that misses its deadline are analysed as if it met it: a plan with calls
/// is checked only if it fits.
fn check(model: &Model, plan: &Plan, until: Time, text: &str) {
    let timeline = simulate(model, plan, until);
    for job in &timeline.jobs {
        let stream = &plan.streams[job.stream];
        let name = &stream.operation;
        if stream.verdict == Verdict::Fits {
            assert!(!job.is_missed, "{name} misses: {job:?}\n{text}");
        }
        if let (Some(bound), Some(end)) = (stream.response, job.end) {
            let response = end - job.source_release;
            assert!(response <= bound, "{name}: {response} > {bound}\n{text}");
        }
    }
}

fn check_random(shape: Shape, seed: u64) {
    let mut generator = Random::new(seed);
    let (mut fitting, mut sets) = (0, 0);
    for set in 0..count() {
        let strategy = STRATEGIES[usize::try_from(set % 10).unwrap()];
        let text = random(&mut generator, strategy, shape);
        if read("random", &text).is_err() {
            continue;
        }
        let (model, plan) = planned("random", &text);
        sets += 1;
        fitting += u32::from(plan.fits());
        if plan.fits() || !shape.has_calls {
            check(&model, &plan, Time::from_micros(1000), &text);
        }
    }
    assert!(
        sets > 0 && fitting > sets / 10 && fitting < sets,
        "{fitting} of {sets}"
    );
}

#[test]
fn examples_stay_within_their_bounds() {
    for name in EXAMPLES {
        let (model, plan) = example(name);
        check(&model, &plan, Time::from_millis(2000), name);
    }
}

#[test]
fn independent_operations_stay_within_their_bounds() {
    let shape = Shape {
        has_calls: false,
        has_mutexes: false,
        has_segments: false,
        load: 85,
    };
    check_random(shape, 1);
}

#[test]
fn operations_with_segments_stay_within_their_bounds() {
    let shape = Shape {
        has_calls: false,
        has_mutexes: false,
        has_segments: true,
        load: 70,
    };
    check_random(shape, 2);
}

#[test]
fn operations_with_mutexes_stay_within_their_bounds() {
    let shape = Shape {
        has_calls: false,
        has_mutexes: true,
        has_segments: false,
        load: 70,
    };
    check_random(shape, 3);
}

#[test]
fn chains_over_two_hosts_stay_within_their_bounds() {
    let shape = Shape {
        has_calls: true,
        has_mutexes: false,
        has_segments: false,
        load: 60,
    };
    check_random(shape, 4);
}

#[test]
fn chains_with_mutexes_and_segments_stay_within_their_bounds() {
    let shape = Shape {
        has_calls: true,
        has_mutexes: true,
        has_segments: true,
        load: 50,
    };
    check_random(shape, 5);
}
