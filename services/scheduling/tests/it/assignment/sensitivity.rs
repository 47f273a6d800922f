//! Tests of the smallest changes that mend a set.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::fixed_priority::Prioritized;
use punctual_scheduling::analysis::{Response, Task};
use punctual_scheduling::assignment::sensitivity::{
    MILLION, Miss, changes, largest_scale, largest_wcet, misses, slack, smallest_period,
};

use super::sets::{Kind, Random, count, in_order, meets};

const NANO: Time = Time::from_nanos(1);

fn task(wcet: u64, period: u64, deadline: u64) -> Task {
    let millis = Time::from_millis;
    Task::new(millis(wcet), millis(period)).with_deadline(millis(deadline))
}

/// Returns whether deadlines are met with another execution time of one task.
fn meets_with(tasks: &[Prioritized<'_>], index: usize, change: impl Fn(&mut Task)) -> bool {
    let mut changed = tasks[index].task.clone();
    change(&mut changed);
    let mut tasks = tasks.to_vec();
    tasks[index].task = &changed;
    meets(&tasks)
}

#[test]
fn the_largest_execution_time_fits_and_a_nanosecond_more_does_not() {
    let mut random = Random::new(7);
    let (mut some, mut none) = (0, 0);
    for round in 0..count() {
        let tasks = random.tasks(2 + round % 4, Kind::all(80));
        let tasks = in_order(&tasks);
        for index in 0..tasks.len() {
            let with = |wcet| meets_with(&tasks, index, |task| task.wcet = wcet);
            if let Some(wcet) = largest_wcet(&tasks, index) {
                assert!(with(wcet) && !with(wcet + NANO));
                some += 1;
            } else {
                assert!(!with(NANO));
                none += 1;
            }
        }
    }
    assert!(some > count() / 10 && none > count() / 10);
}

#[test]
fn the_smallest_period_fits_and_a_nanosecond_less_does_not() {
    let mut random = Random::new(8);
    let (mut some, mut none) = (0, 0);
    for round in 0..count() {
        let mut tasks = random.tasks(2 + round % 4, Kind::all(80));
        if round % 2 == 0 {
            tasks[0].deadline = tasks[0].period;
        }
        let tasks = in_order(&tasks);
        for index in 0..tasks.len() {
            let with = |period| {
                meets_with(&tasks, index, |task| {
                    let is_implicit = task.deadline == task.period;
                    task.period = period;
                    task.deadline = if is_implicit { period } else { task.deadline };
                })
            };
            if let Some(period) = smallest_period(&tasks, index) {
                let is_smallest = period == NANO || !with(period - NANO);
                assert!(with(period) && is_smallest, "{index} {period} {tasks:#?}");
                some += 1;
            } else {
                assert!(!with(Time::LONGEST) && !with(tasks[index].task.period));
                none += 1;
            }
        }
    }
    assert!(some > count() / 10 && none > count() / 10);
}

#[test]
fn the_largest_factor_of_all_execution_times_fits_and_a_millionth_more_does_not() {
    let mut random = Random::new(9);
    for round in 0..count() {
        let mut tasks = random.tasks(2 + round % 4, Kind::plain(100));
        // Long enough that a millionth is more than rounding.
        for task in &mut tasks {
            (task.wcet, task.period, task.deadline) = (
                task.wcet * 1_000_000,
                task.period * 1_000_000,
                task.deadline * 1_000_000,
            );
        }
        let fits = |scale: u64| {
            let mut tasks = tasks.clone();
            for task in &mut tasks {
                let product = task.wcet.as_nanos() * scale;
                task.wcet = Time::from_nanos(product.div_ceil(MILLION));
            }
            meets(&in_order(&tasks))
        };
        let scale = largest_scale(&in_order(&tasks)).unwrap();
        assert!(fits(scale) && !fits(scale + 1));
        assert_eq!(scale >= MILLION, meets(&in_order(&tasks)));
    }
}

/// 4 ms of each 10, and 9 ms within 12. The second task waits for two jobs of the first and ends after
/// 17 ms. It is in time if it ends by 10 ms, beside one job, or by 12 ms, beside two.
#[test]
fn a_miss_and_its_mends_are_found_by_hand() {
    let tasks = [task(4, 10, 10), task(9, 20, 12)];
    let tasks = in_order(&tasks);
    let millis = Time::from_millis;
    let found = misses(&tasks);
    let expected = Miss {
        task: 1,
        response: Response::Within(millis(17)),
        late: Some(millis(5)),
    };
    assert_eq!(found, [expected]);
    let found = changes(&tasks);
    // By 10 ms: C + 9 <= 10. By 12 ms: 2 C + 9 <= 12.
    assert_eq!(found[0].wcet, Some(Time::from_micros(1_500)));
    // One job of 4 ms is too much for any period, and 9 ms are more than 12 - 4.
    assert_eq!(found[0].period, None);
    // By 10 ms: 4 + C <= 10. By 12 ms: 8 + C <= 12.
    assert_eq!(found[1].wcet, Some(millis(6)));
    assert_eq!(found[1].period, None);
    // By 10 ms: 13 f <= 10. By 12 ms: 17 f <= 12.
    assert_eq!(largest_scale(&tasks), Some(769_230));
}

#[test]
fn a_set_that_fits_has_slack_and_one_that_does_not_has_none() {
    let tasks = [task(3, 10, 10), task(4, 20, 10)];
    let tasks = in_order(&tasks);
    assert_eq!(misses(&tasks), []);
    // 3 + 4 ms within 10: either may take 3 ms more.
    assert_eq!(slack(&tasks, 0), Some(Time::from_millis(3)));
    assert_eq!(slack(&tasks, 1), Some(Time::from_millis(3)));
    assert_eq!(largest_scale(&tasks), Some(1_428_571));
    let late = [task(3, 10, 10), task(8, 20, 10)];
    assert_eq!(slack(&in_order(&late), 0), None);
}

/// The first task's jitter alone is longer than its deadline.
#[test]
fn nothing_mends_a_task_whose_jitter_exceeds_its_deadline() {
    let late = task(1, 10, 5).with_jitter(Time::from_millis(6));
    let tasks = [late, task(1, 10, 10)];
    let tasks = in_order(&tasks);
    assert_eq!(largest_scale(&tasks), None);
    assert!(
        changes(&tasks)
            .iter()
            .all(|one| one.wcet.is_none() && one.period.is_none())
    );
}

/// 6 of 10 ms and 6 of 10 ms are too much; the second one's deadline moves with its period: two jobs
/// of the first one and its 6 ms take 18.
#[test]
fn a_deadline_that_is_the_period_moves_with_it() {
    let tasks = [task(6, 10, 10), task(6, 10, 10)];
    let tasks = in_order(&tasks);
    assert_eq!(smallest_period(&tasks, 1), Some(Time::from_millis(18)));
}
