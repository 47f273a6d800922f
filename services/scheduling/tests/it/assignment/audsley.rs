//! Tests of the optimal priority assignment.

use punctual_scheduling::analysis::Task;
use punctual_scheduling::assignment::Candidate;
use punctual_scheduling::assignment::audsley::{Preference, assign};
use punctual_scheduling::assignment::rank::deadline_monotonic;
use punctual_scheduling::{Level, Time};

use super::sets::{Kind, Random, count, in_order, meets, permutations};

fn candidate(wcet: u64, period: u64, deadline: u64) -> Candidate {
    let task = Task::new(Time::from_millis(wcet), Time::from_millis(period));
    Candidate::new(task.with_deadline(Time::from_millis(deadline)))
}

#[test]
fn an_order_is_found_exactly_if_one_of_all_orders_fits() {
    let mut random = Random::new(3);
    let (mut found, mut impossible) = (0, 0);
    for round in 0..count() {
        // Six tasks have 720 orders; fewer are checked more often.
        let size = [2, 3, 4, 5, 3, 4, 5, 6][(round % 8) as usize];
        let tasks = random.tasks(size, Kind::all(75));
        let candidates: Vec<_> = tasks.iter().cloned().map(Candidate::new).collect();
        let fits = |order: &Vec<usize>| meets(&in_order(order.iter().map(|&at| &tasks[at])));
        let exists = permutations(tasks.len()).iter().any(fits);
        for preference in [Preference::Deadline, Preference::Criticality] {
            match assign(&candidates, preference) {
                Ok(order) => assert!(meets(&order.prioritized(&candidates))),
                Err(stuck) => assert!(!exists, "{tasks:?}: {stuck}"),
            }
        }
        found += u64::from(exists);
        impossible += u64::from(!exists);
    }
    assert!(found > count() / 10 && impossible > count() / 10);
}

/// Lehoczky (1990): 52 of 100 ms with a deadline of 110, and 52 of 140 ms with one of 154. In deadline
/// monotonic order the second task waits for two jobs of the first and ends after 156 ms. In the other
/// order the first task's jobs of a busy period end 104, 108 and 60 ms after their releases.
#[test]
fn deadlines_beyond_periods_need_another_order_than_the_deadline_monotonic_one() {
    let candidates = [candidate(52, 100, 110), candidate(52, 140, 154)];
    let monotonic = deadline_monotonic(&candidates);
    assert_eq!(monotonic.indices(), [0, 1]);
    assert!(!meets(&monotonic.prioritized(&candidates)));
    let order = assign(&candidates, Preference::Deadline).unwrap();
    assert_eq!(order.indices(), [1, 0]);
    assert!(meets(&order.prioritized(&candidates)));
}

/// Each of the tasks could be the least urgent: 1 + 1 + 1 ms are within 4 ms.
#[test]
fn the_least_critical_task_takes_the_lowest_place_if_several_could() {
    let candidates = [
        candidate(1, 10, 4).with_criticality(Level::Low),
        candidate(1, 10, 10).with_criticality(Level::VeryHigh),
        candidate(1, 10, 7).with_criticality(Level::High),
    ];
    let order = |preference| assign(&candidates, preference).unwrap();
    assert_eq!(order(Preference::Criticality).indices(), [1, 2, 0]);
    assert_eq!(order(Preference::Deadline).indices(), [0, 2, 1]);
}

/// The task of 2 ms cannot wait for another one, so it goes first however uncritical it is.
#[test]
fn deadlines_go_before_criticality() {
    let candidates = [
        candidate(3, 10, 10).with_criticality(Level::VeryHigh),
        candidate(2, 10, 2).with_criticality(Level::VeryLow),
    ];
    let order = assign(&candidates, Preference::Criticality).unwrap();
    assert_eq!(order.indices(), [1, 0]);
}

#[test]
fn the_tasks_between_which_no_order_exists_are_named() {
    let candidates = [
        candidate(2, 10, 3),
        candidate(1, 100, 100),
        candidate(2, 10, 3),
    ];
    let stuck = assign(&candidates, Preference::Deadline).unwrap_err();
    assert_eq!((stuck.placed, stuck.stuck), (vec![1], vec![0, 2]));
}

#[test]
fn no_tasks_have_an_empty_order() {
    let order = assign(&[], Preference::Deadline).unwrap();
    assert!(order.indices().is_empty());
}
