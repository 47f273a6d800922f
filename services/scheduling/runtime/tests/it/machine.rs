//! Tests of plans for other machines.

use crate::setting::{any_schedule, fifo, ordinary};
use punctual::rt::Mapping;
use punctual_scheduling_runtime::{ClientScheduler, MachineError, ScheduleError};
use std::fmt::Write;

#[test]
fn a_plan_for_more_processors_than_there_are_is_refused() {
    let schedule = any_schedule(
        "[host.station]\nprocessors = 4000\n[operation.far]\nwcet = '1ms'\nperiod = '10ms'\nprocessor = 3999",
    );
    let rt = ordinary(&schedule);
    let refused = ClientScheduler::new(&rt, &schedule, &["far"]).unwrap_err();
    let ScheduleError::Machine(MachineError::Processors { wanted, .. }) = &refused else {
        panic!("{refused}");
    };
    assert_eq!(*wanted, 3999);
    assert!(
        refused
            .to_string()
            .contains("processor 3999 of host `station`"),
        "{refused}"
    );
}

#[test]
fn more_priorities_than_the_kernel_has_are_refused() {
    let mut text = String::new();
    for number in 0..120 {
        let period = 1000 + number;
        writeln!(
            text,
            "[operation.op{number}]\nwcet = '10us'\nperiod = '{period}ms'"
        )
        .unwrap();
    }
    let schedule = any_schedule(&text);
    let Some(rt) = fifo(&schedule, Mapping::Linear) else {
        return;
    };
    let refused = ClientScheduler::new(&rt, &schedule, &[]).unwrap_err();
    assert!(
        matches!(
            refused,
            ScheduleError::Machine(MachineError::Priorities { processor: 0, .. })
        ),
        "{refused}"
    );
}
