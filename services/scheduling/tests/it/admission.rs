//! Tests of the admission of reservations.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::Task;
use punctual_scheduling::analysis::admission::{
    KernelShare, kernel, one_processor, several_processors,
};
use punctual_scheduling::analysis::supply::{Reservation, ReservationError, least_for_task};

fn reservation(runtime: u64, deadline: u64, period: u64) -> Reservation {
    let [runtime, deadline, period] = [runtime, deadline, period].map(Time::from_millis);
    Reservation::new(runtime, deadline, period).unwrap()
}

#[test]
fn what_the_kernel_admits_on_one_processor_can_miss_deadlines_below_the_period() {
    let both = [reservation(3, 4, 10), reservation(3, 4, 10)];
    assert!(kernel(&both, 1, KernelShare::default()).is_admitted());
    assert!(!one_processor(&both).is_feasible());
    assert!(one_processor(&[both[0], reservation(3, 7, 10)]).is_feasible());
}

#[test]
fn one_heavy_reservation_and_light_ones_are_admitted_by_the_kernel_but_not_by_density() {
    // Global EDF starts the light ones first (Dhall and Liu 1978).
    let all = [
        reservation(1, 10, 10),
        reservation(1, 10, 10),
        reservation(10, 11, 11),
    ];
    assert!(kernel(&all, 2, KernelShare::default()).is_admitted());
    assert!(!several_processors(&all, 2));
    assert!(several_processors(&all[..2], 2));
    assert!(several_processors(&all, 3));
}

#[test]
fn a_reservation_has_a_runtime_and_rising_times() {
    let [zero, one, two] = [0, 1, 2].map(Time::from_millis);
    assert_eq!(
        Reservation::new(zero, one, one),
        Err(ReservationError::NoRuntime)
    );
    let order = ReservationError::Order(two, one, one);
    assert_eq!(Reservation::new(two, one, one), Err(order));
    let long = Time::LONGEST + one;
    assert_eq!(
        Reservation::new(one, one, long),
        Err(ReservationError::TooLong(long))
    );
}

#[test]
fn a_reservation_in_step_with_its_task_needs_only_the_execution_time() {
    let task = Task::new(Time::from_millis(2), Time::from_millis(10));
    let least = least_for_task(&task, Time::from_millis(10)).unwrap();
    assert_eq!(least.runtime(), Time::from_millis(2));
    let short = least_for_task(&task, Time::from_millis(4)).unwrap();
    // By hand: 2 ms of work take 14 ms less three runtimes, if that is between 1 and 2 ms.
    assert_eq!(short.runtime(), Time::from_nanos(1_333_334));
    let late = task.with_deadline(Time::from_millis(1));
    assert_eq!(least_for_task(&late, Time::from_millis(4)), None);
}
