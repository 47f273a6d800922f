//! Legend below the rows.

use super::markup::Markup;
use crate::timeline::{Activity, Timeline};

/// Height of a line of the legend.
pub(super) const LINE: f64 = 20.0;

/// Symbol of the legend, by its drawing in the rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Bar(&'static str),
    LowBar(&'static str),
    Line(&'static str),
    Release,
    Deadline,
    Missed,
}

/// Draws the symbols that occur, in lines of the given width; returns the height below them.
pub(super) fn symbols(
    markup: &mut Markup,
    (timeline, has_run): (&Timeline, bool),
    (left, top): (f64, f64),
    width: f64,
) -> f64 {
    let (mut x, mut y) = (left, top);
    for (symbol, text) in entries(timeline, has_run) {
        let length = 34.0 + 6.6 * text.chars().fold(0.0, |count, _| count + 1.0) + 14.0;
        if x + length > left + width && x > left {
            (x, y) = (left, y + LINE);
        }
        draw(markup, symbol, (x, y));
        markup.text("note", (x + 34.0, y), text);
        x += length;
    }
    y + LINE
}

fn entries(timeline: &Timeline, has_run: bool) -> Vec<(Symbol, &'static str)> {
    let occurs = |activity| {
        let mut slices = timeline.processors.iter().flatten();
        slices.any(|slice| slice.activity == activity)
    };
    let is_late = timeline.missed().next().is_some();
    let all = [
        (true, Symbol::Bar("run c0"), "running; one colour a chain"),
        (
            has_run,
            Symbol::Bar("ran c0"),
            "ran: from the upcall's begin to its end, waits included",
        ),
        (true, Symbol::Line("wait"), "ready, waits"),
        (
            occurs(Activity::Blocked),
            Symbol::LowBar("blocked"),
            "blocked by a lower level",
        ),
        (
            occurs(Activity::Awaiting),
            Symbol::Line("awaits"),
            "awaits a reply",
        ),
        (true, Symbol::Release, "release"),
        (true, Symbol::Deadline, "deadline"),
        (is_late, Symbol::Missed, "missed deadline"),
        (
            is_late,
            Symbol::Bar("run late"),
            "running after the deadline",
        ),
    ];
    let shown = all.into_iter().filter(|(is_shown, ..)| *is_shown);
    shown.map(|(_, symbol, text)| (symbol, text)).collect()
}

fn draw(markup: &mut Markup, symbol: Symbol, (x, y): (f64, f64)) {
    let middle = y - 4.0;
    let centre = x + 18.0;
    let (top, bottom) = (y - 13.0, y + 3.0);
    match symbol {
        Symbol::Bar(class) => markup.rect(class, (x + 4.0, y - 11.0), (24.0, 14.0)),
        Symbol::LowBar(class) => markup.rect(class, (x + 4.0, y - 7.5), (24.0, 7.0)),
        Symbol::Line(class) => markup.line(class, (x + 4.0, middle), (x + 28.0, middle)),
        Symbol::Release => markup.arrow("release", centre, (bottom, top)),
        Symbol::Deadline => markup.arrow("deadline", centre, (top, bottom)),
        Symbol::Missed => {
            markup.arrow("deadline missed", centre, (top, bottom));
            markup.cross("mark", (centre, top + 1.0));
        }
    }
}
