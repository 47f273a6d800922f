//! Models made of measured operations, and plans beside them.

mod bursts;
mod noise;
mod timeline;

use punctual_scheduling::Time;
use punctual_scheduling::measured::{
    Finding, Margin, MeasuredOperation, Measurements, Times, compare, model_of,
};
use punctual_scheduling::model::read;
use punctual_scheduling::plan::plan;
use punctual_scheduling::strategy::Rms;

fn times(count: u64, [min, mean, max]: [u64; 3]) -> Times {
    let of = Time::from_nanos;
    Times {
        count,
        min: of(min),
        mean: of(mean),
        p50: of(mean),
        p99: of(max),
        max: of(max),
    }
}

fn operation(name: &str, execution: [u64; 3], distance: [u64; 3]) -> MeasuredOperation {
    MeasuredOperation {
        name: name.to_owned(),
        execution: times(10, execution),
        response: times(10, execution),
        distance: times(u64::from(distance[2] > 0) * 9, distance),
        arrivals: None,
    }
}

fn measured(operations: Vec<MeasuredOperation>) -> Measurements {
    Measurements {
        version: 1,
        not_recorded: 0,
        operations,
    }
}

#[test]
fn every_model_of_measured_operations_is_accepted_by_the_reader() {
    let long = "x".repeat(300);
    let names = [
        "A::a",
        "quote\"d",
        "new\nline",
        "",
        "ü::ö",
        &long,
        "a.b",
        "'",
    ];
    let extremes = [0, 1, 999, 1_000_001, 86_400_000_000_000, u64::MAX];
    for margin in ["0%", "20", "1000 %"] {
        let margin: Margin = margin.parse().unwrap();
        for execution in extremes {
            for distance in extremes {
                let all = names.map(|name| {
                    operation(
                        name,
                        [0, execution / 2, execution],
                        [0, distance / 2, distance],
                    )
                });
                let mut all = all.to_vec();
                // A model has an operation at least.
                all.push(operation("usual", [1, 2, 3], [10, 20, 30]));
                let model = model_of(&measured(all), margin).text;
                let read = read("measured.toml", &model);
                assert!(read.is_ok(), "{model}\n{:?}", read.unwrap_err());
            }
        }
    }
}

#[test]
fn the_margin_is_added_to_the_longest_time_and_the_shortest_distance_is_the_period() {
    let one = operation(
        "A::a",
        [1_000_000, 2_000_000, 3_000_000],
        [9_000_000, 10_000_000, 11_000_000],
    );
    let text = model_of(&measured(vec![one]), "50%".parse().unwrap()).text;
    let model = read("measured.toml", &text).unwrap();
    let a = model.operation("A::a").unwrap();
    let a = &model.operations[a];
    assert_eq!(a.times.worst, Time::from_micros(4500));
    assert_eq!(a.times.typical, Some(Time::from_millis(2)));
    assert_eq!(
        (a.period, a.jitter),
        (Some(Time::from_millis(9)), Time::ZERO)
    );
}

#[test]
fn versions_of_an_interface_are_one_operation_with_the_worst_times() {
    let one = operation("A::a", [1, 2000, 3000], [9_000_000, 10_000_000, 11_000_000]);
    let other = operation("A::a", [1, 2000, 7000], [8_000_000, 10_000_000, 12_000_000]);
    let single = operation("A::a", [1, 1, 1], [0, 0, 0]);
    let all = measured(vec![single.clone(), one, other, single]);
    let text = model_of(&all, "0%".parse().unwrap()).text;
    let model = read("measured.toml", &text).unwrap();
    assert_eq!(model.operations.len(), 1);
    assert_eq!(model.operations[0].times.worst, Time::from_micros(7));
    assert_eq!(model.operations[0].period, Some(Time::from_millis(8)));
}

#[test]
fn what_is_left_out_of_a_model_or_cut_is_told_with_its_name() {
    const DAY: u64 = 86_400_000_000_000;
    let all = vec![
        operation("kept", [1, 2, 3], [10, 20, 30]),
        operation("single", [1, 2, 3], [0, 0, 0]),
        operation("long", [1, 2, DAY + 1], [DAY + 1, DAY + 1, DAY + 1]),
        operation("rare", [1, 2, 3], [3 * DAY, 3 * DAY, 3 * DAY]),
        operation("bad\nname", [1, 2, 3], [10, 20, 30]),
    ];
    let model = model_of(&measured(all), "0%".parse().unwrap());
    let read = read("measured.toml", &model.text).unwrap();
    let names: Vec<_> = read.operations.iter().map(|one| &*one.name).collect();
    assert_eq!((names, model.operations), (vec!["kept", "rare"], 2));
    let rare = &read.operations[read.operation("rare").unwrap()];
    assert_eq!(rare.period, Some(Time::LONGEST));
    let mut remarks = model.remarks;
    remarks.sort();
    assert_eq!(
        remarks,
        [
            r#""bad\nname": left out, as it is no name of a model"#,
            "long: left out, as its execution time of 86400.000000001s with the margin is not below a day, the longest time of a model",
            "rare: its period of 259200s is cut to a day, the longest time of a model",
            "single: left out, as a single job has no period; wcet 3ns",
        ]
    );
}

#[test]
fn a_margin_is_a_number_of_hundredths() {
    for bad in ["", "%", "-1%", "1001%", "1.5%", "x"] {
        let error = bad.parse::<Margin>().unwrap_err();
        assert!(error.to_string().contains("such as 20%"), "{bad}");
    }
    let margin: Margin = "20%".parse().unwrap();
    assert_eq!(margin.on(Time::from_nanos(1)), Time::from_nanos(2));
    assert_eq!(margin.to_string(), "20%");
}

#[test]
fn each_operation_is_compared_with_its_plan() {
    const MODEL: &str = "
        [operation.kept]
        wcet = '1ms'
        period = '10ms'
        [operation.worse]
        wcet = '1ms'
        period = '10ms'
        deadline = '9ms'
        [operation.idle]
        wcet = '1ms'
        period = '100ms'
        [operation.caller]
        wcet = '1ms'
        period = '200ms'
        calls = [{ operation = 'called' }]
        [operation.called]
        wcet = '1ms'";
    let model = read("model.toml", MODEL).unwrap();
    let plan = plan(&model, &Rms).unwrap();
    let ms = 1_000_000;
    let mut worse = operation("worse", [1, ms, 2 * ms], [9 * ms, 10 * ms, 11 * ms]);
    worse.response = times(10, [1, ms, 50 * ms]);
    let all = measured(vec![
        operation("kept", [1, ms, ms], [10 * ms, 10 * ms, 11 * ms]),
        worse,
        operation("called", [1, ms, ms], [1, ms, ms]),
        operation("stranger", [1, ms, ms], [1, ms, ms]),
    ]);
    let compared = compare(&model, &plan, &all);
    let findings: Vec<_> = compared
        .iter()
        .map(|one| (one.operation.as_str(), &one.findings[..]))
        .collect();
    let bad = [
        Finding::Overrun,
        Finding::EarlyRelease,
        Finding::LateResponse,
        Finding::MissedDeadline,
    ];
    let expected: [(&str, &[Finding]); 6] = [
        ("kept", &[]),
        ("worse", &bad),
        ("idle", &[Finding::NeverRan]),
        ("caller", &[Finding::NeverRan]),
        ("called", &[]),
        ("stranger", &[Finding::NotPlanned]),
    ];
    assert_eq!(findings, expected);
    assert!(!Finding::NeverRan.is_worse() && Finding::NotPlanned.is_worse());
}

#[test]
fn several_calls_of_one_release_are_not_early() {
    let text = "
        [operation.caller]\nwcet = '1ms'\nperiod = '100ms'
        calls = [{ operation = 'called', kind = 'one-way', times = 2 }]
        [operation.called]\nwcet = '1ms'";
    let findings = |text: &str| {
        let model = read("model.toml", text).unwrap();
        let plan = plan(&model, &Rms).unwrap();
        let ms = 1_000_000;
        let all = measured(vec![
            operation("caller", [1, ms, ms], [100 * ms, 100 * ms, 100 * ms]),
            operation("called", [1, ms, ms], [1, 50 * ms, 100 * ms]),
        ]);
        compare(&model, &plan, &all)[1].findings.clone()
    };
    assert_eq!(findings(text), []);
    let once = text.replace(", times = 2", "");
    assert_eq!(findings(&once), [Finding::EarlyRelease]);
}
