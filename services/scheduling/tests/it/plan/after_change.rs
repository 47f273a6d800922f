//! Tests of plans that are made of another one and a change: they are those that are made anew.

use super::{model, planned};
use crate::assignment::sets::Random;
use crate::timeline::models::{Shape, random};
use punctual_scheduling::Time;
use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::{Plan, plan};
use punctual_scheduling::strategy::{Rms, by_name};

/// Checks that a plan after a change has the values of one that is made anew.
fn check(before: &Plan, changed: &Model, strategy: &str) {
    let strategy = by_name(strategy).unwrap();
    let (Ok(new), Ok(after)) = (
        plan(changed, strategy),
        before.after_change(changed, strategy),
    ) else {
        assert!(plan(changed, strategy).is_err());
        assert!(before.after_change(changed, strategy).is_err());
        return;
    };
    assert_eq!(new.streams, after.streams);
    assert_eq!(new.processors, after.processors);
    assert_eq!(new.is_complete, after.is_complete);
    for stream in 0..new.streams.len() {
        assert_eq!(new.explain(stream), after.explain(stream));
    }
}

#[test]
fn a_change_of_any_value_gives_the_plan_that_is_made_anew() {
    let mut generator = Random::new(7);
    let mut checked = 0;
    for set in 0..120 {
        let shape = Shape {
            has_calls: set % 2 == 0,
            has_mutexes: set % 3 == 0,
            has_segments: set % 5 == 0,
            load: 60,
        };
        let strategy = ["RMS", "DMS", "EDF", "MUF"][set % 4];
        let text = random(&mut generator, strategy, shape);
        let Ok(first) = read("random", &text) else {
            continue;
        };
        let before = plan(&first, by_name(strategy).unwrap()).unwrap();
        for at in 0..first.operations.len() {
            let mut changed = first.clone();
            let operation = &mut changed.operations[at];
            match generator.below(6) {
                0 => operation.times.worst = operation.times.worst + Time::from_micros(1),
                1 => operation.period = operation.period.map(|period| period * 2),
                2 => operation.jitter = Time::from_micros(3),
                3 => operation.calls.clear(),
                4 => operation.sections.clear(),
                _ => changed
                    .messages
                    .iter_mut()
                    .for_each(|one| one.time = one.time * 3),
            }
            check(&before, &changed, strategy);
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
}

#[test]
fn other_processors_protocols_and_platforms_are_changes_too() {
    let text = "
        mutexes = ['m']
        [host.one]\nprocessors = 2
        [host.other]
        [operation.a]\nhost = 'one'\nwcet = '3ms'\nperiod = '10ms'\nlocks = [{ mutex = 'm', time = '2ms' }]
        [operation.b]\nhost = 'one'\nwcet = '4ms'\nperiod = '20ms'\nlocks = [{ mutex = 'm', time = '3ms' }]
        [operation.c]\nhost = 'other'\nwcet = '5ms'\nperiod = '15ms'
    ";
    let before = planned(&model(text));
    for (old, new) in [
        ("processors = 2", "processors = 3"),
        (
            "[host.other]",
            "[host.other]\ninterference = { most = '1ms', every = '9ms' }",
        ),
        ("mutexes", "lock_protocol = 'ceiling'\nmutexes"),
        ("wcet = '5ms'", "wcet = '5ms'\nprocessor = 0"),
        (
            "[operation.c]",
            "[operation.d]\nhost = 'one'\nwcet = '1ms'\nperiod = '5ms'\n[operation.c]",
        ),
        ("host = 'other'\nwcet", "host = 'one'\nwcet"),
    ] {
        check(&before, &model(&text.replace(old, new)), "RMS");
    }
    let faulty = model(
        &text
            .replace("[operation.a]\n", "[operation.a]\nprocessor = 1\n")
            .replace("[operation.b]\n", "[operation.b]\nprocessor = 0\n"),
    );
    assert!(before.after_change(&faulty, &Rms).is_err());
}
