//! Table of the goals of both experiments.

use crate::experiment::{Column, Tabled};

/// Goals with their verdicts.
pub(super) const GOALS: Tabled = Tabled::listing(
    "goals",
    "goals",
    "{what} {placement} {link} {contender}",
    &[
        Column::text("goal", "goal").faint(),
        Column::ratio("reached", "reached").marked_by("noisy"),
        Column::text("verdict", "verdict"),
    ],
);
