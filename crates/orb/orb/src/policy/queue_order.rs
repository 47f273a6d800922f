//! Order in which requests leave a queue, and its criteria (CORBA 3.3 part 2, §22.2.4.3 and
//! §22.2.5).

use std::ops::BitOr;

/// Messaging::QueueOrderPolicy: the orders that are allowed for requests in queues. Several are
/// joined by `|`; the ORB then uses the one that is declared first below.
///
/// It orders the requests in a client's buffer ([`crate::Buffering`]). As it is sent with the
/// requests, it also orders those in the request buffer of a thread pool of a Punctual server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueOrder(u16);

impl QueueOrder {
    /// Messaging::ORDER_ANY: order of the ORB's choice, which is [`QueueOrder::TEMPORAL`].
    pub const ANY: Self = Self(1);
    /// Messaging::ORDER_TEMPORAL: in the order in which the requests were made. This is the
    /// default.
    pub const TEMPORAL: Self = Self(2);
    /// Messaging::ORDER_PRIORITY: the highest [`super::Policy::RequestPriority`] first; requests of equal priority in
    /// the order in which they were made.
    pub const PRIORITY: Self = Self(4);
    /// Messaging::ORDER_DEADLINE: the earliest end time first; requests without an end time last.
    pub const DEADLINE: Self = Self(8);

    /// Returns the queue order as a value of Messaging::Ordering.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Creates a queue order from a value of Messaging::Ordering.
    pub(crate) const fn of_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Returns whether the value allows any of the queue orders in `others`.
    const fn allows(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the allowed queue order that the ORB uses.
    pub(crate) fn chosen(self) -> Order {
        if self.allows(Self(Self::ANY.0 | Self::TEMPORAL.0)) {
            Order::Temporal
        } else if self.allows(Self::PRIORITY) {
            Order::Priority
        } else {
            Order::Deadline
        }
    }
}

impl BitOr for QueueOrder {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A single queue order, of those that a value of Ordering can combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    #[default]
    Temporal,
    Priority,
    Deadline,
}

/// Messaging::PriorityRange: the priorities that a request or its reply may have in queues.
///
/// They are unrelated to the priorities of threads (Real-time CORBA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PriorityRange {
    /// Lowest priority in the range.
    pub min: i16,
    /// Highest priority in the range.
    pub max: i16,
}

impl PriorityRange {
    /// Creates a range that contains only this priority.
    #[must_use]
    pub const fn exactly(priority: i16) -> Self {
        Self {
            min: priority,
            max: priority,
        }
    }

    /// Checks that the range is not empty.
    ///
    /// # Errors
    /// The reason, if `min` is greater than `max`.
    pub(crate) fn check(self) -> Result<(), String> {
        if self.min > self.max {
            return Err(format!(
                "the range of priorities from {} to {} is empty",
                self.min, self.max
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_orders_the_first_is_taken() {
        let (temporal, priority) = (QueueOrder::TEMPORAL, QueueOrder::PRIORITY);
        assert_eq!(QueueOrder::ANY.chosen(), Order::Temporal);
        assert_eq!((QueueOrder::DEADLINE | temporal).chosen(), Order::Temporal);
        assert_eq!((QueueOrder::DEADLINE | priority).chosen(), Order::Priority);
        assert_eq!(QueueOrder::DEADLINE.chosen(), Order::Deadline);
    }

    #[test]
    fn a_range_without_a_priority_is_refused() {
        assert!(PriorityRange { min: 2, max: 1 }.check().is_err());
        assert!(PriorityRange::exactly(7).check().is_ok());
    }
}
