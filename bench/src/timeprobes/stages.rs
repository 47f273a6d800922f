//! Stages of one side, over many calls.
//!
//! Whether the kernel lets the sender go on or the receiver run first differs from call to call, so
//! that one stage is long where the other is short, and medians of stages do not add up. So the
//! calls are ordered by their times, a quarter at either end is left out, and the stages are means
//! of the rest: they contain no interruption, and together they are the mean of these calls. A
//! client's first calls, which find the server, are of other operations and not among them.

use super::paper::Line;
use crate::statistics::median;
use punctual::probe::{CallTrace, Point, Rate};
use serde::Serialize;

/// Stages of one side, in the order of the paper's table.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Stages {
    /// Number of calls for which all time stamps were recorded.
    pub(super) calls: usize,
    /// Call stages at the client or at the server.
    pub(super) stages: Vec<Stage>,
    /// Sum of all stages, without the cost of their stamps.
    pub(super) sum: f64,
    /// Cost of all time stamps that are taken during a call, in nanoseconds.
    pub(super) stamps: f64,
    /// Mean time of the calls as measured, stamps included.
    pub(super) whole: f64,
}

/// Stage of a call with measured times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Stage {
    /// Number of the stage in the paper; empty if its tables have no such stage.
    pub(super) number: &'static str,
    /// Name of the stage.
    pub(super) name: &'static str,
    /// Mean time, with the cost of the stamps subtracted.
    pub(super) time: f64,
    /// Mean time of the stage as measured, including the cost of time stamps.
    pub(super) measured: f64,
    /// Median time of the stage over all calls, as measured.
    pub(super) median: f64,
    /// Mean number of time stamps for the stage in a call.
    pub(super) stamps: f64,
    /// Time of the stage according to the paper, in microseconds.
    pub(super) paper: Option<f64>,
}

impl Stages {
    /// Returns the stages of the given calls, or `None` if there are none; `stamp` is the cost of
    /// one time stamp in nanoseconds.
    pub(super) fn of(seen: &[CallTrace], table: &[Line], rate: Rate, stamp: f64) -> Option<Self> {
        let seen = with_the_usual_stages(seen, table);
        let usual = middle_half(&seen, |call| call.total());
        let stage = |line| Stage::of(&seen, &usual, line, rate, stamp);
        let stages: Vec<Stage> = table.iter().map(stage).collect::<Option<_>>()?;
        let whole = mean(usual.iter().map(|call| rate.nanos(call.total())))?;
        Some(Self {
            calls: seen.len(),
            sum: stages.iter().map(|stage| stage.time).sum(),
            stamps: stages.iter().map(|stage| stage.stamps).sum::<f64>() * stamp,
            whole,
            stages,
        })
    }

    /// Returns the sum of the stages other than system calls and waiting, without the cost of
    /// stamps: the ORB's own cost.
    pub(super) fn of_the_orb(&self) -> f64 {
        let own = self.stages.iter().filter(|stage| !stage.is_io());
        own.map(|stage| stage.time).sum()
    }

    /// Returns a stage's time as a fraction of the sum of all stages.
    pub(super) fn share(&self, stage: &Stage) -> f64 {
        stage.time / self.sum
    }

    /// Returns the sum of the paper's figures, in microseconds.
    pub(super) fn paper(&self) -> f64 {
        self.stages.iter().filter_map(|stage| stage.paper).sum()
    }

    /// Returns the sum of the paper's figures without I/O, in microseconds.
    pub(super) fn paper_of_the_orb(&self) -> f64 {
        let own = self.stages.iter().filter(|stage| !stage.is_io());
        own.filter_map(|stage| stage.paper).sum()
    }
}

impl Stage {
    /// Returns whether the stage is I/O: a system call, or waiting.
    pub(super) fn is_io(&self) -> bool {
        self.name.starts_with("I/O")
    }

    fn of(
        seen: &[&CallTrace],
        usual: &[&&CallTrace],
        line: &Line,
        rate: Rate,
        stamp: f64,
    ) -> Option<Self> {
        let time = |call: &&CallTrace| rate.nanos(call.ticks(line.point));
        let measured = mean(usual.iter().map(|call| time(call)))?;
        let stamps = mean(usual.iter().map(|call| number(call.stamps(line.point))))?;
        Some(Self {
            number: line.number,
            name: line.point.label(),
            // Among other work a stamp may cost less than in a series of stamps.
            time: (measured - stamps * stamp).max(0.0),
            measured,
            median: median(&seen.iter().map(time).collect::<Vec<_>>())?,
            stamps,
            paper: line.micros,
        })
    }
}

/// Returns the calls that pass through all stages that the majority of calls pass through. Other
/// calls belong to other operations, such as one without parameters.
fn with_the_usual_stages<'a>(seen: &'a [CallTrace], table: &[Line]) -> Vec<&'a CallTrace> {
    let most = |point| 2 * seen.iter().filter(|call| call.stamps(point) > 0).count() > seen.len();
    let usual: Vec<Point> = table
        .iter()
        .map(|line| line.point)
        .filter(|&point| most(point))
        .collect();
    let comes_to_all = |call: &&CallTrace| usual.iter().all(|&point| call.stamps(point) > 0);
    seen.iter().filter(comes_to_all).collect()
}

/// Returns the middle half of all items by length, leaving out the quarter at either end.
pub(super) fn middle_half<T>(all: &[T], length: impl Fn(&T) -> u64) -> Vec<&T> {
    let mut sorted: Vec<&T> = all.iter().collect();
    sorted.sort_by_key(|one| length(one));
    let quarter = sorted.len() / 4;
    let left = sorted.len() - 2 * quarter;
    sorted.into_iter().skip(quarter).take(left).collect()
}

/// Returns the mean of the values; `None` if there are none.
pub(super) fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len();
    (count > 0).then(|| values.sum::<f64>() / number(count))
}

#[allow(clippy::cast_precision_loss)]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::super::paper;
    use super::*;
    use punctual::probe::{self, Side, Stamp};

    fn seen(calls: &[&[(Point, u64)]]) -> Vec<CallTrace> {
        let mut now = 0;
        let points = calls.iter().copied().flatten();
        let stamps: Vec<Stamp> = points
            .map(|&(point, lasts)| {
                let stamp = Stamp::new(point, now);
                now += lasts;
                stamp
            })
            .collect();
        probe::calls(&stamps, Side::Client)
    }

    #[test]
    fn a_stage_s_time_is_a_mean_without_its_stamps_and_never_less_than_nothing() {
        let call = |marshal| {
            [
                (Point::ClientInitialise, 4),
                (Point::ClientMarshal, marshal),
                (Point::ClientMarshal, 10),
                (Point::ClientEnd, 0),
            ]
        };
        let seen = seen(&[&call(20), &call(1000), &call(30), &call(0)]);
        let stages = Stages::of(&seen, paper::CLIENT, Rate::new(2.0), 10.0).unwrap();
        assert_eq!(stages.calls, 4);
        let stage = |name: &str| stages.stages.iter().find(|one| one.name == name).unwrap();
        let marshal = stage("parameter marshal");
        assert_eq!((marshal.measured, marshal.stamps), (70.0, 2.0));
        assert_eq!((marshal.time, marshal.median), (50.0, 70.0));
        assert_eq!(stage("initialise").time, 0.0);
        assert_eq!(stage("I/O: send").stamps, 0.0);
        assert_eq!(stages.sum, 50.0);
        assert_eq!(stages.stamps, 30.0);
        assert_eq!(stages.whole, 78.0);
        assert_eq!(stages.share(marshal), 1.0);
    }

    #[test]
    fn stages_add_up_to_the_calls_even_where_each_call_spends_its_time_elsewhere() {
        let call = |send, receive| {
            [
                (Point::ClientInitialise, 20),
                (Point::ClientSend, send),
                (Point::ClientReceive, receive),
                (Point::ClientEnd, 0),
            ]
        };
        let seen = seen(&[
            &call(100, 3000),
            &call(3000, 100),
            &call(100, 3000),
            &call(3000, 200),
        ]);
        let stages = Stages::of(&seen, paper::CLIENT, Rate::new(1.0), 5.0).unwrap();
        assert_eq!(stages.sum + stages.stamps, stages.whole);
        assert_eq!(stages.whole, 3120.0);
        assert_eq!(stages.of_the_orb(), 15.0);
    }

    #[test]
    fn a_call_of_an_operation_without_the_stages_of_the_others_is_not_among_them() {
        let other = [(Point::ClientInitialise, 80), (Point::ClientEnd, 0)];
        let call = [
            (Point::ClientInitialise, 20),
            (Point::ClientMarshal, 60),
            (Point::ClientEnd, 0),
        ];
        let seen = seen(&[&other, &call, &call, &call]);
        let stages = Stages::of(&seen, paper::CLIENT, Rate::new(1.0), 0.0).unwrap();
        let marshal = stages
            .stages
            .iter()
            .find(|one| one.name == "parameter marshal");
        assert_eq!(marshal.map(|one| one.stamps), Some(1.0));
        assert_eq!((stages.calls, stages.whole), (3, 80.0));
    }

    #[test]
    fn the_middle_half_leaves_out_as_many_at_either_end() {
        assert_eq!(middle_half(&[9, 1, 7, 3, 5], |one| *one), [&3, &5, &7]);
        assert_eq!(middle_half(&[9], |one| *one), [&9]);
    }

    #[test]
    fn of_no_calls_there_are_no_stages() {
        assert!(Stages::of(&[], paper::SERVER, Rate::new(1.0), 1.0).is_none());
    }
}
