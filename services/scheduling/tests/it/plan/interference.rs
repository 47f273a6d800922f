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

/// Two processors: of the first the platform takes 5 of any 10 ms, of the second 1.
const TWO: &str = "
    [host.two]
    processors = 2
    interference = { most = '5ms', every = '10ms' }
    [host.two.processor.1]
    interference = { most = '1ms', every = '10ms' }
";

#[test]
fn each_processor_has_the_interference_of_its_table_or_of_its_host() {
    let text = format!(
        "{TWO}[operation.a]\nwcet = '2ms'\nperiod = '10ms'\nprocessor = 0
        [operation.b]\nwcet = '2ms'\nperiod = '10ms'\nprocessor = 1"
    );
    let plan = planned(&model(&text));
    let most = |at: usize| plan.processors[at].interference.map(|taken| taken.most);
    assert_eq!([most(0), most(1)], [ms(5), ms(1)]);
    assert_eq!(responses(&plan), [ms(7), ms(3)]);
    let none = text.replace("'1ms', every", "'0s', every");
    assert_eq!(responses(&planned(&model(&none))), [ms(7), ms(2)]);
    let only_one = text.replace("interference = { most = '5ms', every = '10ms' }", "");
    assert_eq!(responses(&planned(&model(&only_one))), [ms(2), ms(3)]);
}

#[test]
fn operations_are_placed_by_what_the_platform_takes_of_each_processor() {
    let text = |wcets: &[u64], strategy: &str| {
        let mut text = format!("strategy = '{strategy}'\n{TWO}");
        for (number, wcet) in wcets.iter().enumerate() {
            text += &format!("[operation.o{number}]\nwcet = '{wcet}ms'\nperiod = '10ms'\n");
        }
        text
    };
    for strategy in ["RMS", "EDF"] {
        // The longest has room on the second alone.
        for wcets in [&[8, 4, 1][..], &[4, 8], &[9, 5], &[2, 3, 9], &[5, 5, 4]] {
            let plan = planned(&model(&text(wcets, strategy)));
            assert!(plan.fits(), "{wcets:?} {strategy}");
        }
        for wcets in [&[6, 6][..], &[9, 6], &[5, 5, 5]] {
            let plan = planned(&model(&text(wcets, strategy)));
            assert!(!plan.fits(), "{wcets:?} {strategy}");
        }
    }
}

#[test]
fn a_move_ends_where_the_platform_leaves_room() {
    let text = format!(
        "{TWO}[operation.a]\nwcet = '4ms'\nperiod = '10ms'\nprocessor = 0
        [operation.b]\nwcet = '4ms'\nperiod = '10ms'\nprocessor = 0"
    );
    let to_the_second = |text: &str| {
        let model = model(text);
        let plan = planned(&model);
        let moves = plan.moves(&model, &punctual_scheduling::strategy::Rms);
        let moves = moves.into_iter().map(|one| (one.operation, one.to));
        moves.collect::<Vec<_>>()
    };
    let found = to_the_second(&text);
    assert_eq!(found, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    let full = text.replace("'1ms', every", "'7ms', every");
    assert_eq!(to_the_second(&full), []);
}

#[test]
fn a_table_of_a_processor_that_is_not_there_is_an_error() {
    for number in ["2", "x", "-1"] {
        let text = TWO.replace("processor.1", &format!("processor.{number}"));
        let text = format!("{text}{LOOP}").replacen('\n', "", 1);
        let faults = shown(&read("t.toml", &text).unwrap_err());
        let expected = format!("t.toml:4:25: error: host `two` has no processor `{number}`");
        assert!(faults.starts_with(&expected), "{faults}");
    }
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
    assert_eq!(
        model(&format!("{none}{LOOP}")).hosts[0].interference,
        [None]
    );
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
