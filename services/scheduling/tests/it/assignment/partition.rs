//! Tests of the placement on processors.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::Task;
use punctual_scheduling::analysis::edf::{Sharing, demand_test};
use punctual_scheduling::assignment::Candidate;
use punctual_scheduling::assignment::partition::{
    DeadlineMonotonic, Heuristic, PartitionError, Placement, Problem, moves, partition, place,
    search,
};
use punctual_scheduling::assignment::rank::deadline_monotonic;

use super::sets::{Kind, Random, count, meets};

const HEURISTICS: [Heuristic; 3] = [Heuristic::FirstFit, Heuristic::BestFit, Heuristic::WorstFit];

fn free(tasks: &[Task], processors: usize) -> Problem<'_> {
    Problem {
        tasks,
        pinned: &[],
        processors,
    }
}

/// Makes tasks of one period: they fit on a processor exactly if their sum is at most the period.
fn of_period_12(wcets: &[u64]) -> Vec<Task> {
    let millis = Time::from_millis;
    let task = |&wcet: &u64| Task::new(millis(wcet), millis(12));
    wcets.iter().map(task).collect()
}

/// Returns whether each processor's tasks meet their deadlines in deadline monotonic order.
fn is_right(tasks: &[Task], places: &[usize], processors: usize) -> bool {
    (0..processors).all(|processor| {
        let on_it = (0..tasks.len()).filter(|&task| places[task] == processor);
        let on_it: Vec<_> = on_it.map(|at| Candidate::new(tasks[at].clone())).collect();
        meets(&deadline_monotonic(&on_it).prioritized(&on_it))
    })
}

#[test]
fn every_placement_passes_the_exact_test_on_every_processor() {
    let mut random = Random::new(5);
    let (mut placed, mut refused) = (0, 0);
    for round in 0..count() {
        let tasks = random.tasks(8 + round % 8, Kind::all(180 + 10 * (round % 12)));
        for heuristic in HEURISTICS {
            match place(&free(&tasks, 3), heuristic, &DeadlineMonotonic) {
                Ok(Placement { processors, .. }) => {
                    assert!(is_right(&tasks, &processors, 3));
                    placed += 1;
                }
                Err(error) => {
                    assert!(matches!(error, PartitionError::NoRoom { .. }));
                    refused += 1;
                }
            }
        }
    }
    assert!(
        placed > count() / 10 && refused > count() / 10,
        "{placed} {refused}"
    );
}

#[test]
fn the_search_finds_a_placement_exactly_if_there_is_one() {
    let mut random = Random::new(6);
    let (mut found, mut impossible) = (0, 0);
    for round in 0..count() {
        let tasks = random.tasks(4 + round % 3, Kind::all(120 + 10 * (round % 8)));
        let size = tasks.len() as u32;
        let mut all = (0..1_usize << size)
            .map(|bits| -> Vec<usize> { (0..tasks.len()).map(|task| bits >> task & 1).collect() });
        let exists = all.any(|places| is_right(&tasks, &places, 2));
        match search(&free(&tasks, 2), &DeadlineMonotonic, 1_000_000) {
            Ok(placement) => assert!(is_right(&tasks, &placement.processors, 2)),
            Err(error) => {
                assert_eq!(error, PartitionError::Impossible);
                assert!(!exists, "{tasks:?}");
            }
        }
        found += u64::from(exists);
        impossible += u64::from(!exists);
    }
    assert!(
        found > count() / 10 && impossible > count() / 10,
        "{found} {impossible}"
    );
}

/// Two processors, 24 of 24 ms. First and best fit place 6 + 4 | 4 + 4 + 3; so does worst fit, by way
/// of 6 | 4 + 4. Then 2 and 1 ms are left for the last task of 3 ms. 6 + 3 + 3 | 4 + 4 + 4 is right.
#[test]
fn the_search_finds_a_placement_where_all_heuristics_fail() {
    let tasks = of_period_12(&[6, 4, 4, 4, 3, 3]);
    for heuristic in HEURISTICS {
        let error = place(&free(&tasks, 2), heuristic, &DeadlineMonotonic).unwrap_err();
        assert!(matches!(error, PartitionError::NoRoom { task: 5, .. }));
    }
    let found = partition(&free(&tasks, 2), &DeadlineMonotonic, 1_000).unwrap();
    let by_processor = found.by_processor(2);
    assert_eq!(by_processor, [vec![0, 4, 5], vec![1, 2, 3]]);
}

#[test]
fn a_search_at_its_limit_says_that_it_gave_up() {
    let tasks = of_period_12(&[6, 4, 4, 4, 3, 3]);
    let error = partition(&free(&tasks, 2), &DeadlineMonotonic, 3).unwrap_err();
    assert!(
        matches!(error, PartitionError::GaveUp { tests: 0..=3 }),
        "{error}"
    );
}

/// Ten tasks of 7 ms for nine processors of 12 ms: no two fit together.
#[test]
fn a_proof_that_there_is_no_placement_does_not_try_all_empty_processors() {
    let tasks = of_period_12(&[7; 10]);
    let error = partition(&free(&tasks, 9), &DeadlineMonotonic, 1_000).unwrap_err();
    assert_eq!(error, PartitionError::Impossible);
}

#[test]
fn first_and_best_fit_fill_processors_and_worst_fit_spreads() {
    let tasks = of_period_12(&[6, 5, 4, 2]);
    let on = |tasks: &[Task], heuristic| {
        let placed = place(&free(tasks, 3), heuristic, &DeadlineMonotonic);
        placed.unwrap().processors
    };
    assert_eq!(on(&tasks, Heuristic::FirstFit), [0, 0, 1, 1]);
    assert_eq!(on(&tasks, Heuristic::WorstFit), [0, 1, 2, 2]);
    // 8 | 6 + 5, where 4 and 1 ms are left for the last task.
    let tasks = of_period_12(&[8, 6, 5, 1]);
    assert_eq!(on(&tasks, Heuristic::FirstFit), [0, 1, 1, 0]);
    assert_eq!(on(&tasks, Heuristic::BestFit), [0, 1, 1, 1]);
}

/// 25 ms for twice 12: no admission test is needed, so a limit of none is enough.
#[test]
fn an_overload_of_all_processors_is_seen_at_once() {
    let tasks = of_period_12(&[5; 5]);
    let error = partition(&free(&tasks, 2), &DeadlineMonotonic, 0).unwrap_err();
    assert_eq!(error, PartitionError::Impossible);
}

#[test]
fn pinned_tasks_stay() {
    let tasks = of_period_12(&[2, 9, 9, 1]);
    for heuristic in HEURISTICS {
        let problem = Problem {
            tasks: &tasks,
            pinned: &[Some(1), None, Some(1)],
            processors: 2,
        };
        let placed = place(&problem, heuristic, &DeadlineMonotonic).unwrap();
        assert_eq!(placed.processors[..3], [1, 0, 1]);
    }
}

#[test]
fn a_placement_as_given_is_only_checked() {
    let tasks = of_period_12(&[6, 6, 9]);
    let given = |pinned: &[Option<usize>]| {
        let problem = Problem {
            tasks: &tasks,
            pinned,
            processors: 2,
        };
        place(&problem, Heuristic::Pinned, &DeadlineMonotonic).map(|placed| placed.processors)
    };
    assert_eq!(given(&[Some(0), Some(0), Some(1)]), Ok(vec![0, 0, 1]));
    let refused = given(&[Some(0), Some(1), Some(1)]);
    let (task, processor) = (2, 1);
    assert_eq!(
        refused,
        Err(PartitionError::PinnedTooMuch { task, processor })
    );
    let refused = given(&[Some(0), Some(0), None]);
    assert!(matches!(
        refused,
        Err(PartitionError::NoRoom { task: 2, .. })
    ));
    let (task, processor) = (0, 2);
    let refused = given(&[Some(2)]);
    assert_eq!(
        refused,
        Err(PartitionError::UnknownProcessor { task, processor })
    );
}

#[test]
fn no_processor_is_an_error() {
    let error = partition(&free(&[], 0), &DeadlineMonotonic, 1).unwrap_err();
    assert_eq!(error, PartitionError::NoProcessors);
    let placed = partition(&free(&[], 1), &DeadlineMonotonic, 1).unwrap();
    assert!(placed.processors.is_empty());
}

/// Liu and Layland's 2 of 5 ms and 4 of 7 ms: they fit by EDF, not by fixed priorities.
#[test]
fn the_admission_test_is_a_parameter() {
    let millis = Time::from_millis;
    let tasks = [
        Task::new(millis(2), millis(5)),
        Task::new(millis(4), millis(7)),
    ];
    let edf = |tasks: &[&Task]| {
        let sharing = |&task| Sharing {
            task,
            sections: &[],
        };
        demand_test(&tasks.iter().map(sharing).collect::<Vec<_>>()).is_feasible()
    };
    assert!(partition(&free(&tasks, 1), &edf, 10).is_ok());
    assert!(partition(&free(&tasks, 1), &DeadlineMonotonic, 10).is_err());
}

/// 9 + 5 ms do not fit into 12; 5 ms fit beside 7, and not beside 8.
#[test]
fn the_processors_that_a_task_could_move_to_are_found() {
    let tasks = of_period_12(&[9, 5, 7, 8]);
    assert_eq!(
        moves(&tasks, &[0, 0, 1, 2], 4, 1, &DeadlineMonotonic),
        [1, 3]
    );
}
