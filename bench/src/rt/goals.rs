//! Goals of the acceptance experiment, and the judgement of the figures by them.

use super::report::{Row, Shares};
use super::setup::Contender;
use crate::placement::Placement;
use serde::Serialize;
use std::fmt;

/// Goal of the experiment.
#[derive(Clone, Copy, Debug)]
struct Goal {
    what: &'static str,
    bound: Bound,
    reached: fn(&Row) -> Option<f64>,
}

/// Kind of bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// Verdict on a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Met,
    Missed,
    /// Without a figure, or threads were not scheduled as the goals assume.
    NotJudged,
}

/// Goal with its verdict.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Judged {
    pub(super) placement: Placement,
    pub(super) what: &'static str,
    pub(super) bound: Bound,
    pub(super) reached: Option<f64>,
    pub(super) verdict: Verdict,
    /// Set if rounds lie so far apart that another run may come out differently.
    pub(super) noisy: bool,
}

/// Goals of lanes; other contenders are shown for comparison.
const GOALS: [Goal; 5] = [
    Goal {
        what: "p99 beside the load / alone",
        bound: Bound::AtMost(1.3),
        reached: |row| row.beside_alone.p99,
    },
    Goal {
        what: "p99.9 beside the load / alone",
        bound: Bound::AtMost(2.0),
        reached: |row| row.beside_alone.p999,
    },
    Goal {
        what: "p50 beside the load / floor's",
        bound: Bound::AtMost(1.25),
        reached: |row| floor(row)?.p50,
    },
    Goal {
        what: "p99 beside the load / floor's",
        bound: Bound::AtMost(1.5),
        reached: |row| floor(row)?.p99,
    },
    Goal {
        what: "low clients' calls / floor's",
        bound: Bound::AtLeast(0.85),
        reached: |row| row.low_beside_floor,
    },
];

fn floor(row: &Row) -> Option<Shares> {
    row.loaded_beside_floor
}

impl Bound {
    /// Returns whether a figure keeps the bound.
    fn admits(self, reached: f64) -> bool {
        match self {
            Self::AtMost(bound) => reached <= bound,
            Self::AtLeast(bound) => reached >= bound,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::NotJudged => "not judged",
        })
    }
}

/// Returns every goal at every placement that lanes ran at. Where threads have no real-time
/// priority, none is judged.
pub(super) fn judge(rows: &[Row], best_effort: bool) -> Vec<Judged> {
    let lanes = rows.iter().filter(|row| row.contender == Contender::Lanes);
    let judged = lanes.flat_map(|row| GOALS.iter().map(move |goal| (row, goal)));
    let judged = judged.map(|(row, goal)| {
        let reached = (goal.reached)(row);
        let verdict = match reached {
            Some(reached) if !best_effort => match goal.bound.admits(reached) {
                true => Verdict::Met,
                false => Verdict::Missed,
            },
            _ => Verdict::NotJudged,
        };
        Judged {
            placement: row.placement,
            what: goal.what,
            bound: goal.bound,
            reached,
            verdict,
            noisy: row.is_noisy(),
        }
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            placement: Placement::Same,
            contender: Contender::Lanes,
            alone: None,
            loaded: None,
            beside_alone: Shares {
                p50: Some(9.0),
                p99: Some(1.3),
                p999: Some(2.01),
            },
            alone_beside_floor: None,
            loaded_beside_floor: Some(Shares {
                p50: Some(1.0),
                p99: None,
                p999: None,
            }),
            low_rate: None,
            low_beside_floor: Some(0.84),
        }
    }

    #[test]
    fn a_goal_is_met_on_its_bound_and_missed_beyond_it() {
        let judged = judge(&[row()], false);
        let verdicts: Vec<Verdict> = judged.iter().map(|one| one.verdict).collect();
        assert_eq!(
            verdicts,
            [
                Verdict::Met,
                Verdict::Missed,
                Verdict::Met,
                Verdict::NotJudged,
                Verdict::Missed
            ]
        );
    }

    #[test]
    fn ordinary_threads_are_not_judged_and_neither_is_a_pool() {
        let judged = judge(&[row()], true);
        assert!(judged.iter().all(|one| one.verdict == Verdict::NotJudged));
        let pool = Row {
            contender: Contender::Pool,
            ..row()
        };
        assert!(judge(&[pool], false).is_empty());
    }
}
