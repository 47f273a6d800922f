//! Report of the figures: the paper's two tables with ours beside them, and each call from end to
//! end.

use super::end_to_end::Leg;
use super::paper;
use super::stages::{Stage, Stages};
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::{Figures, NOISY};
use crate::table::{Cell, Table, Tone};
use serde::Serialize;
use std::fmt;

/// Results of one run; times in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Case of the calls.
    pub case: String,
    /// Number of timed calls, for each contender.
    pub calls: u32,
    /// Cost of one stamp.
    pub stamp: f64,
    /// Length of the counter's tick.
    pub nanos_a_tick: f64,
    /// Set if the counter runs at one rate on all processors.
    pub invariant: bool,
    /// Parts left out, with the reasons.
    pub skipped: Vec<String>,
    /// Failures.
    pub failed: Vec<String>,
    /// Figures of each contender and placement.
    pub runs: Vec<Run>,
}

/// One contender at one placement.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Processors of client and server.
    pub placement: Placement,
    /// Contender of the run.
    pub contender: &'static str,
    /// Caller's times without probes.
    pub off: Figures,
    /// Caller's times with probes.
    pub on: Figures,
    /// Stages of the client.
    pub client: Stages,
    /// Stages of the server.
    pub server: Stages,
    /// Call from end to end; `None` where the processors' counters differ.
    pub legs: Option<Vec<Leg>>,
}

impl Run {
    /// Returns the name of its column or bar.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.contender, self.placement)
    }

    fn is_noisy(&self) -> bool {
        self.on.spread > NOISY || self.off.spread > NOISY
    }

    /// Returns the ratio of the client's stages, with their stamps, to the median of the caller's
    /// times.
    fn agreement(&self) -> f64 {
        self.client.whole / self.on.p50()
    }
}

impl Figures {
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn p50(&self) -> f64 {
        self.p50 as f64
    }
}

/// Function that selects one side of a run.
type OfSide = fn(&Run) -> &Stages;
/// Function that returns a figure of a side.
type OfBoth = fn(&Run, &Stages) -> f64;
/// Function that returns a cell of a run's column.
type OfRun = fn(&Run) -> Cell;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        writeln!(
            f,
            "{}, {} calls; means of the middle half of them. A stamp costs {:.1} ns, which is taken off in \
             each stage. ! the rounds lay more than {:.0} % apart\n",
            self.case,
            self.calls,
            self.stamp,
            NOISY * 100.0
        )?;
        if !self.runs.is_empty() {
            let client = self.table("client (table 1), ns", |run| &run.client);
            let server = self.table("server (table 2), ns", |run| &run.server);
            writeln!(f, "{client}\n{server}\n{}", self.whole())?;
            writeln!(f, "{}", paper::REMARKS)?;
        }
        if !self.invariant {
            let warning =
                "this processor's counter changes its rate: the times are not to be trusted";
            writeln!(f, "{warning}")?;
        }
        if self.runs.iter().any(|run| run.legs.is_none()) {
            let differ = "the processors' counters differ: no call was followed from end to end";
            writeln!(f, "{differ}")?;
        }
        for reason in &self.skipped {
            writeln!(f, "left out: {reason}")?;
        }
        for reason in &self.failed {
            writeln!(f, "failed: {reason}")?;
        }
        Ok(())
    }
}

impl Report {
    fn table(&self, title: &str, side: OfSide) -> Table {
        let runs = self
            .runs
            .iter()
            .flat_map(|run| [run.name(), "%".to_owned()]);
        let columns = runs
            .chain(["paper, µs".to_owned(), "%".to_owned()])
            .collect();
        let first = self.runs.first().map(side);
        let lines = first.map_or(&[][..], |stages| &stages.stages);
        let rows = lines.iter().enumerate().map(|(at, line)| {
            let name = format!("{:>2} {}", line.number, line.name);
            (name, self.row(at, line, side))
        });
        Table {
            title: title.to_owned(),
            columns,
            rows: rows.chain(self.sums(side)).collect(),
        }
    }

    /// Returns the sums of the stages, and the expected values.
    fn sums(&self, side: OfSide) -> [(String, Vec<Cell>); 5] {
        let first = self.runs.first().map(side);
        let line = |name: &str, value: OfBoth, paper: Option<fn(&Stages) -> f64>| {
            let of = |run: &Run| {
                let value = format!("{:.0}", value(run, side(run)));
                [plain(value), Cell::default()]
            };
            let theirs = paper.and_then(|paper| first.map(paper));
            let theirs = theirs.map(|micros| plain(format!("{micros:.2}")));
            let cells = self.runs.iter().flat_map(of).chain(theirs).collect();
            (format!("   {name}"), cells)
        };
        let all: fn(&Stages) -> f64 = Stages::paper;
        let own: fn(&Stages) -> f64 = Stages::paper_of_the_orb;
        [
            line("all but I/O", |_, stages| stages.of_the_orb(), Some(own)),
            line("all stages", |_, stages| stages.sum, Some(all)),
            line("their stamps", |_, stages| stages.stamps, None),
            line("whole, by stamps", |_, stages| stages.whole, None),
            line("whole, by the caller (p50)", |run, _| run.on.p50(), None),
        ]
    }

    fn row(&self, at: usize, line: &Stage, side: OfSide) -> Vec<Cell> {
        let of = |run: &Run| {
            let stages = side(run);
            match stages.stages.get(at).filter(|stage| stage.stamps > 0.0) {
                Some(stage) => [
                    plain(format!("{:.0}", stage.time)),
                    plain(percent(stages.share(stage))),
                ],
                None => [Cell::none(), Cell::none()],
            }
        };
        let paper = self.runs.first().map_or(0.0, |run| side(run).paper());
        let theirs = match line.paper {
            Some(micros) => [
                plain(format!("{micros:.2}")),
                plain(percent(micros / paper)),
            ],
            None => [Cell::none(), Cell::none()],
        };
        self.runs.iter().flat_map(of).chain(theirs).collect()
    }

    /// Returns the table from end to end, with the agreement of the stages with the caller's times.
    fn whole(&self) -> Table {
        let mut rows: Vec<(String, Vec<Cell>)> = Vec::new();
        let legs = self.runs.iter().filter_map(|run| run.legs.as_ref()).next();
        for (at, leg) in legs.into_iter().flatten().enumerate() {
            let of = |run: &Run| {
                let time = run.legs.as_ref().and_then(|legs| legs.get(at));
                time.map_or_else(Cell::none, |leg| plain(format!("{:.0}", leg.time)))
            };
            rows.push((leg.name.to_owned(), self.runs.iter().map(of).collect()));
        }
        let together = |run: &Run| {
            let legs = run.legs.as_ref();
            let sum = legs.map(|legs| legs.iter().map(|leg| leg.time).sum::<f64>());
            sum.map_or_else(Cell::none, |sum| plain(format!("{sum:.0}")))
        };
        rows.push((
            "all of these".to_owned(),
            self.runs.iter().map(together).collect(),
        ));
        let lines: [(&str, OfRun); 4] = [
            ("the caller, probes on", |run| timed(run, &run.on)),
            ("the caller, probes off", |run| timed(run, &run.off)),
            ("what the probes cost", |run| {
                plain(format!("{:.0}", run.on.median - run.off.median))
            }),
            ("client's stages ÷ caller", |run| {
                plain(format!("{:.3}", run.agreement()))
            }),
        ];
        for (name, cell) in lines {
            rows.push((name.to_owned(), self.runs.iter().map(cell).collect()));
        }
        Table {
            title: "one call from end to end, stamps included, ns".to_owned(),
            columns: self.runs.iter().map(Run::name).collect(),
            rows,
        }
    }
}

fn timed(run: &Run, figures: &Figures) -> Cell {
    let text = format!("{:.0}", figures.p50());
    match run.is_noisy() {
        true => Cell::new(format!("! {text}"), Tone::Doubtful),
        false => plain(text),
    }
}

fn plain(text: String) -> Cell {
    Cell::new(text, Tone::Plain)
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}
