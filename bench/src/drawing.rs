//! Common parts of the plots: sheets of charts, text, entries of a legend.

use crate::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// Rectangular part of an SVG picture.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Returns the error for a picture that cannot be drawn.
pub(crate) fn not_drawn(error: impl Display) -> Error {
    format!("the plot cannot be drawn: {error}").into()
}

/// Makes a white sheet of the given size in pixels, passes it to `draw`, and writes it to a file.
pub(crate) fn sheet(
    path: &Path,
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<()> {
    let mut picture = String::new();
    let area = SVGBackend::with_string(&mut picture, size).into_drawing_area();
    area.fill(&WHITE).map_err(not_drawn)?;
    draw(&area)?;
    area.present().map_err(not_drawn)?;
    drop(area);
    Ok(fs::write(path, shortened(&picture))?)
}

/// Attributes of every element that have their default, or can stand once for the whole picture.
const USUAL: [&str; 6] = [
    r#" opacity="1""#,
    r##" fill="#000000""##,
    r#" stroke="none""#,
    r#" stroke-width="1""#,
    r#" text-anchor="start""#,
    r#" font-family="sans-serif""#,
];

/// Returns the same picture without what a third of its length says again.
fn shortened(picture: &str) -> String {
    let mut short = picture.to_owned();
    for usual in USUAL {
        short = short.replace(usual, "");
    }
    let mut parts = short.split(r#" font-size=""#);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (size, rest) = part.split_once('"').unwrap_or(("", part));
        let size: f64 = size.parse().unwrap_or(12.0);
        whole += &format!(r#" font-size="{size:.1}"{rest}"#);
    }
    whole.replacen("<svg", r#"<svg font-family="sans-serif""#, 1)
}

/// Draws a sheet of equally large charts, in the given number of columns.
pub(crate) fn sheet_of_charts<C>(
    path: &Path,
    (width, height): (u32, u32),
    columns: usize,
    charts: &[C],
    draw: impl Fn(&Area<'_>, &C) -> Result<()>,
) -> Result<()> {
    let lines = charts.len().div_ceil(columns).max(1);
    let size = (
        width * u32::try_from(columns)?,
        height * u32::try_from(lines)?,
    );
    sheet(path, size, |whole| {
        let areas = whole.split_evenly((lines, columns));
        areas
            .iter()
            .zip(charts)
            .try_for_each(|(area, chart)| draw(area, chart))
    })
}

/// Writes text in black, of a size in pixels.
pub(crate) fn write(area: &Area<'_>, words: &str, size: i32, place: (i32, i32)) -> Result<()> {
    let style = ("sans-serif", size).into_font().color(&BLACK);
    area.draw_text(words, &style, place).map_err(not_drawn)
}

/// Draws an entry of a legend: a patch of a colour, followed by its meaning.
pub(crate) fn entry(
    area: &Area<'_>,
    colour: RGBColor,
    words: &str,
    (left, top): (i32, i32),
) -> Result<()> {
    let patch = [(left, top + 2), (left + 12, top + 14)];
    area.draw(&Rectangle::new(patch, colour.filled()))
        .map_err(not_drawn)?;
    write(area, words, 13, (left + 18, top))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_once_what_holds_for_all_of_it() {
        let text = r##"<text x="1" text-anchor="start" font-family="sans-serif" font-size="9.6774" opacity="1" fill="#000000">"##;
        let picture = shortened(&format!("<svg width=\"9\">{text}µs</text></svg>"));
        let short = r#"<svg font-family="sans-serif" width="9"><text x="1" font-size="9.7">µs</text></svg>"#;
        assert_eq!(picture, short);
    }
}
