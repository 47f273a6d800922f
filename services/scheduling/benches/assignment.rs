//! Benchmark of assignment: `cargo bench -p punctual-scheduling`, of one part with the
//! word `placement` or `priorities` as argument. It prints the times of placing and
//! analysing 10,000 tasks on 64 processors, of one change among them, and of priorities for 1,000
//! tasks of one processor, beside the goals of the first, the second and the third.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/it/assignment/sets.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod sets;

use std::hint::black_box;
use std::time::{Duration, Instant};

use punctual_scheduling::analysis::{Preemption, Task};
use punctual_scheduling::assignment::audsley::{Preference, assign};
use punctual_scheduling::assignment::partition::{
    DeadlineMonotonic, Heuristic, PartitionError, Problem, place,
};
use punctual_scheduling::assignment::prepared::{Placed, Prepared};
use punctual_scheduling::assignment::rank::deadline_monotonic;
use punctual_scheduling::assignment::{Candidate, packing, sensitivity};
use punctual_scheduling::{Level, Time};
use sets::Random;

const PROCESSORS: usize = 64;

/// Goal of the exact analysis of 10,000 placed tasks.
const ANALYSIS: Duration = Duration::from_secs(2);
/// Goal of the priorities of 1,000 tasks by search.
const SEARCH: Duration = Duration::from_secs(5);
/// Goal of the analysis of one change among 10,000 tasks.
const CHANGE: Duration = Duration::from_millis(50);

fn main() {
    let only = std::env::args()
        .nth(1)
        .filter(|word| !word.starts_with('-'));
    let is_wanted = |part: &str| only.as_ref().is_none_or(|word| word == part);
    let both = |percents: [u64; 4]| {
        let kinds = [Kind::Plain, Kind::Mixed];
        let of = move |percent| kinds.map(|kind| (percent, kind));
        percents.into_iter().flat_map(of)
    };
    if is_wanted("placement") {
        both([50, 70, 85, 92]).for_each(|(percent, kind)| placement(percent, kind));
    }
    if is_wanted("priorities") {
        both([60, 85, 95, 101]).for_each(|(percent, kind)| priorities(percent, kind));
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Preemptive, with deadlines that are the periods.
    Plain,
    /// With jitter, shorter deadlines, and sections without preemption.
    Mixed,
}

/// Returns tasks of periods from 1 ms to 1 s, evenly over the logarithm, in microseconds.
fn tasks(random: &mut Random, count: u64, processors: u64, percent: u64, kind: Kind) -> Vec<Task> {
    let share = processors * percent * 10_000 / count;
    let task = |_| {
        let decade = 10_u64.pow(random.within(3, 5) as u32);
        let period = random.within(decade, 10 * decade);
        // Share in millionths.
        let own = random.within(share / 10, share * 19 / 10);
        let wcet = Time::from_nanos(period * own / 1_000);
        let task = Task::new(wcet, Time::from_micros(period));
        match kind {
            Kind::Plain => task,
            Kind::Mixed => {
                let deadline = random.within(period * 7 / 10, period);
                let longest = wcet.min(Time::from_micros(20));
                let preemption = [Preemption::Full, Preemption::Floating { longest }];
                task.with_deadline(Time::from_micros(deadline))
                    .with_jitter(Time::from_micros(random.within(0, period / 20)))
                    .with_preemption(preemption[random.within(0, 1) as usize])
            }
        }
    };
    (0..count).map(task).collect()
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let outcome = black_box(work());
    (outcome, begin.elapsed())
}

/// Returns a duration beside its goal, and whether that is met.
fn beside(goal: Duration, took: Duration) -> String {
    let verdict = if took < goal { "met" } else { "NOT MET" };
    format!("{took:?} (goal: under {goal:?}, {verdict})")
}

fn placement(percent: u64, kind: Kind) {
    let mut random = Random::new(percent);
    let tasks = tasks(&mut random, 10_000, PROCESSORS as u64, percent, kind);
    println!("10,000 tasks, {PROCESSORS} processors, {percent} % of them, {kind:?}");
    let problem = Problem {
        tasks: &tasks,
        pinned: &[],
        processors: PROCESSORS,
    };
    for heuristic in [Heuristic::FirstFit, Heuristic::BestFit, Heuristic::WorstFit] {
        let (placed, took) = timed(|| place(&problem, heuristic, &DeadlineMonotonic));
        match placed {
            Ok(placed) => {
                println!("  {heuristic:?}: {took:?}, {} tests", placed.tests);
                analysis(&tasks, &placed.processors);
            }
            Err(PartitionError::NoRoom { placed, .. }) => {
                let placed = placed.iter().flatten().count();
                println!("  {heuristic:?}: {took:?}, no room after {placed} tasks");
            }
            Err(error) => println!("  {heuristic:?}: {took:?}, {error}"),
        }
    }
}

/// Measures the analysis of placed tasks, and of the change of one.
fn analysis(tasks: &[Task], places: &[usize]) {
    let candidates: Vec<_> = tasks.iter().cloned().map(Candidate::new).collect();
    let priorities = deadline_monotonic(&candidates).priorities();
    let placed: Vec<_> = (0..tasks.len())
        .map(|index| Placed {
            task: tasks[index].clone(),
            processor: places[index],
            priority: priorities[index],
        })
        .collect();
    let (mut prepared, took) = timed(|| Prepared::new(placed));
    let took = beside(ANALYSIS, took);
    println!("    analysis: {took}, fits: {}", prepared.fits());
    let mut longest = Duration::ZERO;
    for index in (0..tasks.len()).step_by(97) {
        let mut task = tasks[index].clone();
        task.wcet = Time::from_nanos(task.wcet.as_nanos() * 11 / 10);
        let (_, took) = timed(|| prepared.change(index, task));
        longest = longest.max(took);
    }
    let longest = beside(CHANGE, longest);
    println!("    change of one task, the longest of 104: {longest}");
}

fn priorities(percent: u64, kind: Kind) {
    let mut random = Random::new(percent);
    let tasks = tasks(&mut random, 1_000, 1, percent, kind);
    println!("1,000 tasks, one processor, {percent} %, {kind:?}");
    let level = |random: &mut Random| Level::ALL[random.within(0, 4) as usize];
    let candidates: Vec<_> = tasks
        .into_iter()
        .map(|task| Candidate::new(task).with_criticality(level(&mut random)))
        .collect();
    for preference in [Preference::Deadline, Preference::Criticality] {
        let (order, took) = timed(|| assign(&candidates, preference));
        let took = beside(SEARCH, took);
        println!("  {preference:?}: {took}, found: {}", order.is_ok());
    }
    let prioritized = deadline_monotonic(&candidates).prioritized(&candidates);
    let (packed, took) = timed(|| packing::pack(&prioritized, 32));
    let broken = packed.unwrap().broken.len();
    println!("  packing onto 32 levels: {took:?}, broken: {broken}");
    let (scale, took) = timed(|| sensitivity::largest_scale(&prioritized));
    println!("  largest factor: {took:?}, {scale:?} millionths");
    let (_, took) = timed(|| sensitivity::largest_wcet(&prioritized, 500));
    println!("  largest execution time of one: {took:?}");
    let (_, took) = timed(|| sensitivity::smallest_period(&prioritized, 500));
    println!("  smallest period of one: {took:?}");
}
