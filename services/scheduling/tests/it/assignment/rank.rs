//! Tests of the monotonic orders.

use punctual_scheduling::analysis::Task;
use punctual_scheduling::assignment::rank::{
    criticality_first, deadline_monotonic, rate_monotonic,
};
use punctual_scheduling::assignment::{Candidate, fits};
use punctual_scheduling::{Level, Time};

use super::sets::{Kind, Random, count, in_order, meets, permutations};

fn candidate(wcet: u64, period: u64) -> Candidate {
    Candidate::new(Task::new(
        Time::from_millis(wcet),
        Time::from_millis(period),
    ))
}

#[test]
fn the_shortest_period_goes_first_and_ties_go_by_criticality_then_importance_then_index() {
    let candidates = [
        candidate(1, 20),
        candidate(1, 10).with_importance(Level::High),
        candidate(1, 10).with_criticality(Level::High),
        candidate(1, 10),
        candidate(1, 10),
        candidate(1, 5).with_criticality(Level::VeryLow),
    ];
    let order = rate_monotonic(&candidates);
    assert_eq!(order.indices(), [5, 2, 1, 3, 4, 0]);
    assert_eq!(order.priorities(), [0, 3, 4, 2, 1, 5]);
}

#[test]
fn jitter_makes_a_deadline_more_urgent() {
    let mut candidates = [candidate(1, 20), candidate(1, 19)];
    assert_eq!(deadline_monotonic(&candidates).indices(), [1, 0]);
    candidates[0].task.jitter = Time::from_millis(2);
    assert_eq!(deadline_monotonic(&candidates).indices(), [0, 1]);
}

#[test]
fn criticality_goes_before_deadlines_if_asked_for() {
    let candidates = [
        candidate(1, 5).with_importance(Level::VeryHigh),
        candidate(1, 50).with_criticality(Level::High),
    ];
    assert_eq!(criticality_first(&candidates).indices(), [1, 0]);
}

#[test]
fn no_order_fits_where_the_deadline_monotonic_one_does_not() {
    let mut random = Random::new(1);
    let (mut fitting, mut others) = (0, 0);
    for round in 0..count() {
        let kind = Kind {
            has_jitter: round % 2 == 0,
            ..Kind::plain(85)
        };
        let tasks = random.tasks(2 + round % 4, kind);
        let candidates: Vec<_> = tasks.iter().cloned().map(Candidate::new).collect();
        let order = deadline_monotonic(&candidates);
        if meets(&order.prioritized(&candidates)) {
            fitting += 1;
            continue;
        }
        others += 1;
        for order in permutations(tasks.len()) {
            assert!(!meets(&in_order(order.iter().map(|&index| &tasks[index]))));
        }
    }
    assert!(fitting > count() / 10 && others > count() / 10);
}

#[test]
fn the_quick_test_agrees_with_the_response_times() {
    let mut random = Random::new(2);
    let mut fitting = 0;
    for round in 0..10 * count() {
        let tasks = random.tasks(2 + round % 7, Kind::all(40 + round % 50));
        let mut prioritized = in_order(&tasks);
        // Some of one priority.
        prioritized.iter_mut().for_each(|one| one.priority /= 2);
        let expected = meets(&prioritized);
        assert_eq!(fits(&prioritized), expected, "{prioritized:?}");
        fitting += u64::from(expected);
    }
    assert!(fitting > count() && fitting < 9 * count());
}
