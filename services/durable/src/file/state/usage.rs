//! What a log keeps, against its quota.

use std::ops::Add;

use crate::contract::{Limit, Quota};

/// Number of events, and the sum of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::file) struct Usage {
    pub(in crate::file) events: u64,
    pub(in crate::file) bytes: u64,
}

impl Usage {
    /// Returns the limit of a quota that is less than this.
    pub(in crate::file) fn beyond(self, quota: Quota) -> Option<Limit> {
        if self.events > quota.events {
            return Some(Limit::Events(quota.events));
        }
        (self.bytes > quota.bytes).then_some(Limit::Bytes(quota.bytes))
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            events: self.events + other.events,
            bytes: self.bytes + other.bytes,
        }
    }
}
