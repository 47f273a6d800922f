//! Picture of measured response times: of each operation their distribution, beside the computed bound.
//!
//! The axis of a row ends at the deadline. Heights are logarithmic, so that a single job is seen.

use super::MOST_ROWS;
use super::frame::{MARGIN, WIDTH, framed};
use super::markup::{Markup, shortened};
use crate::time::Time;

/// Measured response times of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Name of the operation.
    pub operation: String,
    /// Number of jobs.
    pub jobs: u64,
    /// Number of jobs that ended after their deadline.
    pub missed: u64,
    /// Longest response time.
    pub longest: Time,
    /// Computed worst-case response time; `None` without bound.
    pub computed: Option<Time>,
    /// Deadline.
    pub deadline: Time,
    /// Width of the classes of `counts`.
    pub class: Time,
    /// Number of response times in each class, from zero on; the last one has the longer ones, too.
    pub counts: Vec<u64>,
}

/// Width of the names.
const NAMES: f64 = 204.0;
/// Width of the axis up to the deadline.
const AXIS: f64 = 724.0;
/// Width of the axis behind the deadline.
const BEHIND: f64 = 36.0;
/// Width of a column of numbers.
const COLUMN: f64 = 84.0;
/// Height of the title and of the heads of the columns.
const TOP: f64 = 96.0;
/// Height of a row, and of its bars.
const ROW: f64 = 64.0;
const BARS: f64 = 46.0;

/// Draws the measured response times of operations, the first [`MOST_ROWS`] of them; `note` says how they were
/// measured.
#[must_use]
pub fn responses(title: &str, note: &str, operations: &[Measured]) -> String {
    let mut markup = Markup::default();
    head(&mut markup, title, note);
    let mut base = TOP + BARS;
    for one in operations.iter().take(MOST_ROWS) {
        row(&mut markup, one, base);
        base += ROW;
    }
    let bottom = base - BARS;
    axis(&mut markup, bottom);
    legend(&mut markup, bottom + 44.0);
    let left_out = operations.len().saturating_sub(MOST_ROWS);
    if left_out > 0 {
        let text = format!("{left_out} more operations are not drawn");
        markup.text("note", (MARGIN, bottom + 68.0), &text);
    }
    framed(title, bottom + 80.0, &markup.into_text())
}

fn head(markup: &mut Markup, title: &str, note: &str) {
    markup.text("title", (MARGIN, 30.0), title);
    markup.text("note", (MARGIN, 52.0), note);
    let heads = ["jobs", "missed", "longest", "computed", "deadline"];
    for (column, text) in heads.into_iter().enumerate() {
        markup.text("head", (number_at(column), TOP - 14.0), text);
    }
}

fn row(markup: &mut Markup, one: &Measured, base: f64) {
    markup.open("row", &one.operation);
    markup.text("group", (MARGIN, base - 8.0), &shortened(&one.operation));
    markup.line("base", (left(), base), (right(), base));
    let highest = one.counts.iter().copied().max().unwrap_or(0);
    for (class, &count) in (0..).zip(&one.counts) {
        if count > 0 {
            let (from, to) = (x(one, one.class * class), x(one, one.class * (class + 1)));
            let is_late = one.class * class >= one.deadline;
            let height = BARS * logarithm(count) / logarithm(highest).max(1.0);
            let style = if is_late { "run late" } else { "run c0" };
            markup.rect(style, (from, base - height), ((to - from).max(1.0), height));
        }
    }
    let mark = |markup: &mut Markup, class, time| {
        let x = x(one, time);
        markup.line(class, (x, base - BARS - 4.0), (x, base + 4.0));
    };
    if let Some(computed) = one.computed {
        mark(markup, "deadline", computed);
    }
    mark(markup, "mark", one.longest);
    markup.close();
    let is_late = one.computed.is_none_or(|computed| one.longest > computed);
    let longest = if is_late { "over" } else { "number" };
    let missed = if one.missed > 0 { "over" } else { "number" };
    let computed = one.computed.map_or("-".to_owned(), shown);
    let numbers = [
        ("number", one.jobs.to_string()),
        (missed, one.missed.to_string()),
        (longest, shown(one.longest)),
        ("number", computed),
        ("number", shown(one.deadline)),
    ];
    for (column, (class, text)) in numbers.into_iter().enumerate() {
        markup.text(class, (number_at(column), base - 8.0), &text);
    }
}

fn axis(markup: &mut Markup, bottom: f64) {
    for tenth in 0..=10_u8 {
        let x = left() + AXIS * f64::from(tenth) / 10.0;
        markup.line("grid", (x, TOP - 4.0), (x, bottom));
        let text = format!("{} %", u32::from(tenth) * 10);
        markup.text("tick", (x, bottom + 16.0), &text);
    }
    markup.text("note", (right() + 8.0, bottom + 16.0), "of the deadline");
}

fn legend(markup: &mut Markup, y: f64) {
    let (mut x, middle) = (left(), y - 4.0);
    markup.rect("run c0", (x, y - 11.0), (24.0, 14.0));
    markup.text(
        "note",
        (x + 32.0, y),
        "measured response times, logarithmic",
    );
    x += 290.0;
    for (class, text) in [("mark", "longest measured"), ("deadline", "computed bound")] {
        markup.line(class, (x + 12.0, middle - 9.0), (x + 12.0, middle + 9.0));
        markup.text("note", (x + 22.0, y), text);
        x += 160.0;
    }
}

const fn left() -> f64 {
    MARGIN + NAMES
}

const fn right() -> f64 {
    left() + AXIS + BEHIND
}

/// Returns the right end of a column of numbers.
fn number_at(column: usize) -> f64 {
    let from_the_right = (column..4).fold(0.0, |width, _| width + COLUMN);
    WIDTH - MARGIN - from_the_right
}

/// Returns the place of a response time; those far behind the deadline are at the end of the axis.
fn x(one: &Measured, time: Time) -> f64 {
    (left() + AXIS * time.ratio(one.deadline.max(Time::from_nanos(1)))).min(right())
}

/// Returns a height that is one for a single job.
#[expect(clippy::cast_precision_loss, reason = "a height of a picture")]
fn logarithm(count: u64) -> f64 {
    1.0 + (count.max(1) as f64).log10()
}

/// Returns a time in whole microseconds, rounded up.
fn shown(time: Time) -> String {
    Time::from_micros(time.as_nanos().div_ceil(1_000)).to_string()
}
