//! Packing of many abstract priorities onto the native priorities or lanes that a host has.
//!
//! Neighbours in priority share a level. Tasks of one level take one another as superiors, so each
//! becomes slower, never faster, the further down its level reaches. A level that starts at some
//! task is therefore made as long as all its tasks stay in time: this gives the fewest levels that
//! keep all deadlines. Levels left over are spent on splitting the largest ones.

use super::lineup::Lineup;
use super::load::{Load, Verdict};
use crate::analysis::Response;
use crate::analysis::fixed_priority::{Prioritized, responses};

/// Tasks with a reduced number of priorities, and the cost of the reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Level of each task, in the order of the tasks; larger numbers are served first, the lowest
    /// is zero.
    pub levels: Vec<u32>,
    /// Response times before the packing.
    pub before: Vec<Response>,
    /// Response times after it.
    pub after: Vec<Response>,
    /// Tasks that met their deadlines before the packing and do not after it.
    pub broken: Vec<usize>,
}

/// Reason why priorities cannot be packed.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackingError {
    /// There is no level to pack onto.
    #[error("priorities cannot be packed onto 0 levels: at least one is needed")]
    NoLevels,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for PackingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Packs the priorities of one processor's tasks onto at most `count` levels.
///
/// Tasks of equal priority stay together; interference of the platform keeps a level for itself. Every task that meets its deadline keeps doing so if that
/// is possible; else the most urgent ones do, and the lowest level takes the rest.
///
/// # Errors
/// [`PackingError::NoLevels`] if `count` is zero.
pub fn pack(tasks: &[Prioritized<'_>], count: u32) -> Result<Packing, PackingError> {
    if count == 0 {
        return Err(PackingError::NoLevels);
    }
    let before = responses(tasks);
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(tasks[index].priority));
    let ends = Stairs::new(tasks, &order, &before).ends(count as usize);
    let mut levels = vec![0; tasks.len()];
    let mut begin = 0;
    for (&end, level) in ends.iter().zip((0..ends.len()).rev()) {
        let level = u32::try_from(level).unwrap_or(u32::MAX);
        order[begin..end]
            .iter()
            .for_each(|&index| levels[index] = level);
        begin = end;
    }
    Ok(Packing::of(tasks, levels, before))
}

impl Packing {
    fn of(tasks: &[Prioritized<'_>], levels: Vec<u32>, before: Vec<Response>) -> Self {
        let packed: Vec<_> = tasks
            .iter()
            .zip(&levels)
            .map(|(one, &level)| Prioritized {
                task: one.task,
                priority: i32::try_from(level).unwrap_or(i32::MAX),
            })
            .collect();
        let after = responses(&packed);
        let meets = |index: usize, all: &[Response]| all[index].meets(tasks[index].task.deadline);
        let broken = (0..tasks.len())
            .filter(|&index| meets(index, &before) && !meets(index, &after))
            .collect();
        Self {
            levels,
            before,
            after,
            broken,
        }
    }

    /// Returns whether the packing breaks no deadline that was met.
    #[must_use]
    pub const fn is_harmless(&self) -> bool {
        self.broken.is_empty()
    }

    /// Returns the tasks with another response time than before: index, before, after.
    pub fn slower(&self) -> impl Iterator<Item = (usize, Response, Response)> {
        let both = self.before.iter().zip(&self.after).enumerate();
        both.filter(|(_, (before, after))| before != after)
            .map(|(index, (before, after))| (index, *before, *after))
    }
}

/// Groups of equal priority in falling order, to be joined to levels.
struct Stairs<'t> {
    lineup: Lineup<'t>,
    /// Load of the tasks before each position.
    loads: Vec<Load>,
    /// Ends of the groups of equal priority, as positions.
    groups: Vec<usize>,
    /// Task, by position, that misses its deadline in any case.
    is_late: Vec<bool>,
}

impl<'t> Stairs<'t> {
    fn new(tasks: &[Prioritized<'t>], order: &[usize], before: &[Response]) -> Self {
        let lineup = Lineup::new(tasks);
        let mut loads = vec![Load::default()];
        let mut load = Load::default();
        for task in &lineup.tasks {
            load = load.with(task);
            loads.push(load);
        }
        let mut groups: Vec<usize> = (1..order.len())
            .filter(|&at| tasks[order[at - 1]].priority != tasks[order[at]].priority)
            .collect();
        groups.extend((!order.is_empty()).then_some(order.len()));
        let is_late = order
            .iter()
            .map(|&index| !before[index].meets(tasks[index].task.deadline))
            .collect();
        Self {
            lineup,
            loads,
            groups,
            is_late,
        }
    }

    /// Returns the ends of at most `count` levels, as positions.
    fn ends(&self, count: usize) -> Vec<usize> {
        if self.groups.len() <= count {
            return self.groups.clone();
        }
        // Levels as ends in `groups`.
        let (mut ends, mut first) = (Vec::new(), 0);
        while first < self.groups.len() && ends.len() + 1 < count {
            first = self.longest(first) + 1;
            ends.push(first);
        }
        if first < self.groups.len() {
            ends.push(self.groups.len());
        }
        while ends.len() < count && split_largest(&mut ends) {}
        ends.into_iter().map(|end| self.groups[end - 1]).collect()
    }

    /// Returns the last group that can share a level with the group `first` and those between.
    fn longest(&self, first: usize) -> usize {
        let (mut good, mut bad) = (first, self.groups.len());
        if first == 0 && self.lineup.tasks[0].is_interference {
            return first;
        }
        while good + 1 < bad {
            let middle = good + (bad - good) / 2;
            if self.is_level(first, middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    }

    /// Returns whether the groups from `first` to `last` can share a level.
    fn is_level(&self, first: usize, last: usize) -> bool {
        let begin = first.checked_sub(1).map_or(0, |before| self.groups[before]);
        let end = self.groups[last];
        let above = |at: usize| self.loads[end].without(self.lineup.tasks[at]);
        let verdict = |at: usize| self.lineup.verdict(at, end, above(at));
        let in_time = || (begin..end).filter(|&at| !self.is_late[at]);
        if in_time().any(|at| verdict(at) == Verdict::Misses) {
            return false;
        }
        in_time().all(|at| verdict(at) == Verdict::Meets || self.lineup.meets(at, end, above(at)))
    }
}

/// Splits the level with the most groups; returns `false` if each has only one.
fn split_largest(ends: &mut Vec<usize>) -> bool {
    let begin = |at: usize| if at == 0 { 0 } else { ends[at - 1] };
    let size = |at: &usize| ends[*at] - begin(*at);
    // The most urgent one of equally large levels.
    let Some(largest) = (0..ends.len()).rev().max_by_key(size) else {
        return false;
    };
    let count = size(&largest);
    if count > 1 {
        ends.insert(largest, begin(largest) + count / 2);
    }
    count > 1
}
