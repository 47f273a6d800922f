//! Models of operations whose jobs come in bursts: no jobs that were measured come closer together than a model allows.

use super::{measured, operation};
use crate::simulation::Random;
use punctual_scheduling::Time;
use punctual_scheduling::measured::{
    Arrivals, Finding, MeasuredOperation, Measurements, RecordedJob, RecordedOperation,
    RecordedTimeline, compare_timeline, model_of,
};
use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::plan;
use punctual_scheduling::strategy::Rms;

/// Returns an operation whose jobs arrived at these times, and took 1 µs.
fn arrived(name: &str, at: &[u64]) -> MeasuredOperation {
    let distances: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = (at[at.len() - 1] - at[0]) / at.len() as u64;
    let [min, max] = [distances.iter().min(), distances.iter().max()].map(|time| *time.unwrap());
    let at: Vec<Time> = at.iter().copied().map(Time::from_nanos).collect();
    MeasuredOperation {
        arrivals: Arrivals::of(&at),
        ..operation(name, [900, 950, 1000], [min, mean, max])
    }
}

fn read_again(measured: &Measurements) -> Model {
    let text = model_of(measured, "0%".parse().unwrap()).text;
    read("measured.toml", &text).unwrap()
}

/// Returns period and jitter of the model's only operation.
fn arrivals(model: &Model) -> (u64, u64) {
    let only = &model.operations[0];
    (only.period.unwrap().as_nanos(), only.jitter.as_nanos())
}

/// Draws the arrivals of jobs: bursts of one length or several, or a jittered period.
fn draw(random: &mut Random) -> Vec<u64> {
    let (mut at, mut now) = (Vec::new(), 1_000_000);
    let (longest, pause) = (random.within(1, 40), random.within(2_000, 400_000));
    let inside = random.within(0, 3_000);
    for _ in 0..random.within(1, 40) {
        let length = match random.one_in(2) {
            true => longest,
            false => random.within(1, longest),
        };
        for _ in 0..length {
            now += random.within(inside / 2, inside);
            at.push(now);
        }
        now += random.within(pause, 3 * pause);
        at.push(now);
    }
    at.push(now + pause);
    at
}

/// Checks that no jobs of any number came closer together than the model allows.
fn assert_within(at: &[u64], (period, jitter): (u64, u64)) {
    for (first, begin) in at.iter().enumerate() {
        for (distances, end) in (0..).zip(&at[first..]) {
            let planned = (period * distances).saturating_sub(jitter);
            assert!(
                end - begin >= planned,
                "{distances} distances in {} ns, {period} ns with a jitter of {jitter} ns: {at:?}",
                end - begin
            );
        }
    }
}

#[test]
fn no_burst_of_a_recording_is_closer_than_its_model_allows() {
    for seed in 0..300 {
        let at = draw(&mut Random::new(seed));
        let model = read_again(&measured(vec![arrived("A::a", &at)]));
        let (period, jitter) = arrivals(&model);
        // A mean distance below the execution time is made longer, as one processor cannot do it anyway.
        if period > 1_000 {
            assert_within(&at, (period, jitter));
        }
    }
}

#[test]
fn two_versions_of_an_interface_are_never_closer_than_their_common_model_allows() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let (one, other) = (draw(&mut random), draw(&mut random));
        let both = vec![arrived("A::a", &one), arrived("A::a", &other)];
        let (period, jitter) = arrivals(&read_again(&measured(both)));
        let mut all = [one, other].concat();
        all.sort_unstable();
        if period > 1_000 {
            assert_within(&all, (period, jitter));
        }
    }
}

#[test]
fn a_burst_has_the_mean_distance_of_64_jobs_and_the_jitter_of_its_own() {
    // Eight jobs at a distance of 1 ms, every 100 ms.
    let burst = |number: u64| (0..8).map(move |job| number * 100_000_000 + job * 1_000_000);
    let at: Vec<u64> = (0..20).flat_map(burst).collect();
    let model = read_again(&measured(vec![arrived("A::a", &at)]));
    // 64 distances in eight bursts; eight jobs in 7 ms.
    assert_eq!(arrivals(&model), (12_500_000, 80_500_000));
    let deadline = model.operations[0].deadline;
    assert_eq!(deadline, Some(Time::from_millis(93)));
    assert_within(&at, arrivals(&model));
}

#[test]
fn jobs_at_one_distance_have_no_jitter() {
    let at: Vec<u64> = (0..50).map(|job| job * 10_000_000).collect();
    let model = read_again(&measured(vec![arrived("A::a", &at)]));
    assert_eq!(arrivals(&model), (10_000_000, 0));
    assert_eq!(model.operations[0].deadline, None);
}

#[test]
fn a_longer_burst_than_planned_is_an_early_release() {
    let text = "[operation.a]\nwcet = '1us'\nperiod = '10us'\njitter = '10us'\ndeadline = '1ms'";
    let model = read("model.toml", text).unwrap();
    let plan = plan(&model, &Rms).unwrap();
    let findings = |at: &[u64]| {
        let job = |read: &u64| {
            let [read, begin, end] = [*read, *read, read + 1000].map(Time::from_nanos);
            RecordedJob { read, begin, end }
        };
        let a = RecordedOperation {
            name: "a".to_owned(),
            jobs: at.iter().map(job).collect(),
        };
        let recorded = RecordedTimeline {
            operations: vec![a],
            ..RecordedTimeline::default()
        };
        compare_timeline(&model, &plan, &recorded)
            .remove(0)
            .findings
    };
    // Two at once are planned, three are not.
    assert_eq!(findings(&[0, 0, 10_000, 20_000]), []);
    assert_eq!(findings(&[0, 0, 0, 30_000]), [Finding::EarlyRelease]);
}

#[test]
fn models_of_extreme_arrivals_are_accepted_by_the_reader() {
    let extremes = [0, 1, 999, 1_000_001, 86_400_000_000_000, u64::MAX];
    for period in extremes {
        for jitter in extremes {
            for execution in extremes {
                let [period, jitter] = [period, jitter].map(Time::from_nanos);
                let one = MeasuredOperation {
                    arrivals: Some(Arrivals { period, jitter }),
                    ..operation("A::a", [0, execution / 2, execution], [1, 1, 1])
                };
                // A model has an operation at least.
                let usual = operation("usual", [1, 2, 3], [10, 20, 30]);
                let text = model_of(&measured(vec![one, usual]), "20%".parse().unwrap()).text;
                let read = read("measured.toml", &text);
                assert!(read.is_ok(), "{text}\n{:?}", read.unwrap_err());
            }
        }
    }
}
