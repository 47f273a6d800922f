//! Whole picture: title, rows, axis, numbers, legend.

use super::frame::{MARGIN, WIDTH, framed};
use super::lane::{HEIGHT, Lane};
use super::legend;
use super::markup::{Markup, shortened};
use super::ran::Ran;
use super::rows::{Group, Rows, name};
use super::scale::Scale;
use super::{Options, window};
use crate::model::Model;
use crate::plan::{Plan, Verdict};
use crate::time::Time;
use crate::timeline::{MOST_EVENTS, Slice, Timeline};

/// Width of the names.
const NAMES: f64 = 204.0;
/// Width of the axis.
const AXIS: u32 = 900;
/// Width of a column of numbers.
const COLUMN: f64 = 84.0;
/// Height of the title and of the heads of the columns.
const TOP: f64 = 84.0;
/// Height of the title of a group.
const GROUP: f64 = 26.0;
/// Height of the axis with its labels.
const LABELS: f64 = 24.0;

/// Draws a plan.
pub(super) fn draw(model: &Model, plan: &Plan, options: &Options) -> String {
    let rows = Rows::of(plan, options);
    let timeline = window::simulated(model, plan, &rows, options);
    let scale = Scale {
        left: MARGIN + NAMES,
        width: AXIS,
        until: timeline.until,
    };
    let drawn = || rows.streams().map(|at| plan.streams[at].operation.as_str());
    let picture = Picture {
        plan,
        slices: by_stream(plan, &timeline),
        timeline,
        scale,
        ran: options.ran.as_ref().map(|ran| Ran::of(ran, drawn())),
    };
    let mut body = Markup::default();
    let heights = rows.groups.iter().map(|group| picture.height(group));
    let rows_end = TOP + heights.sum::<f64>();
    picture.head(&mut body);
    picture.axis(&mut body, rows_end);
    let mut top = TOP;
    for group in &rows.groups {
        picture.group(&mut body, group, top);
        top += picture.height(group);
    }
    let bottom = picture.foot(&mut body, &rows, rows_end + LABELS);
    framed(&title(plan), bottom, &body.into_text())
}

/// Returns the title of a plan's picture.
pub(super) fn title(plan: &Plan) -> String {
    format!("Schedule by {}", plan.strategy)
}

/// Returns the slices of each stream.
fn by_stream(plan: &Plan, timeline: &Timeline) -> Vec<Vec<Slice>> {
    let mut slices = vec![Vec::new(); plan.streams.len()];
    for slice in timeline.processors.iter().flatten() {
        slices[slice.stream].push(*slice);
    }
    for own in &mut slices {
        own.sort_by_key(|slice: &Slice| (slice.job, slice.from));
    }
    slices
}

struct Picture<'p> {
    plan: &'p Plan,
    timeline: Timeline,
    /// Slices of each stream, by job.
    slices: Vec<Vec<Slice>>,
    scale: Scale,
    ran: Option<Ran<'p>>,
}

impl Picture<'_> {
    fn height(&self, group: &Group) -> f64 {
        let rows = group.streams.iter();
        GROUP + rows.fold(0.0, |height, _| height + self.row_height())
    }

    /// Returns the height of a row, with what ran below it.
    fn row_height(&self) -> f64 {
        match self.ran {
            Some(_) => 2.0 * HEIGHT,
            None => HEIGHT,
        }
    }

    fn head(&self, markup: &mut Markup) {
        markup.text("title", (MARGIN, 30.0), &title(self.plan));
        let class = if self.plan.fits() { "fits" } else { "fails" };
        markup.text(class, (MARGIN, 52.0), &verdict(self.plan));
        let last = TOP - 14.0;
        for (column, [above, below]) in [
            ["worst", "response"],
            ["longest", "in this run"],
            ["", "deadline"],
        ]
        .into_iter()
        .enumerate()
        {
            let x = self.column(column);
            markup.text("head", (x, last - 14.0), above);
            markup.text("head", (x, last), below);
        }
    }

    /// Returns the right edge of a column of numbers.
    fn column(&self, number: usize) -> f64 {
        (0..=number).fold(self.scale.right(), |edge, _| edge + COLUMN)
    }

    fn axis(&self, markup: &mut Markup, bottom: f64) {
        for tick in self.scale.ticks() {
            let x = self.scale.x(tick);
            markup.text("tick", (x, bottom + 18.0), &tick.to_string());
        }
    }

    fn grid(&self, markup: &mut Markup, top: f64, bottom: f64) {
        for tick in self.scale.ticks() {
            let x = self.scale.x(tick);
            markup.line("grid", (x, top), (x, bottom));
        }
    }

    fn group(&self, markup: &mut Markup, group: &Group, top: f64) {
        markup.text("group", (MARGIN, top + 18.0), &group.title);
        self.grid(markup, top + GROUP, top + self.height(group) + 4.0);
        let mut top = top + GROUP;
        for &stream in &group.streams {
            self.row(markup, stream, top);
            self.ran_below(markup, stream, top + HEIGHT);
            top += self.row_height();
        }
    }

    fn row(&self, markup: &mut Markup, stream: usize, top: f64) {
        let name = name(self.plan, stream);
        let lane = self.lane(&name, stream, top);
        markup.open("row", &name);
        markup.text("name", (MARGIN + 12.0, top + 25.0), &shortened(&name));
        self.numbers(markup, stream, top + 25.0);
        markup.close();
        lane.base_line(markup);
        self.jobs(markup, &lane, stream);
    }

    /// Draws what ran of the stream's operation, whose jobs are those of all its streams.
    fn ran_below(&self, markup: &mut Markup, stream: usize, top: f64) {
        let planned = &self.plan.streams[stream];
        if let Some(ran) = &self.ran {
            let lane = self.lane(&planned.operation, stream, top);
            markup.text("note", (MARGIN + 24.0, top + 25.0), "what ran");
            ran.draw(markup, &lane, (&planned.operation, planned.deadline));
        }
    }

    /// Draws the jobs of a stream; some have no slices, as they take no time or have not begun.
    fn jobs(&self, markup: &mut Markup, lane: &Lane<'_>, stream: usize) {
        let slices = &self.slices[stream];
        let jobs = self.timeline.jobs.iter().enumerate();
        let own = jobs.filter(|(_, job)| job.stream == stream);
        for (index, job) in own.clone() {
            let from = slices.partition_point(|slice| slice.job < index);
            let to = slices.partition_point(|slice| slice.job <= index);
            lane.job(markup, job, &slices[from..to]);
        }
        for (_, job) in own.clone() {
            lane.release(markup, job);
        }
        for (_, job) in own {
            lane.deadline(markup, job);
        }
    }

    fn lane<'n>(&self, name: &'n str, stream: usize, top: f64) -> Lane<'n> {
        let planned = &self.plan.streams[stream];
        let all = self.plan.streams.iter();
        let chain = all.clone().position(|one| one.operation == planned.source);
        Lane {
            name,
            chain: chain.unwrap_or(stream),
            period: planned.period,
            top,
            scale: self.scale,
        }
    }

    fn numbers(&self, markup: &mut Markup, stream: usize, y: f64) {
        let planned = &self.plan.streams[stream];
        let state = match planned.verdict {
            Verdict::LeftOut => Some("left out"),
            Verdict::NeverReleased => Some("never released"),
            Verdict::Fits | Verdict::Misses => None,
        };
        if let Some(state) = state {
            markup.text("over", (self.column(1), y), state);
        } else {
            let shown = |time: Option<Time>, none: &str| {
                time.map_or_else(|| none.to_owned(), |time| time.to_string())
            };
            let class = |is_over| if is_over { "over" } else { "number" };
            let misses = planned.verdict == Verdict::Misses;
            let response = shown(planned.response, "no bound");
            markup.text(class(misses), (self.column(0), y), &response);
            let longest = self.timeline.worst[stream];
            let is_late = longest > Some(planned.deadline);
            markup.text(class(is_late), (self.column(1), y), &shown(longest, "none"));
        }
        let deadline = planned.deadline.to_string();
        markup.text("number", (self.column(2), y), &deadline);
    }

    /// Draws the legend and the notes; returns the height of the picture.
    fn foot(&self, markup: &mut Markup, rows: &Rows, top: f64) -> f64 {
        let place = (MARGIN, top + 24.0);
        let mut y = legend::symbols(
            markup,
            (&self.timeline, self.ran.is_some()),
            place,
            WIDTH - 2.0 * MARGIN,
        );
        for note in self.notes(rows) {
            markup.text("note", (MARGIN, y), &note);
            y += legend::LINE;
        }
        y
    }

    fn notes(&self, rows: &Rows) -> Vec<String> {
        let mut notes = vec![
            "One run from the first releases: worst-case execution times, no release jitter, critical \
             sections at the start of each job. Worst responses are computed for all runs."
                .to_owned(),
        ];
        let is_dense = |stream: usize| !self.lane("", stream, 0.0).has_arrows();
        if rows.streams().any(is_dense) {
            notes.push(
                "Rows whose jobs are very close have no arrows; choose a shorter window.".into(),
            );
        }
        notes.extend(self.notes_on_ran(rows));
        if rows.hidden > 0 {
            let hidden = rows.hidden;
            notes.push(format!(
                "{hidden} more rows are not drawn; choose operations by their names."
            ));
        }
        if self.timeline.is_cut {
            let until = self.timeline.until;
            notes.push(format!(
                "The simulation was cut at {until}, after {MOST_EVENTS} events."
            ));
        }
        notes
    }
}

impl Picture<'_> {
    fn notes_on_ran(&self, rows: &Rows) -> Vec<String> {
        let Some(ran) = &self.ran else {
            return Vec::new();
        };
        let mut notes = vec![
            "What ran begins with the first recorded request; its releases are not those of the simulation. It has no \
             execution times."
                .to_owned(),
        ];
        let until = self.scale.until;
        let is_cut = |at: usize| ran.is_cut(&self.plan.streams[at].operation, until);
        if rows.streams().any(is_cut) {
            notes.push(
                "Rows with very many recorded jobs show the first; choose a shorter window.".into(),
            );
        }
        notes
    }
}

/// Returns the verdict on a plan in words.
fn verdict(plan: &Plan) -> String {
    if plan.fits() {
        return "Fits: every job ends by its deadline.".to_owned();
    }
    let all = plan.streams.len();
    let count = |verdict| {
        let streams = plan.streams.iter();
        streams.filter(|stream| stream.verdict == verdict).count()
    };
    let misses = count(Verdict::Misses);
    let left_out = count(Verdict::LeftOut) + count(Verdict::NeverReleased);
    let mut parts = Vec::new();
    if misses > 0 {
        let whose = if misses == 1 {
            "its deadline"
        } else {
            "their deadlines"
        };
        parts.push(format!("{misses} of {all} streams may miss {whose}"));
    }
    if left_out > 0 {
        let are = if left_out == 1 { "is" } else { "are" };
        parts.push(format!("{left_out} of {all} streams {are} left out"));
    }
    format!("Does not fit: {}.", parts.join(", "))
}
