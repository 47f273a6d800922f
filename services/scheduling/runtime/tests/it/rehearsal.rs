//! Tests of rehearsals.

use crate::setting::{any_schedule, ordinary};
use punctual_scheduling_runtime::ScheduleError;
use punctual_scheduling_runtime::rehearsal::{RehearsalOptions, rehearse};
use std::ops::ControlFlow;
use std::time::Duration;

fn options() -> RehearsalOptions {
    RehearsalOptions {
        time: Duration::from_secs(600),
        load: 50,
        ..RehearsalOptions::at("iiop://127.0.0.1:0".parse().unwrap())
    }
}

#[test]
fn each_release_executes_its_chain_of_calls() {
    let schedule = any_schedule(
        "
        mutexes = ['state']
        [operation.source]\nwcet = '200us'\nperiod = '20ms'
        calls = [{ operation = 'both', times = 2 }, { operation = 'sink', kind = 'one-way', times = 2 }]
        locks = [{ mutex = 'state', time = '100us' }]
        [operation.both]\nwcet = '100us'
        [operation.sink]\nwcet = '100us'\nlocks = [{ mutex = 'state', time = '50us' }]
    ",
    );
    let rt = ordinary(&schedule);
    let until_there_are_some = |_, jobs, _| match jobs {
        0..10 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let measured = rehearse(&rt, &schedule, &options(), until_there_are_some).unwrap();
    let [source, sink] = &measured[..] else {
        panic!("{measured:?}");
    };
    assert_eq!((&*source.operation, &*sink.operation), ("source", "sink"));
    assert!(source.jobs > 0);
    assert_eq!(sink.jobs, 2 * source.jobs);
    // Half of 200 us, and twice half of 100 us of the operation in its thread.
    assert!(source.longest_execution.as_nanos() >= 200_000, "{source:?}");
    assert!(source.longest_response >= source.mean_response);
}

#[test]
fn activities_of_a_queue_are_released_by_requests() {
    let schedule = any_schedule(
        "
        strategy = 'MLF'
        [operation.fast]\nwcet = '200us'\nperiod = '20ms'
        [operation.slow]\nwcet = '300us'\nperiod = '30ms'
    ",
    );
    let rt = ordinary(&schedule);
    let until_there_are_some = |_, jobs, _| match jobs {
        0..10 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let measured = rehearse(&rt, &schedule, &options(), until_there_are_some).unwrap();
    let jobs: u64 = measured.iter().map(|one| one.jobs).sum();
    assert!(jobs >= 10, "{measured:?}");
}

#[test]
fn a_plan_of_several_hosts_is_not_rehearsed() {
    let text = "
        [host.a]\n[host.b]\n[operation.here]\nwcet = '1ms'\nperiod = '10ms'\nhost = 'a'
    ";
    let model = crate::setting::model(text);
    let options_of = punctual_scheduling_runtime::ScheduleOptions::default();
    let schedule = punctual_scheduling_runtime::Schedule::new(model, "a", &options_of).unwrap();
    let rt = ordinary(&schedule);
    let refused =
        rehearse(&rt, &schedule, &options(), |_, _, _| ControlFlow::Break(())).unwrap_err();
    assert!(
        matches!(refused, ScheduleError::SeveralHosts(2)),
        "{refused}"
    );
}

#[test]
fn a_rehearsal_without_time_is_refused() {
    let schedule = any_schedule("[operation.one]\nwcet = '1ms'\nperiod = '10ms'");
    let rt = ordinary(&schedule);
    let none = RehearsalOptions {
        time: Duration::ZERO,
        ..options()
    };
    let refused = rehearse(&rt, &schedule, &none, |_, _, _| ControlFlow::Continue(()));
    assert!(matches!(refused, Err(ScheduleError::NoTime)), "{refused:?}");
}
