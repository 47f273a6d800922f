//! Tests of rehearsals.

use crate::setting::{any_schedule, ordinary};
use punctual_scheduling_runtime::rehearsal::{RehearsalOptions, rehearse};
use punctual_scheduling_runtime::{Schedule, ScheduleError, ScheduleOptions, Unproved};
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
fn a_host_is_rehearsed_with_a_clock_in_place_of_the_others() {
    let text = "
        [host.a]\n[host.b]
        [[message]]\nfrom = 'a'\nto = 'b'\ntime = '2ms'
        [operation.sample]\nhost = 'a'\nwcet = '200us'\nperiod = '20ms'
        calls = [{ operation = 'steer', kind = 'one-way', times = 2 }]
        [operation.steer]\nhost = 'b'\nwcet = '100us'
        calls = [{ operation = 'log', kind = 'one-way' }]
        [operation.log]\nhost = 'b'\nwcet = '100us'
    ";
    let until_there_are_some = |_, jobs, _| match jobs {
        0..10 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    for host in ["a", "b"] {
        let model = crate::setting::model(text);
        let of = ScheduleOptions {
            unproved: Unproved::Admit,
            ..ScheduleOptions::default()
        };
        let schedule = Schedule::new(model, host, &of).unwrap();
        let rt = ordinary(&schedule);
        let measured = rehearse(&rt, &schedule, &options(), until_there_are_some).unwrap();
        let jobs: Vec<_> = measured
            .iter()
            .map(|one| (&*one.operation, one.jobs))
            .collect();
        match jobs[..] {
            [("sample", jobs)] => assert!(host == "a" && jobs > 0),
            [("steer", steered), ("log", logged)] => {
                // Two at each release, each with a job of `log`.
                assert!(host == "b" && steered > 0 && steered % 2 == 0, "{jobs:?}");
                assert_eq!(steered, logged);
                // The chain's source ran as long as it may, and so did its message.
                assert!(measured[0].longest_response.as_nanos() > 2_000_000);
            }
            _ => panic!("{jobs:?}"),
        }
    }
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
