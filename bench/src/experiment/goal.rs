//! Goals: a bound of a figure, and the verdict.

use super::{Column, Row, Tabled};
use serde::Serialize;
use std::fmt;

/// Bound that a goal sets for a measured figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    /// Upper bound, inclusive.
    AtMost(f64),
    /// Lower bound, inclusive.
    AtLeast(f64),
    /// Lower bound, exclusive.
    Above(f64),
}

/// Verdict on a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// Goal that was reached.
    Ok,
    /// Goal that was missed.
    Missed,
    /// Unknown, since the rounds of the figure differ too much.
    NotKnown,
    /// Goal whose figure could not be measured.
    Absent,
}

/// Goal of an experiment: a bound, and the measured figure.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    /// Description of the measured quantity.
    pub(crate) what: &'static str,
    pub(crate) bound: Bound,
    /// Measured figure; `None` if it could not be measured.
    pub(crate) reached: Option<f64>,
    /// Set if the rounds differ too much for the figure to be known.
    pub(crate) noisy: bool,
}

/// Table that lists the goals of an experiment with their verdicts.
pub(crate) const GOALS: Tabled = goals_named("{what} {placement} {strategy} {algorithm} {over}");

/// Declares the table of the goals of an experiment; the lines' names are a template.
pub(crate) const fn goals_named(named: &'static str) -> Tabled {
    Tabled::listing("goals", "goals", named, VERDICTS)
}

const VERDICTS: &[Column] = &[
    Column::text("goal", "goal").faint(),
    Column::ratio("reached", "reached").marked_by("noisy"),
    Column::text("verdict", "verdict"),
];

impl Bound {
    /// Returns whether a measured figure lies within the bound.
    pub(crate) fn keeps(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::Above(limit) => value > limit,
        }
    }

    /// Returns the ratio of a figure to its bound (for lower bounds, the inverse): 1 is the bound
    /// itself, and more violates it.
    pub(crate) fn share(self, value: f64) -> f64 {
        match self {
            // The bound is zero, so each unit is too much.
            Self::AtMost(most) if most <= 0.0 => 1.0 + value,
            Self::AtMost(most) => value / most,
            Self::AtLeast(limit) | Self::Above(limit) => limit / value,
        }
    }

    /// Returns the verdict on a figure. With `noisy`, its rounds differ too much for the figure to
    /// be known.
    pub(crate) fn verdict(self, reached: Option<f64>, noisy: bool) -> Verdict {
        match reached {
            None => Verdict::Absent,
            Some(_) if noisy => Verdict::NotKnown,
            Some(reached) if self.keeps(reached) => Verdict::Ok,
            Some(_) => Verdict::Missed,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, limit) = match self {
            Self::AtMost(limit) => ("≤", limit),
            Self::AtLeast(limit) => ("≥", limit),
            Self::Above(limit) => (">", limit),
        };
        write!(f, "{word} {limit}")
    }
}

impl Goal {
    /// Adds the goal to a row; the row's other values say where the figure was measured.
    pub(crate) fn on(&self, row: Row) -> Row {
        row.with("what", self.what)
            .with("bound", self.bound)
            .with("goal", self.bound.to_string())
            .with("reached", self.reached)
            .with("verdict", self.bound.verdict(self.reached, self.noisy))
            .with("noisy", self.noisy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_may_be_reached_but_not_passed_and_above_is_more() {
        assert!(Bound::AtMost(2.0).keeps(2.0) && !Bound::AtMost(2.0).keeps(2.1));
        assert!(Bound::AtLeast(2.0).keeps(2.0) && !Bound::AtLeast(2.0).keeps(1.9));
        assert!(Bound::Above(2.0).keeps(2.1) && !Bound::Above(2.0).keeps(2.0));
    }

    #[test]
    fn more_than_one_share_is_what_keeps_no_bound() {
        for bound in [Bound::AtMost(2.0), Bound::AtLeast(2.0), Bound::AtMost(0.0)] {
            for value in [0.0, 1.0, 1.9, 2.1, 5.0] {
                let is_within = bound.share(value) <= 1.0;
                assert_eq!(bound.keeps(value), is_within, "{bound} {value}");
            }
        }
    }

    #[test]
    fn a_goal_whose_rounds_lie_apart_is_neither_reached_nor_missed() {
        let bound = Bound::AtMost(1.0);
        assert_eq!(bound.verdict(Some(1.0), false), Verdict::Ok);
        assert_eq!(bound.verdict(Some(1.1), false), Verdict::Missed);
        assert_eq!(bound.verdict(Some(0.5), true), Verdict::NotKnown);
        assert_eq!(bound.verdict(None, true), Verdict::Absent);
    }
}
