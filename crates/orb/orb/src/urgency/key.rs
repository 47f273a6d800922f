//! Sort key by which requests are ordered.

use crate::priority::Priority;
use std::cmp::Reverse;

/// Urgency of a request. The request with the greater urgency is served first.
///
/// Urgencies are compared by these parts, each only if all parts before it are equal:
///
/// 1. priority: the highest first, requests without one last;
/// 2. deadline: the earliest first, requests without one last;
/// 3. laxity: the least first, requests without one last;
/// 4. importance: the highest first.
///
/// The default has no priority, no deadline, no laxity and importance 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Urgency {
    // The derived order compares fields from first to last.
    priority: Option<Priority>,
    deadline: Reverse<u64>,
    laxity: Reverse<i64>,
    importance: i32,
}

/// Value that stands for the deadline of a request without one.
const NEVER: u64 = u64::MAX;
/// Value that stands for the laxity of a request without one.
const UNBOUNDED: i64 = i64::MAX;

impl Urgency {
    /// Returns the urgency with this priority, and no deadline, laxity or importance.
    #[inline]
    #[must_use]
    pub const fn of_priority(priority: Option<Priority>) -> Self {
        Self {
            priority,
            deadline: Reverse(NEVER),
            laxity: Reverse(UNBOUNDED),
            importance: 0,
        }
    }

    /// Returns a copy of the urgency with the given priority.
    #[must_use]
    pub const fn with_priority(self, priority: Option<Priority>) -> Self {
        Self { priority, ..self }
    }

    /// Returns the urgency with a deadline: a point of time in nanoseconds, by a clock that all
    /// requests of the ORB share. `u64::MAX` means none.
    #[must_use]
    pub const fn with_deadline(self, deadline: u64) -> Self {
        Self {
            deadline: Reverse(deadline),
            ..self
        }
    }

    /// Returns the urgency with a laxity: the nanoseconds for which the request may wait and still
    /// meet its deadline, negative if it will miss the deadline. `i64::MAX` means none.
    #[must_use]
    pub const fn with_laxity(self, laxity: i64) -> Self {
        Self {
            laxity: Reverse(laxity),
            ..self
        }
    }

    /// Returns a copy of the urgency with the given importance.
    #[must_use]
    pub const fn with_importance(self, importance: i32) -> Self {
        Self { importance, ..self }
    }

    /// Returns the priority of the request, if it has one.
    #[inline]
    #[must_use]
    pub const fn priority(self) -> Option<Priority> {
        self.priority
    }

    /// Returns the request's deadline in nanoseconds, if it has one.
    #[must_use]
    pub const fn deadline(self) -> Option<u64> {
        match self.deadline.0 {
            NEVER => None,
            deadline => Some(deadline),
        }
    }

    /// Returns the request's laxity in nanoseconds, if it has one.
    #[must_use]
    pub const fn laxity(self) -> Option<i64> {
        match self.laxity.0 {
            UNBOUNDED => None,
            laxity => Some(laxity),
        }
    }

    /// Returns the importance of the request.
    #[must_use]
    pub const fn importance(self) -> i32 {
        self.importance
    }
}

impl Default for Urgency {
    fn default() -> Self {
        Self::of_priority(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(priority: i16) -> Urgency {
        Urgency::of_priority(Priority::new(priority).ok())
    }

    /// Checks that each urgency is greater than all before it.
    #[track_caller]
    fn rise(urgencies: &[Urgency]) {
        assert!(urgencies.is_sorted_by(|less, more| less < more));
    }

    #[test]
    fn the_highest_priority_is_the_most_urgent_whatever_else_is_said() {
        let pressing = at(1)
            .with_deadline(0)
            .with_laxity(i64::MIN)
            .with_importance(i32::MAX);
        rise(&[Urgency::default(), at(0), pressing, at(2), at(32_767)]);
        rise(&[pressing.with_priority(None), at(0)]);
    }

    #[test]
    fn among_equal_priorities_the_earliest_deadline_is_the_most_urgent_and_none_the_least() {
        let important = at(5).with_deadline(300).with_laxity(-1).with_importance(9);
        rise(&[
            at(5),
            important,
            at(5).with_deadline(200),
            at(5).with_deadline(100),
        ]);
    }

    #[test]
    fn among_equal_deadlines_the_least_laxity_is_the_most_urgent_and_none_the_least() {
        let due = at(5).with_deadline(100);
        rise(&[
            due.with_importance(9),
            due.with_laxity(40),
            due.with_laxity(0),
            due.with_laxity(-7),
        ]);
    }

    #[test]
    fn importance_decides_last() {
        let due = at(5).with_deadline(100).with_laxity(3);
        rise(&[
            due.with_importance(-1),
            due,
            due.with_importance(1),
            due.with_importance(i32::MAX),
        ]);
    }

    #[test]
    fn parts_that_were_not_given_are_none() {
        let none = Urgency::default();
        assert_eq!((none.priority(), none.deadline()), (None, None));
        assert_eq!((none.laxity(), none.importance()), (None, 0));
        let all = at(3).with_deadline(4).with_laxity(-5).with_importance(6);
        assert_eq!(all.priority().map(Priority::get), Some(3));
        assert_eq!((all.deadline(), all.laxity()), (Some(4), Some(-5)));
        assert_eq!(all.importance(), 6);
    }
}
