//! Tests of single changes of a placed set.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::{Preemption, Task};
use punctual_scheduling::assignment::prepared::{Placed, Prepared};

use super::sets::{Kind, Random, count};

/// Returns a random set on three processors; some tasks have equal priorities.
fn placed(random: &mut Random, kind: Kind) -> Vec<Placed> {
    let tasks = random.tasks(12, kind);
    let place = |task| Placed {
        task,
        processor: random.within(0, 2) as usize,
        priority: random.within(0, 5) as i32,
    };
    tasks.into_iter().map(place).collect()
}

#[test]
fn a_change_gives_the_responses_of_an_analysis_from_nothing() {
    let mut random = Random::new(10);
    for _ in 0..count() {
        let tasks = placed(&mut random, Kind::all(200));
        let mut prepared = Prepared::new(tasks);
        for changed in random.tasks(5, Kind::all(80)) {
            let index = random.within(0, 11) as usize;
            let effect = prepared.what_if(index, &changed);
            let before = prepared.clone();
            assert_eq!(prepared.change(index, changed), effect);
            let anew = Prepared::new(prepared.tasks().to_vec());
            assert_eq!(prepared.responses(), anew.responses());
            let met = |set: &Prepared, at: usize| {
                set.responses()[at].meets(set.tasks()[at].task.deadline)
            };
            for at in 0..12 {
                let both = (met(&before, at), met(&anew, at));
                assert_eq!(effect.broken.contains(&at), both == (true, false));
                assert_eq!(effect.mended.contains(&at), both == (false, true));
            }
            assert_eq!(prepared.fits(), (0..12).all(|at| met(&anew, at)));
        }
    }
}

/// Tasks of processor 0 in falling order of priority, and one of processor 1.
fn small() -> (Prepared, Task) {
    let task = Task::new(Time::from_millis(1), Time::from_millis(10));
    let place = |(processor, priority)| Placed {
        task: task.clone(),
        processor,
        priority,
    };
    let places = [(0, 3), (0, 2), (0, 1), (1, 1)];
    (Prepared::new(places.map(place).to_vec()), task)
}

fn recomputed(changed: &Task) -> Vec<usize> {
    let effect = small().0.what_if(1, changed);
    effect.responses.iter().map(|(index, _)| *index).collect()
}

#[test]
fn only_tasks_that_the_change_can_affect_are_analysed_again() {
    let (_, task) = small();
    let longer = Task {
        wcet: Time::from_millis(2),
        ..task.clone()
    };
    assert_eq!(recomputed(&longer), [1, 2]);
    let rigid = longer.with_preemption(Preemption::None);
    assert_eq!(recomputed(&rigid), [0, 1, 2]);
    let blocked = task.clone().with_blocking(Time::from_millis(1));
    assert_eq!(recomputed(&blocked), [1]);
    assert!(recomputed(&task).is_empty());
}

#[test]
fn a_shorter_deadline_is_checked_against_the_known_response() {
    let (prepared, task) = small();
    let short = task.with_deadline(Time::from_millis(1));
    let effect = prepared.what_if(1, &short);
    assert_eq!((effect.responses.len(), effect.broken), (0, vec![1]));
}
