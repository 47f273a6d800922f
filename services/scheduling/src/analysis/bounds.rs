//! Bounds of the utilisation: quick tests by sums, of which all but one can refuse a set that meets
//! its deadlines.
//!
//! They hold for independent, preemptive tasks without release jitter. If a deadline is
//! below the period, the sufficient tests use density (execution time divided by deadline).

use super::occupancy::{Occupancy, occupancy, occupancy_of};
use super::task::{Preemption, Task};
use crate::time::Time;
use serde::Serialize;

/// One in the fixed point of [`hyperbolic`], with 62 bits behind the point.
const ONE: u128 = 1 << 62;

/// Error of a sum of floating-point numbers, counted against the set.
const ROUNDING: f64 = 1e-9;

/// Test of a set of tasks by their utilisation.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// `U ≤ n (2^(1/n) - 1)` for rate- or deadline-monotonic priorities (Liu and Layland 1973).
    LiuLayland,
    /// `Π (U + 1) ≤ 2` for the same priorities (Bini, Buttazzo and Buttazzo 2003).
    Hyperbolic,
    /// `U ≤ 1` under EDF, for deadlines not below the periods (Liu and Layland 1973).
    EdfUtilisation,
    /// `Σ C / min(D, T) ≤ 1` under EDF.
    EdfDensity,
}

/// Strength of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// A set that passes meets its deadlines; one that fails may do so as well.
    Sufficient,
    /// A set meets its deadlines if, and only if, it passes.
    Exact,
}

/// Outcome of a test.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Test.
    pub test: Test,
    /// Sum, or product, of the set; a figure for people.
    pub load: f64,
    /// Limit of the load; a figure for people.
    pub limit: f64,
    /// Verdict; `None` if the test does not hold for tasks of this kind.
    pub passed: Option<bool>,
}

impl Test {
    /// All tests.
    pub const ALL: [Self; 4] = [
        Self::LiuLayland,
        Self::Hyperbolic,
        Self::EdfUtilisation,
        Self::EdfDensity,
    ];

    /// Returns the name of the test in the literature.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LiuLayland => "Liu and Layland's bound",
            Self::Hyperbolic => "hyperbolic bound",
            Self::EdfUtilisation => "EDF's utilisation",
            Self::EdfDensity => "EDF's density",
        }
    }

    /// Returns the strength of the test, where it holds.
    #[must_use]
    pub const fn strength(self) -> Strength {
        match self {
            Self::LiuLayland | Self::Hyperbolic | Self::EdfDensity => Strength::Sufficient,
            Self::EdfUtilisation => Strength::Exact,
        }
    }

    /// Applies the test to the tasks of a processor.
    #[must_use]
    pub fn apply(self, tasks: &[&Task]) -> Outcome {
        let (load, limit, passed) = match self {
            Self::LiuLayland => liu_layland(tasks),
            Self::Hyperbolic => hyperbolic(tasks),
            Self::EdfUtilisation => (
                super::utilisation(tasks.iter().copied()),
                1.0,
                verdict(occupancy_of(tasks.iter().copied())),
            ),
            Self::EdfDensity => (
                tasks.iter().map(|task| density(task)).sum(),
                1.0,
                verdict(occupancy(tasks.iter().map(|task| shares(task)))),
            ),
        };
        let passed = passed.filter(|_| self.holds_for(tasks));
        Outcome {
            test: self,
            load,
            limit,
            passed,
        }
    }

    /// Returns whether the test says anything about tasks of this kind.
    fn holds_for(self, tasks: &[&Task]) -> bool {
        tasks.iter().all(|task| {
            let plain = task.jitter.is_zero()
                && task.blocking.is_zero()
                && task.preemption == Preemption::Full;
            plain && (self != Self::EdfUtilisation || task.deadline >= task.period)
        })
    }
}

/// Applies all tests to the tasks of a processor.
#[must_use]
pub fn bounds(tasks: &[&Task]) -> Vec<Outcome> {
    Test::ALL.iter().map(|test| test.apply(tasks)).collect()
}

/// Returns Liu and Layland's bound for a number of tasks: 1 for one, and down to ln 2 for many.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a limit for people")]
pub fn liu_layland_limit(tasks: usize) -> f64 {
    let count = tasks.max(1) as f64;
    count * (count.recip().exp2() - 1.0)
}

/// Returns density, bound and verdict.
fn liu_layland(tasks: &[&Task]) -> (f64, f64, Option<bool>) {
    let limit = liu_layland_limit(tasks.len());
    let sum: f64 = tasks.iter().map(|task| density(task)).sum();
    let passed = match tasks {
        [] => Some(true),
        [one] => verdict(occupancy([shares(one)].into_iter())),
        _ => Some(sum + ROUNDING <= limit),
    };
    (sum, limit, passed)
}

/// Returns product, limit and verdict; the verdict in whole numbers, rounded against the set.
fn hyperbolic(tasks: &[&Task]) -> (f64, f64, Option<bool>) {
    let product = tasks.iter().map(|task| density(task) + 1.0).product();
    let mut exact = ONE;
    for task in tasks {
        let (part, whole) = shares(task);
        let share =
            (u128::from(part.as_nanos()) << 62).div_ceil(u128::from(whole.as_nanos()).max(1));
        if whole.is_zero() || share > ONE {
            return (product, 2.0, Some(false));
        }
        // Both factors are at most 2, before the loop ends: the product has 126 bits.
        exact = (exact * (ONE + share)).div_ceil(ONE);
        if exact > 2 * ONE {
            return (product, 2.0, Some(false));
        }
    }
    (product, 2.0, Some(true))
}

/// Returns execution time and the lesser of deadline and period.
fn shares(task: &Task) -> (Time, Time) {
    (task.wcet, task.deadline.min(task.period))
}

/// Returns the density of a task.
fn density(task: &Task) -> f64 {
    let (part, whole) = shares(task);
    part.ratio(whole)
}

/// Returns the verdict on a load; `None` if it is too near to the limit.
fn verdict(load: Occupancy) -> Option<bool> {
    match load {
        Occupancy::Below | Occupancy::Full => Some(true),
        Occupancy::Over => Some(false),
        Occupancy::Near => None,
    }
}
