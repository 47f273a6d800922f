//! Plots of O'Ryan et al. 2001's figures 16 and 17: a chart for each size and placement, a bar for
//! each kind of request.

use super::report::{Report, Row};
use crate::Result;
use crate::drawing::{Area, not_drawn, sheet_of_charts, write};
use plotters::prelude::*;
use std::path::Path;

/// Width and height of one chart, in pixels.
const CHART: (u32, u32) = (900, 360);
/// Fraction of its place that a bar fills.
const FILLED: f64 = 0.7;
/// Colours: of the base of the comparison, and of the other kinds.
const COLOURS: [RGBColor; 2] = [RGBColor(0x77, 0x77, 0x77), RGBColor(0x00, 0x72, 0xb2)];

/// Draws all that was measured.
pub(super) fn draw(report: &Report, path: &Path) -> Result<()> {
    let same = |one: &Row, other: &Row| one.heading() == other.heading();
    let charts: Vec<&[Row]> = report.rows.chunk_by(same).collect();
    sheet_of_charts(path, CHART, 1, &charts, |area, rows| draw_chart(area, rows))
}

fn draw_chart(area: &Area<'_>, rows: &[Row]) -> Result<()> {
    let Some(first) = rows.first() else {
        return Ok(());
    };
    let most = rows.iter().map(|row| row.rate).fold(0.0, f64::max);
    let columns = float(rows.len());
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .caption(first.heading(), ("sans-serif", 16))
        .x_label_area_size(30)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..columns, 0.0..most * 1.1)
        .map_err(not_drawn)?;
    context
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(0)
        .y_desc("requests a second")
        .y_label_formatter(&|rate| format!("{rate:.0}"))
        .draw()
        .map_err(not_drawn)?;
    let bars = rows.iter().enumerate().map(|(place, row)| {
        let left = float(place) + (1.0 - FILLED) / 2.0;
        let colour = COLOURS[usize::from(place > 0)];
        Rectangle::new([(left, 0.0), (left + FILLED, row.rate)], colour.filled())
    });
    context.draw_series(bars).map_err(not_drawn)?;
    let (left, top) = context.plotting_area().get_base_pixel();
    let (across, down) = context.plotting_area().dim_in_pixel();
    let (x, y) = area.get_base_pixel();
    let step = i32::try_from(across)? / i32::try_from(rows.len())?;
    for (place, row) in rows.iter().enumerate() {
        let middle = left - x + step * i32::try_from(place)? + step / 2;
        let wide = i32::try_from(row.kind.chars().count())? * 5;
        let below = top - y + i32::try_from(down)? + 6;
        write(area, &row.kind, 11, (middle - wide / 2, below))?;
        let ratio = format!("{:.2} ×", row.ratio);
        write(area, &ratio, 11, (middle - 14, below + 14))?;
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss)]
fn float(number: usize) -> f64 {
    number as f64
}
