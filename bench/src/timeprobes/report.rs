//! Report of the figures: the paper's two tables with ours beside them, and each call from end to
//! end.

use super::end_to_end::Leg;
use super::paper;
use super::stages::{Stage, Stages};
use crate::experiment::{Chart, Column, Experiment, Report, Row, Sheet, Tabled};
use crate::placement::Placement;
use crate::statistics::{Figures, NOISY};
use serde::Serialize;

pub(crate) static EXPERIMENT: Experiment =
    Experiment::new("timeprobes", "where the time of one call goes, by stages")
        .reproduces("Schmidt et al. 2001, tables 1 and 2")
        .frames(&["runs", "stages"])
        .conditions(
            "{case}, {calls} calls; means of the middle half of them. A stamp costs \
        {stamp} ns, which is taken off in each stage; the counter's rate is \
        constant: {invariant}",
        )
        .tables(&[
            Tabled::matrix(
                "stages",
                "{side}: ns, and the paper's µs",
                ("what", "run"),
                Column::figure("", "time"),
            )
            .each(&["side"]),
            Tabled::matrix(
                "stages",
                "{side}: % of all stages",
                ("what", "run"),
                Column::percent("", "share"),
            )
            .each(&["side"])
            .only(|row| row.get("share").is_some()),
        ])
        .sheet(Sheet::new(
            (1140, 360),
            1,
            &[
                Chart::stacked(
                    "stages",
                    "one call from end to end, {placement}, ns",
                    ("run", "what"),
                    "time",
                    false,
                )
                .each(&["placement"])
                .only(|row| row.is("side", END_TO_END) && row.flag("part")),
                Chart::stacked(
                    "stages",
                    "{side}: all of it, ns, and the paper's µs",
                    ("run", "what"),
                    "time",
                    true,
                )
                .each(&["side"])
                .only(of_a_side),
                Chart::stacked(
                    "stages",
                    "{side}: without I/O, ns, and the paper's µs",
                    ("run", "what"),
                    "time",
                    true,
                )
                .each(&["side"])
                .only(|row| of_a_side(row) && !row.text("what").contains("I/O")),
            ],
        ))
        .remarks(&[paper::REMARKS]);

/// Returns whether a row shows a stage of the client or the server.
fn of_a_side(row: &Row) -> bool {
    row.flag("part") && !row.is("side", END_TO_END)
}

/// Measured times of one contender at one placement of client and server.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Run {
    /// Placement of client and server on processors.
    pub(super) placement: Placement,
    /// Name of the measured contender.
    pub(super) contender: &'static str,
    /// Call times that the client measured with probes off.
    pub(super) off: Figures,
    /// Call times that the client measured with probes on.
    pub(super) on: Figures,
    /// Times of the call stages at the client.
    pub(super) client: Stages,
    /// Times of the call stages at the server.
    pub(super) server: Stages,
    /// Call from end to end; `None` where the processors' counters differ.
    pub(super) legs: Option<Vec<Leg>>,
}

impl Run {
    /// Returns the name under which the run appears as a column or a bar.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.contender, self.placement)
    }

    fn row(&self) -> Row {
        Row::default()
            .with("placement", self.placement)
            .with("contender", self.contender)
            .with("off", Row::default().with_figures(&self.off))
            .with("on", Row::default().with_figures(&self.on))
            .with("client", &self.client)
            .with("server", &self.server)
            .with("legs", &self.legs)
            .with("noisy", self.on.spread > NOISY || self.off.spread > NOISY)
    }

    /// Returns the lines of the client's or the server's table: the stages, their sums, and for
    /// comparison the whole call as measured by stamps and by the caller.
    #[allow(clippy::cast_precision_loss)]
    fn side(&self, name: &'static str, side: &Stages) -> Vec<Row> {
        let column = self.name();
        let line = |what: &str, time: f64| line(name, what, &column, Some(time));
        let stages = side.stages.iter().filter(|stage| stage.stamps > 0.0);
        let stages = stages.map(|stage| {
            line(&titled(stage), stage.time)
                .with("share", side.share(stage))
                .with("part", true)
        });
        let sums = [
            line("all but I/O", side.of_the_orb()),
            line("all stages", side.sum),
            line("their stamps", side.stamps),
            line("whole, by stamps", side.whole),
            line("whole, by the caller (p50)", self.on.p50 as f64),
        ];
        stages.chain(sums).collect()
    }

    /// Returns the lines of the end-to-end table: the parts of the path, their sum, and the times
    /// that the caller measured with probes on and off.
    #[allow(clippy::cast_precision_loss)]
    fn end_to_end(&self) -> Vec<Row> {
        let column = self.name();
        let line = |what: &str, time| line(END_TO_END, what, &column, time);
        let legs = self.legs.iter().flatten();
        let sum = self.legs.as_ref();
        let sum = sum.map(|legs| legs.iter().map(|leg| leg.time).sum::<f64>());
        let p50 = |figures: &Figures| Some(figures.p50 as f64);
        let sums = [
            line("all of these", sum),
            line("the caller, probes on", p50(&self.on)),
            line("the caller, probes off", p50(&self.off)),
            line(
                "what the probes cost",
                Some(self.on.median - self.off.median),
            ),
            line(
                "client's stages ÷ caller",
                Some(self.client.whole / self.on.p50 as f64),
            ),
        ];
        let legs = legs.map(|leg| line(leg.name, Some(leg.time)).with("part", true));
        let at = |row: Row| row.with("placement", self.placement);
        legs.chain(sums).map(at).collect()
    }
}

/// Title of the end-to-end table.
pub(crate) const END_TO_END: &str = "one call from end to end, stamps included";

fn titled(stage: &Stage) -> String {
    format!("{:>2} {}", stage.number, stage.name)
}

fn line(side: &str, what: &str, run: &str, time: Option<f64>) -> Row {
    Row::default()
        .with("side", side)
        .with("what", what)
        .with("run", run)
        .with("time", time)
}

/// Returns the column with the paper's figures in a side's table, in microseconds.
fn papers(name: &str, side: &Stages) -> Vec<Row> {
    let line = |what: &str, time| line(name, what, "paper, µs", time);
    let stages = side.stages.iter().map(|stage| {
        let share = stage.paper.map(|micros| micros / side.paper());
        line(&titled(stage), stage.paper)
            .with("share", share)
            .with("part", stage.paper.is_some())
    });
    let sums = [
        line("all but I/O", Some(side.paper_of_the_orb())),
        line("all stages", Some(side.paper())),
    ];
    stages.chain(sums).collect()
}

/// Function that selects the client's or the server's stages of a run.
type OfSide = fn(&Run) -> &Stages;

/// Adds the runs, and the lines of the tables, to the report.
pub(super) fn add(report: &mut Report, runs: &[Run]) {
    report.add("runs", runs.iter().map(Run::row));
    let sides: [(&str, OfSide); 2] = [
        ("client (table 1)", |run| &run.client),
        ("server (table 2)", |run| &run.server),
    ];
    for (name, side) in sides {
        report.add(
            "stages",
            runs.iter().flat_map(|run| run.side(name, side(run))),
        );
        report.add(
            "stages",
            runs.first()
                .into_iter()
                .flat_map(|run| papers(name, side(run))),
        );
    }
    report.add("stages", runs.iter().flat_map(Run::end_to_end));
    if runs.iter().any(|run| run.legs.is_none()) {
        report.skip("the processors' counters differ: no call was followed from end to end");
    }
}
