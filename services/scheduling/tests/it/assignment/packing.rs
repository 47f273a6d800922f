//! Tests of packing priorities onto few levels.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::fixed_priority::{Prioritized, responses};
use punctual_scheduling::analysis::{Response, Task};
use punctual_scheduling::assignment::packing::{Packing, PackingError, pack};

use super::sets::{Kind, Random, count, in_order};

fn task(wcet: u64, period: u64, deadline: u64) -> Task {
    let millis = Time::from_millis;
    Task::new(millis(wcet), millis(period)).with_deadline(millis(deadline))
}

/// Returns whether each task that met its deadline does with other priorities.
fn keeps(tasks: &[Prioritized<'_>], levels: impl Fn(usize) -> u32) -> bool {
    let packed: Vec<_> = (0..tasks.len())
        .map(|index| Prioritized {
            task: tasks[index].task,
            priority: levels(index) as i32,
        })
        .collect();
    let both = responses(tasks).into_iter().zip(responses(&packed));
    both.zip(tasks).all(|((before, after), one)| {
        !before.meets(one.task.deadline) || after.meets(one.task.deadline)
    })
}

/// Returns whether some way to join neighbours keeps all deadlines: each gap is a border or not.
fn can_be_kept(tasks: &[Prioritized<'_>], count: u32) -> bool {
    let gaps = tasks.len() - 1;
    let borders = (0_u32..1 << gaps).filter(|borders| borders.count_ones() < count);
    let level =
        |borders: u32, index: usize| gaps as u32 - (borders & ((1 << index) - 1)).count_ones();
    borders
        .into_iter()
        .any(|borders| keeps(tasks, |index| level(borders, index)))
}

#[test]
fn deadlines_are_kept_exactly_if_some_way_to_join_neighbours_does() {
    let mut random = Random::new(4);
    let (mut kept, mut broken) = (0, 0);
    for round in 0..count() {
        let tasks = random.tasks(2 + round % 5, Kind::all(70));
        let tasks = in_order(&tasks);
        let levels = 1 + (round % 3) as u32;
        let packing = pack(&tasks, levels).unwrap();
        assert!(packing.levels.iter().all(|&level| level < levels));
        let is_kept = keeps(&tasks, |index| packing.levels[index]);
        assert_eq!(packing.is_harmless(), is_kept);
        assert_eq!(is_kept, can_be_kept(&tasks, levels), "{levels}: {tasks:?}");
        kept += u64::from(is_kept);
        broken += u64::from(!is_kept);
    }
    assert!(kept > count() / 10 && broken > count() / 10);
}

fn bounds(responses: &[Response]) -> Vec<u64> {
    let nanos = |one: &Response| one.bound().unwrap().as_nanos() / 1_000_000;
    responses.iter().map(nanos).collect()
}

/// The first two may share a level: 1 + 2 ms are within both deadlines. The third one may not join
/// them, as the first would wait for 1 + 2 + 4 ms.
#[test]
fn neighbours_share_a_level_and_the_cost_is_in_the_result() {
    let tasks = [task(1, 20, 3), task(2, 20, 4), task(4, 20, 20)];
    let Packing {
        levels,
        before,
        after,
        ..
    } = pack(&in_order(&tasks), 2).unwrap();
    assert_eq!(levels, [1, 1, 0]);
    assert_eq!(bounds(&before), [1, 3, 7]);
    assert_eq!(bounds(&after), [3, 3, 7]);
}

#[test]
fn the_slowed_tasks_are_listed_with_both_response_times() {
    let tasks = [task(1, 20, 3), task(2, 20, 4), task(4, 20, 20)];
    let packing = pack(&in_order(&tasks), 2).unwrap();
    let within = |millis| Response::Within(Time::from_millis(millis));
    let slower: Vec<_> = packing.slower().collect();
    assert_eq!(slower, [(0, within(1), within(3))]);
}

/// All fit onto one level; the second one is used, too, to slow fewer tasks.
#[test]
fn levels_that_are_left_over_are_used() {
    let tasks = [task(1, 20, 20), task(1, 20, 20), task(1, 20, 20)];
    let packing = pack(&in_order(&tasks), 2).unwrap();
    assert_eq!(packing.levels, [1, 0, 0]);
    let packing = pack(&in_order(&tasks), 7).unwrap();
    assert_eq!(packing.levels, [2, 1, 0]);
}

#[test]
fn the_most_urgent_tasks_keep_their_deadlines_where_not_all_can() {
    let tasks = [task(1, 20, 1), task(2, 20, 3), task(4, 20, 7)];
    let packing = pack(&in_order(&tasks), 2).unwrap();
    assert_eq!(packing.levels, [1, 0, 0]);
    assert_eq!(packing.broken, [1]);
}

#[test]
fn no_level_is_an_error_and_no_task_is_none() {
    let tasks = [task(1, 20, 20)];
    assert_eq!(pack(&in_order(&tasks), 0), Err(PackingError::NoLevels));
    assert!(pack(&[], 3).unwrap().levels.is_empty());
}
