//! Table of the goals of `latency` and `dispatching`.

use crate::experiment::{Tabled, goals_named};

/// Goals with their verdicts.
pub(super) const GOALS: Tabled = goals_named("{what} {placement} {link} {contender}");
