//! Plot of the table: a bar for each line, whose length is the share of the goal used, and a mark
//! at the goal.

use crate::Result;
use crate::drawing::{Area, not_drawn, sheet, write};
use crate::experiment::{Report, Row, shown};
use crate::machine::Machine;
use plotters::prelude::*;
use std::path::Path;

/// Sizes in pixels: the height of a line, the margin, the width of the text, and the width of the
/// picture.
const LINE: i32 = 22;
const MARGIN: i32 = 16;
const WORDS: i32 = 520;
const WIDTH: i32 = 1320;
/// Length in pixels of a bar whose figure equals its goal.
const GOAL: f64 = 200.0;
/// Upper bound of a bar's length, as a multiple of the goal.
const LONGEST: f64 = 2.2;

const REACHED: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const MISSED: RGBColor = RGBColor(0xd5, 0x5e, 0x00);

/// Colour of a bar whose figure is not known.
const NOT_KNOWN: RGBColor = RGBColor(0xbb, 0xbb, 0xbb);

/// Draws the goals with their figures as a picture.
pub(super) fn draw(report: &Report, path: &Path) -> Result<()> {
    let rows = report.frame("lines");
    let lines = i32::try_from(rows.len())?;
    let height = MARGIN * 2 + LINE * (lines + 1);
    let size = (u32::try_from(WIDTH)?, u32::try_from(height)?);
    sheet(path, size, |area| draw_on(area, rows, lines))
}

fn draw_on(area: &Area<'_>, rows: &[Row], lines: i32) -> Result<()> {
    let text = |words: &str, left: i32, top: i32| write(area, words, 14, (left, top));
    let title = format!("{} (shorter is better)", Machine::this());
    text(&title, MARGIN, MARGIN)?;
    let goal = WORDS + pixels(1.0);
    for (line, row) in rows.iter().enumerate() {
        let top = MARGIN + LINE * (i32::try_from(line)? + 1);
        text(&row.text("what"), MARGIN, top)?;
        let end = WORDS + pixels(row.number("share").unwrap_or_default());
        let colour = match row.text("verdict").as_str() {
            "ok" => REACHED,
            "not_known" => NOT_KNOWN,
            _ => MISSED,
        };
        let bar = Rectangle::new([(WORDS, top), (end, top + LINE - 6)], colour.filled());
        area.draw(&bar).map_err(not_drawn)?;
        text(&label(row), end.max(goal) + 8, top)?;
    }
    let bottom = MARGIN + LINE * (lines + 1);
    let mark = PathElement::new([(goal, MARGIN + LINE - 4), (goal, bottom)], BLACK);
    area.draw(&mark).map_err(not_drawn)
}

fn label(row: &Row) -> String {
    let goal = row.text("goal");
    match row.number("reached") {
        Some(reached) if row.flag("noisy") => {
            format!("not known: {}! (goal {goal})", shown(reached))
        }
        Some(reached) => format!("{} (goal {goal})", shown(reached)),
        None => format!("absent (goal {goal})"),
    }
}

#[allow(clippy::cast_possible_truncation)]
fn pixels(share: f64) -> i32 {
    // The value is far below the limit of an i32.
    (share.clamp(0.0, LONGEST) * GOAL) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_never_longer_than_its_space() {
        assert_eq!(pixels(f64::INFINITY), pixels(LONGEST));
        assert_eq!(pixels(1.0), 200);
        assert!(WORDS + pixels(LONGEST) < WIDTH);
    }
}
