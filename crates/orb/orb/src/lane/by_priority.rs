//! Counters of the requests that a lane has served, by CORBA priority.

use crate::priority::Priority;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Number of priorities that are counted separately; requests of all others are counted together.
const ROWS: usize = 32;

/// Table of fixed size, allocated at the first request with a priority, so that lanes without such
/// requests need no memory for it. Takes no lock.
///
/// All accesses are Relaxed: each counter is independent.
#[derive(Debug, Default)]
pub(super) struct ByPriority(OnceLock<Box<Table>>);

/// Table of counters. A priority owns the first row that was free when it first occurred, in a
/// search from the row that its number selects. Rows are never released, so the same search finds
/// it again.
#[derive(Debug, Default)]
struct Table {
    rows: [Row; ROWS],
    others: AtomicU64,
}

#[derive(Debug, Default)]
struct Row {
    /// The priority's number plus one; 0 for a free row.
    mark: AtomicU32,
    requests: AtomicU64,
}

impl ByPriority {
    /// Counts one request with this priority.
    #[inline]
    pub(super) fn count(&self, priority: Priority) {
        let number = priority.get().unsigned_abs();
        match self.0.get() {
            Some(table) if table.first_row(number).has(number) => {
                table.first_row(number).count();
            }
            _ => self.count_elsewhere(number),
        }
    }

    /// Counts a request when the first row is not its own: the table does not exist yet, or the row
    /// is free or belongs to another priority.
    #[cold]
    #[inline(never)]
    fn count_elsewhere(&self, number: u16) {
        self.0.get_or_init(Box::default).count(number);
    }

    /// Returns the number of requests of each priority, lowest first, and that of all priorities
    /// that have no row.
    pub(super) fn counted(&self) -> (Vec<(Priority, u64)>, u64) {
        let Some(table) = self.0.get() else {
            return Default::default();
        };
        let mut all: Vec<_> = table.rows.iter().filter_map(Row::counted).collect();
        all.sort_unstable();
        (all, table.others.load(Ordering::Relaxed))
    }
}

impl Table {
    #[inline]
    fn first_row(&self, number: u16) -> &Row {
        &self.rows[usize::from(number) % ROWS]
    }

    fn count(&self, number: u16) {
        let (before, from) = self.rows.split_at(usize::from(number) % ROWS);
        let mut rows = from.iter().chain(before);
        match rows.find(|row| row.has(number) || row.claim_row(number)) {
            Some(row) => row.count(),
            None => {
                self.others.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Row {
    /// Returns `true` if the row belongs to this priority.
    #[inline]
    fn has(&self, number: u16) -> bool {
        self.mark.load(Ordering::Relaxed) == u32::from(number) + 1
    }

    /// Claims a free row for this priority; returns `true` if the row belongs to it now.
    fn claim_row(&self, number: u16) -> bool {
        let (mark, order) = (u32::from(number) + 1, Ordering::Relaxed);
        match self.mark.compare_exchange(0, mark, order, order) {
            Ok(_) => true,
            // Another thread may just have claimed the row for the same priority.
            Err(its) => its == mark,
        }
    }

    #[inline]
    fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn counted(&self) -> Option<(Priority, u64)> {
        let number = self.mark.load(Ordering::Relaxed).checked_sub(1)?;
        let priority = Priority::try_from(i32::try_from(number).ok()?).ok()?;
        Some((priority, self.requests.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(priority: usize) -> Priority {
        Priority::new(i16::try_from(priority).unwrap()).unwrap()
    }

    #[test]
    fn requests_are_counted_by_priority_whoever_serves_them() {
        let counts = ByPriority::default();
        assert_eq!(counts.counted(), (Vec::new(), 0));
        // Two of these priorities start at the same row.
        let priorities = [5, 5 + ROWS, 0];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        priorities.iter().for_each(|&one| counts.count(at(one)));
                    }
                });
            }
        });
        let expected = vec![(at(0), 400), (at(5), 400), (at(5 + ROWS), 400)];
        assert_eq!(counts.counted(), (expected, 0));
    }

    #[test]
    fn priorities_that_have_no_row_are_counted_together() {
        let counts = ByPriority::default();
        for priority in 0..ROWS + 3 {
            counts.count(at(priority));
        }
        counts.count(Priority::MAX);
        counts.count(at(1));
        let (each, others) = counts.counted();
        assert_eq!((each.len(), others), (ROWS, 4));
        assert_eq!(each[1], (at(1), 2));
    }
}
