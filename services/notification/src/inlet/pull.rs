//! State of pulling from one supplier.

use std::time::Duration;

use crate::limits::Limits;

/// State of pulling from one supplier.
#[derive(Debug)]
pub(super) struct Pull {
    pub(super) is_suspended: bool,
    /// States that a call is under way, or is to begin.
    pub(super) is_under_way: bool,
    pub(super) back_off: Duration,
}

impl Pull {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            is_suspended: false,
            is_under_way: false,
            back_off: limits.retry,
        }
    }
}
