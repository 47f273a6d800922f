//! Branch and bound over placements, with an explicit stack.

use super::super::load::{Load, WHOLE};
use super::processors::Processors;
use super::{Admission, PartitionError, Placement};

/// Steps, beside admission tests, after which the search gives up: refusals without a test count.
const STEPS_PER_TEST: u64 = 64;

/// Searches for a placement of the free tasks.
pub(super) fn run<A: Admission>(
    mut processors: Processors<'_, A>,
    limit: u64,
) -> Result<Placement, PartitionError> {
    let free = processors.free();
    let needs = needs(&processors, &free);
    // The next processor to try for each task of the branch; the last one is being placed.
    let mut branch: Vec<usize> = vec![0];
    let (begin, mut steps) = (processors.tests(), 0_u64);
    while let Some(depth) = branch.len().checked_sub(1) {
        if depth == free.len() {
            return Ok(processors.into_placement());
        }
        steps += 1;
        let tests = processors.tests() - begin;
        if tests >= limit || steps / STEPS_PER_TEST >= limit {
            return Err(PartitionError::GaveUp { tests });
        }
        let (task, processor) = (free[depth], branch[depth]);
        // A task that was tried on the processor before this one leaves it first.
        processors.take(task);
        if is_too_much(needs[depth], &processors) || processor >= processors.count() {
            branch.pop();
            continue;
        }
        branch[depth] += 1;
        if !processors.is_repeated(processor) && processors.admits(task, processor) {
            processors.put(task, processor);
            branch.push(0);
        }
    }
    Err(PartitionError::Impossible)
}

/// Returns whether the free tasks need more than the processors have left, beyond doubt.
pub(super) fn is_hopeless<A: Admission>(processors: &Processors<'_, A>) -> bool {
    let needs = needs(processors, &processors.free());
    needs
        .first()
        .is_some_and(|&needs| is_too_much(needs, processors))
}

fn is_too_much<A: Admission>(needs: u128, processors: &Processors<'_, A>) -> bool {
    needs > processors.room() + slack(processors.count())
}

/// Returns the utilisation of the tasks from each depth on, rounded down.
fn needs<A: Admission>(processors: &Processors<'_, A>, free: &[usize]) -> Vec<u128> {
    let mut needs = vec![0; free.len()];
    let mut sum = 0;
    for (depth, &task) in free.iter().enumerate().rev() {
        // Rounded up by at most one.
        sum += Load::of(processors.task(task)).share.saturating_sub(1);
        needs[depth] = sum;
    }
    needs
}

/// Returns what rounding may hide in the room of all processors.
const fn slack(processors: usize) -> u128 {
    (WHOLE >> 20) * (processors as u128 + 1)
}
