//! Tests of response times under fixed priorities.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::fixed_priority::{Prioritized, responses};
use punctual_scheduling::analysis::{Response, Task};

fn task(wcet: u64, period: u64) -> Task {
    Task::new(Time::from_millis(wcet), Time::from_millis(period))
}

/// Returns response times in milliseconds, of tasks in falling order of priority.
fn in_order(tasks: &[Task]) -> Vec<Option<Time>> {
    let prioritized: Vec<_> = tasks
        .iter()
        .zip((0..100).rev())
        .map(|(task, priority)| Prioritized { task, priority })
        .collect();
    responses(&prioritized)
        .into_iter()
        .map(Response::bound)
        .collect()
}

#[test]
fn three_tasks_wait_for_those_before_them() {
    let found = in_order(&[task(3, 7), task(3, 12), task(5, 20)]);
    let expected = [3, 6, 20].map(|time| Some(Time::from_millis(time)));
    assert_eq!(found, expected);
}
