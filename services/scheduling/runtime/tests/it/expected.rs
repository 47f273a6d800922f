//! Tests of running programs that compare themselves with their plan.

use crate::setting::idl::rehearsal::{Operation, OperationServant};
use crate::setting::{any_schedule, ordinary, server};
use punctual::rt::measurement::{Expected, Recording, RecordingOptions, Violation, ViolationKind};
use punctual::{RootPoa, SystemException};
use punctual_scheduling_runtime::rehearsal::burn;
use punctual_scheduling_runtime::{Schedule, ScheduleOptions, ServerScheduler};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

const NAME: &str = "Rehearsal::Operation::run";

fn expected(schedule: &Schedule, name: &str) -> Expected {
    let mut all = schedule.expected().into_iter();
    all.find(|one| one.operation == name).unwrap()
}

#[test]
fn a_plan_expects_times_of_the_operations_of_its_host() {
    let text = "
        [host.here]\n[host.there]
        [[message]]\nfrom = 'here'\nto = 'there'\ntime = '1ms'
        [operation.'M::I::source']\nhost = 'here'\nwcet = '1ms'\nperiod = '10ms'\njitter = '2ms'\ndeadline = '9ms'
        calls = [{ operation = 'M::I::called' }, { operation = 'M::I::remote', kind = 'one-way' }]
        [operation.'M::I::called']\nhost = 'here'\nwcet = '2ms'
        [operation.'M::I::remote']\nhost = 'there'\nwcet = '1ms'
    ";
    let model = crate::setting::model(text);
    let schedule = Schedule::new(model, "here", &ScheduleOptions::default()).unwrap();
    let source = expected(&schedule, "M::I::source");
    // Without what it calls, as an upcall of that has times of its own.
    assert_eq!(source.wcet, Some(Duration::from_millis(1)));
    assert_eq!(source.period, Some(Duration::from_millis(8)));
    assert_eq!(source.deadline, Some(Duration::from_millis(9)));
    let called = expected(&schedule, "M::I::called");
    assert_eq!(called.wcet, Some(Duration::from_millis(2)));
    assert_eq!((called.period, called.deadline), (None, None));
    assert_eq!(schedule.expected().len(), 2);
}

/// Servant that takes more processor time than other tests plan for their operations.
struct Slow;

/// Processor time of its jobs, in nanoseconds.
const TIME: u64 = 20_000_000;

impl OperationServant for Slow {
    fn run(&self, _released: u64) -> Result<(), SystemException> {
        burn(TIME);
        Ok(())
    }
}

#[test]
fn an_upcall_that_overruns_is_a_violation_of_the_plan() {
    let schedule = any_schedule(&format!(
        "[operation.'{NAME}']\nwcet = '10ms'\nperiod = '1000s'"
    ));
    let (sender, violations) = channel();
    let handler = move |violation: &Violation<'_>| {
        let seen = (violation.kind, violation.measured, violation.bound);
        let _ = sender.send((violation.operation.to_owned(), seen));
    };
    let recording = Recording::start(RecordingOptions {
        plan: Some(schedule.expected()),
        handler: Some(Arc::new(handler)),
        ..RecordingOptions::default()
    });
    let recording = recording.unwrap();
    let rt = ordinary(&schedule);
    let orb = server(&rt, &schedule);
    let scheduler = ServerScheduler::new(&rt, &orb, &schedule, &[NAME]).unwrap();
    let root = orb.root_poa().unwrap();
    let poa = scheduler.create_poa(&root, "slow", Some(root.manager()), &[], &[NAME]);
    let object: Operation = poa.unwrap().schedule_object(Slow, NAME).unwrap();
    object.run(0).unwrap();
    // Upcalls of other tests of this process are compared, too, but none takes as long.
    let found = violations.iter().find(|(operation, (kind, measured, _))| {
        operation == NAME
            && *kind == ViolationKind::Overrun
            && *measured >= Duration::from_nanos(TIME)
    });
    let (_, (_, _, bound)) = found.unwrap();
    assert_eq!(bound, Duration::from_millis(10));
    orb.shutdown(true).unwrap();
    let _ = recording.stop();
}
