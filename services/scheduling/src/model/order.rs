//! Order of calls: each operation after its callers; or a cycle.

use super::Operation;

/// Returns the operations in an order in which each stands after all that call it.
///
/// # Errors
/// The operations of a cycle of calls, each followed by one that it calls, the last by the first.
pub(super) fn callers_first(operations: &[Operation]) -> Result<Vec<usize>, Vec<usize>> {
    let mut callers = vec![0_usize; operations.len()];
    for call in operations.iter().flat_map(|one| &one.calls) {
        callers[call.operation] += 1;
    }
    let mut order: Vec<usize> = (0..operations.len())
        .filter(|&index| callers[index] == 0)
        .collect();
    let mut next = 0;
    while let Some(&index) = order.get(next) {
        next += 1;
        for call in &operations[index].calls {
            let left = &mut callers[call.operation];
            *left -= 1;
            if *left == 0 {
                order.push(call.operation);
            }
        }
    }
    match order.len() == operations.len() {
        true => Ok(order),
        false => Err(cycle(operations, &callers)),
    }
}

/// Finds a cycle among the operations that still have callers: a walk from caller to caller comes
/// back to where it was.
fn cycle(operations: &[Operation], callers: &[usize]) -> Vec<usize> {
    let mut caller_of = vec![None; operations.len()];
    for (index, operation) in operations.iter().enumerate() {
        if callers[index] > 0 {
            for call in &operation.calls {
                caller_of[call.operation] = Some(index);
            }
        }
    }
    let mut at = callers.iter().position(|&left| left > 0).unwrap_or(0);
    let mut seen = vec![None; operations.len()];
    let mut walk = Vec::new();
    while seen[at].is_none() {
        seen[at] = Some(walk.len());
        walk.push(at);
        let Some(caller) = caller_of[at] else { break };
        at = caller;
    }
    let mut cycle = walk.split_off(seen[at].unwrap_or(0));
    cycle.reverse();
    // From the first in the file on.
    let numbered = cycle.iter().enumerate();
    let first = numbered.min_by_key(|(_, operation)| **operation);
    let first = first.map_or(0, |(at, _)| at);
    cycle.rotate_left(first);
    cycle
}
