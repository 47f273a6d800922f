//! Plot of figure 16: bars of a call's time by type of data, a chart for each placement.

use super::report::{Report, Row};
use crate::Result;
use crate::drawing::{Area, entry, not_drawn as failed, sheet_of_charts, write};
use crate::placement::Placement;
use plotters::prelude::*;
use std::path::Path;

/// Width and height of one chart, in pixels.
const CHART: (u32, u32) = (1280, 520);
/// Fraction of a column that its bars fill.
const FILLED: f64 = 0.84;
/// Colours without green beside red, the raw sockets' grey first.
const COLOURS: [RGBColor; 12] = [
    RGBColor(0x77, 0x77, 0x77),
    RGBColor(0xbb, 0xbb, 0xbb),
    RGBColor(0x00, 0x45, 0x70),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0xf0, 0xa3, 0x60),
    RGBColor(0x7b, 0x3f, 0x7b),
    RGBColor(0xb0, 0x60, 0x9b),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe8, 0xb8, 0xd4),
    RGBColor(0x8c, 0x6d, 0x1f),
    RGBColor(0xe6, 0xc2, 0x29),
];

/// Draws every measured placement.
pub(super) fn draw(report: &Report, path: &Path) -> Result<()> {
    let measured = [Placement::Same, Placement::Cross]
        .map(|cpus| (cpus, rows_at(report, cpus)))
        .into_iter()
        .filter(|(_, rows)| !rows.is_empty());
    let charts: Vec<_> = measured.collect();
    sheet_of_charts(path, CHART, 1, &charts, |area, (cpus, rows)| {
        draw_chart(area, *cpus, rows)
    })
}

fn rows_at(report: &Report, cpus: Placement) -> Vec<&Row> {
    let rows = report.figure_16.iter();
    rows.filter(|row| row.cpus == cpus).collect()
}

fn draw_chart(area: &Area<'_>, cpus: Placement, rows: &[&Row]) -> Result<()> {
    let operations = distinct(rows, |row| row.operation.to_string());
    let contenders = distinct(rows, |row| row.contender.clone());
    let slowest = rows.iter().map(|row| micros(row)).fold(0.0, f64::max);
    let columns = float(operations.len());
    let title =
        format!("Two-way calls by type of data, {cpus} processor(s): median, µs (less is better)");
    let mut context = ChartBuilder::on(area)
        .margin(12)
        .caption(title, ("sans-serif", 18))
        .x_label_area_size(30)
        .y_label_area_size(52)
        .margin_right(220)
        .build_cartesian_2d(0.0..columns, 0.0..slowest * 1.05)
        .map_err(failed)?;
    context
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(0)
        .y_desc("µs")
        .draw()
        .map_err(failed)?;
    let width = FILLED / float(contenders.len().max(1));
    for (place, contender) in contenders.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let own = rows.iter().filter(|row| row.contender == *contender);
        let bars = own.map(|row| {
            let name = row.operation.to_string();
            let column = operations.iter().position(|one| *one == name);
            let left =
                float(column.unwrap_or_default()) + (1.0 - FILLED) / 2.0 + float(place) * width;
            Rectangle::new(
                [(left, 0.0), (left + width * 0.92, micros(row))],
                colour.filled(),
            )
        });
        context.draw_series(bars).map_err(failed)?;
    }
    let (left, top) = context.plotting_area().get_base_pixel();
    let (across, down) = context.plotting_area().dim_in_pixel();
    label_columns(area, &operations, (left, top), (across, down))?;
    label_colours(area, &contenders, left + i32::try_from(across)? + 20, top)
}

fn label_columns(
    area: &Area<'_>,
    operations: &[String],
    (left, top): (i32, i32),
    (across, down): (u32, u32),
) -> Result<()> {
    let (x, y) = area.get_base_pixel();
    let step = i32::try_from(across)? / i32::try_from(operations.len().max(1))?;
    let below = top - y + i32::try_from(down)? + 8;
    for (column, operation) in operations.iter().enumerate() {
        let middle = left - x + step * i32::try_from(column)? + step / 2;
        let wide = i32::try_from(operation.chars().count())? * 7;
        write(area, operation, 14, (middle - wide / 2, below))?;
    }
    Ok(())
}

fn label_colours(area: &Area<'_>, contenders: &[String], left: i32, top: i32) -> Result<()> {
    let (x, y) = area.get_base_pixel();
    for (place, contender) in contenders.iter().enumerate() {
        let at = (left - x, top - y + 20 * i32::try_from(place)?);
        entry(area, COLOURS[place % COLOURS.len()], contender, at)?;
    }
    Ok(())
}

fn distinct(rows: &[&Row], name: impl Fn(&Row) -> String) -> Vec<String> {
    let mut names = Vec::new();
    for row in rows {
        let name = name(row);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn micros(row: &Row) -> f64 {
    row.figures.median / 1000.0
}

#[allow(clippy::cast_precision_loss)]
fn float(number: usize) -> f64 {
    number as f64
}
