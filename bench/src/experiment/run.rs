//! Run of an experiment: stage by stage the contenders' processes are started and pinned, and take
//! turns.
//!
//! In each round every contender has a turn, and another one begins in the next round, so that a
//! temporary slowdown of the machine affects all of them.

use super::{Pair, Report, Row};
use crate::Result;
use crate::attempts::{Unrest, calmest};
use crate::placement::{Placement, Processors};
use crate::progress::progress;
use std::fmt::Display;

/// Stage of an experiment: contenders whose processes are started together and run until all points
/// of the stage are measured.
pub(crate) struct Stage<W: Workload + ?Sized> {
    /// Setting with which the stage's server and client processes are started.
    pub(crate) setting: W::Setting,
    pub(crate) placement: Placement,
    pub(crate) contenders: Vec<W::Contender>,
    /// Points of the series: the parameters that vary while the processes run.
    pub(crate) points: Vec<W::Point>,
}

impl<W: Workload<Setting = ()>> Stage<W> {
    /// Returns a stage for each placement, all with the given contenders and points.
    pub(crate) fn at_each(
        placements: &[Placement],
        contenders: &[W::Contender],
        points: &[W::Point],
    ) -> Vec<Self>
    where
        W::Contender: Clone,
        W::Point: Clone,
    {
        let stage = |&placement| Self {
            setting: (),
            placement,
            contenders: contenders.to_vec(),
            points: points.to_vec(),
        };
        placements.iter().map(stage).collect()
    }
}

/// Effort of a measurement: the number of rounds and of repetitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Number of rounds in which each point is measured.
    pub(crate) rounds: u32,
    /// Maximum number of times that a point is measured again because its rounds differ too much.
    pub(crate) again: u32,
}

impl From<u32> for Effort {
    /// Returns an effort of this many rounds for each point, without repetition.
    fn from(rounds: u32) -> Self {
        Self { rounds, again: 0 }
    }
}

/// Turn of a contender: its stage, its point and its pair of processes.
pub(crate) struct Turn<'t, W: Workload + ?Sized> {
    pub(crate) stage: &'t Stage<W>,
    pub(crate) contender: &'t W::Contender,
    pub(crate) point: &'t W::Point,
    /// Processors to which the client and the server are pinned, if they are.
    pub(crate) at: Option<Processors>,
    pub(crate) pair: &'t mut Pair,
}

/// Contender, and the record of all its turns at a point.
pub(crate) type Outcome<'o, W> = (&'o <W as Workload>::Contender, &'o <W as Workload>::Record);

/// Measured workload of an experiment: how its contenders are started, and how they make their
/// calls.
pub(crate) trait Workload {
    /// Setting with which the processes of a stage are started.
    type Setting;
    /// Implementation that the experiment compares with others.
    type Contender: Display;
    /// Point of a series: the parameters that vary while the processes run.
    type Point: Display;
    /// Record of all turns of a contender at one point.
    type Record: Default;

    /// Returns whether a contender uses the server and the client process of the stage's first contender that does.
    fn shares(&self, _: &Self::Contender) -> bool {
        false
    }

    /// Starts the server and the client of a contender.
    ///
    /// # Errors
    /// The reason why it cannot take part.
    fn start(
        &self,
        stage: &Stage<Self>,
        contender: &Self::Contender,
        at: Option<Processors>,
    ) -> Result<Pair>;

    /// Returns whether a contender takes part at a point.
    fn suits(&self, _: &Self::Contender, _: &Self::Point, _: &Pair) -> bool {
        true
    }

    /// Makes warm-up calls before a point is measured.
    ///
    /// # Errors
    /// A call fails.
    fn warm_up(&self, _: Turn<'_, Self>) -> Result<()> {
        Ok(())
    }

    /// Makes the calls of a contender's turn.
    ///
    /// # Errors
    /// A call fails; the contender is excluded from all further turns.
    fn turn(&self, turn: Turn<'_, Self>, record: &mut Self::Record) -> Result<()>;

    /// Returns the set of rows to which a point belongs.
    fn frame(&self, _: &Self::Point) -> &'static str {
        "rows"
    }

    /// Returns the report rows for a measured point of a series.
    fn rows(
        &self,
        stage: &Stage<Self>,
        point: &Self::Point,
        outcomes: &[Outcome<'_, Self>],
    ) -> Vec<Row>;
}

/// Returns the record of the first contender that satisfies the condition.
pub(crate) fn record_of<'o, W: Workload>(
    outcomes: &[Outcome<'o, W>],
    fits: impl Fn(&W::Contender) -> bool,
) -> Option<&'o W::Record> {
    let found = outcomes.iter().find(|(contender, _)| fits(contender));
    found.map(|(_, record)| *record)
}

/// Runs all stages, and adds their rows, and what was skipped and what failed, to the report.
pub(crate) fn run<W: Workload>(
    workload: &W,
    stages: &[Stage<W>],
    effort: impl Into<Effort>,
    report: &mut Report,
) {
    let effort = effort.into();
    let points = stages.iter().map(|stage| stage.points.len()).sum();
    let progress = progress(points);
    for stage in stages {
        let placement = stage.placement;
        let at = match placement.processors() {
            Ok(at) => at,
            Err(reason) => {
                report.skip(format!("{placement}: {reason}"));
                continue;
            }
        };
        progress.set_message(format!("{placement}: starting"));
        let mut field = Field::start(workload, stage, at, report);
        for point in &stage.points {
            progress.set_message(format!("{placement}: {point}"));
            let rows = field.compete(point, effort);
            report.add(workload.frame(point), rows);
            progress.inc(1);
        }
        field.stop(report);
    }
    progress.finish_and_clear();
}

/// Contenders of a stage whose processes are running.
struct Field<'s, W: Workload> {
    workload: &'s W,
    stage: &'s Stage<W>,
    at: Option<Processors>,
    /// Contenders, each with the index of its pair in `pairs`.
    entrants: Vec<(&'s W::Contender, usize)>,
    /// Pairs of processes; `None` where a pair has failed.
    pairs: Vec<Option<Pair>>,
    failed: Vec<String>,
}

impl<'s, W: Workload> Field<'s, W> {
    /// Starts the contenders; those that do not start are skipped, with their reasons.
    fn start(
        workload: &'s W,
        stage: &'s Stage<W>,
        at: Option<Processors>,
        report: &mut Report,
    ) -> Self {
        let mut field = Self {
            workload,
            stage,
            at,
            entrants: Vec::new(),
            pairs: Vec::new(),
            failed: Vec::new(),
        };
        let mut shared = None;
        for contender in &stage.contenders {
            let shares = workload.shares(contender);
            if let Some(place) = shared.filter(|_| shares) {
                field.entrants.push((contender, place));
                continue;
            }
            match workload.start(stage, contender, at) {
                Ok(pair) => {
                    let place = field.pairs.len();
                    field.entrants.push((contender, place));
                    field.pairs.push(Some(pair));
                    shared = shared.or(shares.then_some(place));
                }
                Err(reason) => report.skip(format!("{contender}: {reason}")),
            }
        }
        field
    }

    /// Measures a point and returns its rows: those of the attempt with the least noise.
    fn compete(&mut self, point: &W::Point, effort: Effort) -> Vec<Row> {
        for who in 0..self.entrants.len() {
            self.act(who, point, |workload, turn| workload.warm_up(turn));
        }
        let attempt = || {
            let records = self.rounds(point, effort.rounds);
            let contenders = self.entrants.iter().map(|(contender, _)| *contender);
            let outcomes: Vec<Outcome<'_, W>> = contenders.zip(&records).collect();
            self.workload.rows(self.stage, point, &outcomes)
        };
        calmest(effort.again, attempt, |rows| {
            let figures = rows.iter();
            Unrest::of(figures.map(|row| {
                let spread = row.number("spread").unwrap_or_default();
                (spread, !row.is_doubtful())
            }))
        })
    }

    /// Runs all rounds of a measurement point, and returns a record for each contender.
    fn rounds(&mut self, point: &W::Point, rounds: u32) -> Vec<W::Record> {
        let number = self.entrants.len();
        let mut records: Vec<W::Record> = Vec::new();
        records.resize_with(number, W::Record::default);
        for round in 0..rounds as usize {
            for who in in_turn(round, number) {
                let record = &mut records[who];
                self.act(who, point, |workload, turn| workload.turn(turn, record));
            }
        }
        records
    }

    /// Runs a step of a contender, if it takes part at this point. A contender that fails is
    /// excluded from all further turns.
    fn act(
        &mut self,
        who: usize,
        point: &W::Point,
        act: impl FnOnce(&W, Turn<'_, W>) -> Result<()>,
    ) {
        let (contender, place) = self.entrants[who];
        let Some(pair) = &mut self.pairs[place] else {
            return;
        };
        if !self.workload.suits(contender, point, pair) {
            return;
        }
        let turn = Turn {
            stage: self.stage,
            contender,
            point,
            at: self.at,
            pair,
        };
        if let Err(error) = act(self.workload, turn) {
            self.failed.push(format!("{contender}: {point}: {error}"));
            self.pairs[place] = None;
        }
    }

    /// Ends all server and client processes, and reports the failures.
    fn stop(mut self, report: &mut Report) {
        report.failed.append(&mut self.failed);
        for (contender, place) in self.entrants {
            let ended = self.pairs[place].take().map_or(Ok(()), Pair::stop);
            let failure = ended.err().map(|error| format!("{contender}: {error}"));
            report.failed.extend(failure);
        }
    }
}

/// Returns the order of turns in a round: the contender that begins rotates from round to round.
fn in_turn(round: usize, number: usize) -> impl Iterator<Item = usize> {
    (0..number).map(move |turn| (round + turn) % number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use std::process::Command;

    static EXPERIMENT: Experiment = Experiment::new("shell", "who answers");

    /// Contenders whose client processes are shell scripts that answer each line of input with the
    /// contender's name.
    struct Shells;

    impl Workload for Shells {
        type Setting = ();
        type Contender = &'static str;
        type Point = u32;
        type Record = u32;

        fn start(&self, _: &Stage<Self>, who: &&str, _: Option<Processors>) -> Result<Pair> {
            let shell = |script: String| {
                let mut command = Command::new("sh");
                command.args(["-c", &script]);
                command
            };
            let mut server = match *who {
                "absent" => shell("echo error it is not here".to_owned()),
                _ => shell("echo ready here; cat > /dev/null".to_owned()),
            };
            Pair::start(&mut server, |address| {
                shell(format!(
                    "echo ready {address}; while read line; do echo {who}; done"
                ))
            })
        }

        fn turn(&self, turn: Turn<'_, Self>, turns: &mut u32) -> Result<()> {
            turn.pair.ask(turn.point)?;
            *turns += 1;
            Ok(())
        }

        fn rows(&self, _: &Stage<Self>, point: &u32, outcomes: &[Outcome<'_, Self>]) -> Vec<Row> {
            let row = |(who, turns): &Outcome<'_, Self>| {
                let row = Row::default().with("contender", who);
                row.with("point", point).with("turns", turns)
            };
            outcomes.iter().map(row).collect()
        }
    }

    #[test]
    fn who_does_not_start_is_skipped_and_who_fails_is_out_from_then_on() {
        let contenders = ["done", "absent", "error no"];
        let stages = Stage::at_each(&[Placement::Unpinned], &contenders, &[1, 2]);
        let mut report = Report::new(&EXPERIMENT, Row::default());
        run(&Shells, &stages, 3, &mut report);
        assert_eq!(report.skipped, ["absent: server: it is not here"]);
        assert_eq!(report.failed, ["error no: 1: `1` failed: no"]);
        let turns: Vec<_> = report
            .rows()
            .iter()
            .map(|row| row.number("turns"))
            .collect();
        assert_eq!(turns, [Some(3.0), Some(0.0), Some(3.0), Some(0.0)]);
        assert!(report.verdict().is_err());
    }

    #[test]
    fn another_contender_begins_in_each_round() {
        let order = |round| in_turn(round, 3).collect::<Vec<_>>();
        assert_eq!(order(0), [0, 1, 2]);
        assert_eq!(order(1), [1, 2, 0]);
        assert_eq!(order(5), [2, 0, 1]);
    }
}
