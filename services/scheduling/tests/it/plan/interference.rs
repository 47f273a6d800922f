//! Tests of models whose hosts lose time to the platform.

use super::{model, planned, shown};
use crate::assignment::sets::{Random, count};
use crate::timeline::models::{Shape, random};
use punctual_scheduling::Time;
use punctual_scheduling::admission::{Admission, AdmissionError};
use punctual_scheduling::model::{Interference, read};
use punctual_scheduling::plan::{Plan, Verdict};
use punctual_scheduling::timeline::simulate;

const LOST: &str = "
    [host.localhost]
    interference = { most = '2ms', every = '50ms' }
";

const LOOP: &str = "
    [operation.fast]
    wcet = '3ms'
    period = '10ms'
    [operation.slow]
    wcet = '20ms'
    period = '100ms'
    deadline = '40ms'
";

fn ms(millis: u64) -> Option<Time> {
    Some(Time::from_millis(millis))
}

fn responses(plan: &Plan) -> Vec<Option<Time>> {
    plan.streams.iter().map(|stream| stream.response).collect()
}

#[test]
fn the_platform_lengthens_every_response() {
    let plan = planned(&model(&format!("{LOST}{LOOP}")));
    assert_eq!(responses(&plan), [ms(5), ms(34)]);
    let lost = Interference {
        most: Time::from_millis(2),
        every: Time::from_millis(50),
    };
    assert_eq!(plan.processors[0].interference, Some(lost));
    assert_eq!(lost.to_string(), "at most 2ms in any 50ms");
    // The bounds of the utilisation do not know it.
    assert!(plan.processors[0].bounds.is_empty());
}

#[test]
fn explanations_name_the_time_of_the_platform() {
    let plan = planned(&model(&format!("{LOST}{LOOP}")));
    let terms = plan.explain(1).unwrap();
    assert_eq!(Some(terms.platform), ms(2));
    let others: Time = terms.interference.iter().map(|term| term.time).sum();
    assert_eq!(terms.execution + others + terms.platform, terms.response);
}

#[test]
fn the_platform_interrupts_jobs_that_cannot_be_preempted() {
    let text = format!("{LOST}{LOOP}    preemption = 'none'\n");
    let plan = planned(&model(&text));
    let slow = plan.streams[1].response.unwrap();
    // Behind the platform and one job of the other, not preempted by later ones.
    assert_eq!(Some(slow), ms(2 + 3 + 20));
    let more = text.replace("50ms", "6ms");
    let slow = planned(&model(&more)).streams[1].response.unwrap();
    // Five windows begin before its end.
    assert_eq!(Some(slow), ms(3 + 20 + 6 * 2));
}

#[test]
fn a_set_that_misses_by_the_platform_names_what_it_may_take() {
    let text = format!("{LOST}{LOOP}").replace("'2ms'", "'9ms'");
    let plan = planned(&model(&text));
    assert!(!plan.fits());
    let mends = plan.mends();
    let most = mends[0].interference.unwrap();
    let mended = planned(&model(&text.replace("9ms", &most.to_string())));
    assert!(mended.fits());
    let more = most + Time::from_nanos(1);
    assert!(!planned(&model(&text.replace("9ms", &more.to_string()))).fits());
}

#[test]
fn deadlines_are_tested_with_the_time_that_is_left() {
    let full = "
        strategy = 'EDF'
        [operation.one]\nwcet = '5ms'\nperiod = '10ms'
        [operation.other]\nwcet = '9ms'\nperiod = '20ms'
    ";
    assert!(planned(&model(full)).fits());
    let lost = "[host.localhost]\ninterference = { most = '1ms', every = '20ms' }";
    let plan = planned(&model(&format!("{full}{lost}")));
    assert!(plan.fits());
    assert_eq!(responses(&plan), [ms(10), ms(20)]);
    let more = lost.replace("1ms", "1100us");
    assert!(!planned(&model(&format!("{full}{more}"))).fits());
}

#[test]
fn interference_in_many_short_windows_is_still_decided_under_edf() {
    let text = "
        strategy = 'EDF'
        [host.localhost]\ninterference = { most = '1us', every = '10us' }
        [operation.one]\nwcet = '400ms'\nperiod = '1s'
        [operation.other]\nwcet = '450ms'\nperiod = '1010ms'
    ";
    // Far more windows than the computation of response times visits.
    let plan = planned(&model(text));
    assert!(plan.fits());
    assert_eq!(responses(&plan), [ms(1_000), ms(1_010)]);
    assert!(!planned(&model(&text.replace("450ms", "510ms"))).fits());
}

#[test]
fn fair_admission_leaves_room_for_the_platform() {
    let text = |lost: &str| {
        format!(
            "strategy = 'RMS_FAIR'\n[host.localhost]\ninterference = {{ most = '{lost}', every = '10ms' }}
            [operation.one]\nwcet = '5ms'\nperiod = '10ms'
            [operation.other]\nwcet = '8ms'\nperiod = '20ms'"
        )
    };
    let verdicts = |lost| {
        let plan = planned(&model(&text(lost)));
        plan.streams
            .iter()
            .map(|one| one.verdict)
            .collect::<Vec<_>>()
    };
    assert_eq!(verdicts("1ms"), [Verdict::Fits, Verdict::Fits]);
    assert_eq!(verdicts("2ms"), [Verdict::Fits, Verdict::LeftOut]);
}

#[test]
fn admission_at_run_time_leaves_room_for_the_platform() {
    let admitted = |lost: &str| {
        let text = format!("{LOST}{LOOP}").replace("'2ms'", lost);
        // 20 ms, four jobs of fast, and what the platform takes.
        let text = text.replace("'40ms'", "'38ms'");
        let model = model(&text);
        let plan = planned(&model);
        let mut admission = Admission::new(model, plan);
        admission.admit("fast").unwrap();
        admission.admit("slow").map(drop)
    };
    assert!(admitted("'2ms'").is_ok());
    assert!(matches!(
        admitted("'7ms'").unwrap_err(),
        AdmissionError::NoRoom { .. }
    ));
}

#[test]
fn lanes_are_those_of_the_operations_alone() {
    let plan = planned(&model(&format!("{LOST}{LOOP}")));
    for (count, lanes) in [(1, [0, 0]), (2, [0, 1]), (9, [0, 1])] {
        let cost = &plan.lanes(count)[0];
        let of_streams: Vec<_> = cost.streams.iter().map(|one| one.lane).collect();
        assert_eq!(of_streams, lanes, "{count}");
        assert_eq!(cost.priorities.len(), lanes[1] + 1, "{count}");
    }
}

#[test]
fn operations_are_placed_where_the_platform_leaves_room() {
    let text = |lost: &str| {
        format!(
            "[host.two]\nprocessors = 2\ninterference = {{ most = '{lost}', every = '10ms' }}
            [operation.a]\nwcet = '4ms'\nperiod = '10ms'
            [operation.b]\nwcet = '4ms'\nperiod = '10ms'
            [operation.c]\nwcet = '4ms'\nperiod = '10ms'
            [operation.d]\nwcet = '4ms'\nperiod = '10ms'"
        )
    };
    assert!(planned(&model(&text("2ms"))).fits());
    assert!(!planned(&model(&text("3ms"))).fits());
}

#[test]
fn faults_of_the_key_name_its_line() {
    for (value, expected) in [
        (
            "{ most = '50ms', every = '50ms' }",
            "t.toml:2:16: error: the platform takes 50ms in any 50ms, which leaves no time",
        ),
        (
            "{ most = '0s', every = '0s' }",
            "t.toml:2:16: error: the platform takes 0s in any 0s",
        ),
        (
            "{ most = '1ms' }",
            "t.toml:2:16: error: missing field `every`",
        ),
        ("'1ms'", "t.toml:2:16: error: invalid type"),
    ] {
        let text = format!("[host.localhost]\ninterference = {value}\n{LOOP}");
        let faults = shown(&read("t.toml", &text).unwrap_err());
        assert!(faults.starts_with(expected), "{faults}");
    }
    let none = "[host.localhost]\ninterference = { most = '0s', every = '50ms' }";
    assert_eq!(model(&format!("{none}{LOOP}")).hosts[0].interference, None);
}

/// Plans random models twice: with the key, and with an operation of the highest priority that takes as much.
#[test]
fn the_key_means_an_operation_above_all_others_on_each_host() {
    let shape = Shape {
        has_calls: true,
        has_mutexes: false,
        has_segments: false,
        load: 50,
    };
    let mut generator = Random::new(7);
    let mut fitting = 0;
    for _ in 0..count() {
        let text = random(&mut generator, "DMS", shape);
        let text = text.replace("processors = 2", "processors = 1");
        if read("random", &text).is_err() {
            continue;
        }
        let key = text.replace(
            "processors = 1",
            "processors = 1\ninterference = { most = \"500ns\", every = \"15us\" }",
        );
        let mut operations = text;
        for host in ["h0", "h1"] {
            operations += &format!(
                "[operation.platform_{host}]\nhost = \"{host}\"\nwcet = \"500ns\"\n\
                 period = \"15us\"\ndeadline = \"501ns\"\n"
            );
        }
        let (with_key, model) = (planned(&model(&key)), model(&operations));
        let with_operations = planned(&model);
        let of_operations = responses(&with_operations);
        let count = with_key.streams.len();
        fitting += u32::from(with_key.fits());
        for (stream, one) in with_key.streams.iter().enumerate() {
            let mut others = with_operations.streams.iter();
            let other = others.position(|other| {
                (&other.operation, &other.source) == (&one.operation, &one.source)
            });
            assert_eq!(
                one.response,
                of_operations[other.unwrap()],
                "{stream}: {key}"
            );
        }
        assert_eq!(of_operations.len(), count + 2);
        let timeline = simulate(&model, &with_operations, Time::from_micros(1000));
        assert!(
            !with_key.fits() || timeline.missed().next().is_none(),
            "{key}"
        );
    }
    assert!(fitting > 0);
}
