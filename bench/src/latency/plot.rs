//! Plot of latency over size: a chart for each placement and operation, in one SVG.

use super::report::{Report, Row};
use crate::Result;
use crate::case::Operation;
use crate::drawing::{Area, curve, legend, mesh, not_drawn, sheet_of_charts};
use crate::placement::Placement;
use plotters::prelude::*;
use std::path::Path;

/// Width and height of one chart, in pixels.
const CHART: (u32, u32) = (480, 360);
/// Colours of the contenders, without green beside red.
const COLOURS: [RGBColor; 4] = [
    RGBColor(0x55, 0x55, 0x55),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xcc, 0x79, 0xa7),
];

/// Draws every operation that ran with more than one size.
pub(super) fn draw(report: &Report, path: &Path) -> Result<()> {
    let charts = charts(report);
    sheet_of_charts(path, CHART, columns(&charts), &charts, |area, chart| {
        draw_chart(area, report, chart)
    })
}

struct Chart<'r> {
    placement: Placement,
    operation: Operation,
    rows: Vec<&'r Row>,
}

fn charts(report: &Report) -> Vec<Chart<'_>> {
    let mut charts = Vec::new();
    for placement in [Placement::Same, Placement::Cross] {
        for operation in Operation::ALL {
            let rows: Vec<&Row> = report
                .rows
                .iter()
                .filter(|row| row.placement == placement && row.operation == operation.name())
                .collect();
            let first = rows.first().map(|row| row.units);
            if rows.iter().any(|row| Some(row.units) != first) {
                charts.push(Chart {
                    placement,
                    operation,
                    rows,
                });
            }
        }
    }
    charts
}

/// Returns the number of columns: the first placement's charts, up to 3, so that the second
/// placement stands below it.
fn columns(charts: &[Chart<'_>]) -> usize {
    let first = charts.first().map(|chart| chart.placement);
    let number = charts
        .iter()
        .filter(|chart| Some(chart.placement) == first)
        .count();
    number.clamp(1, 3)
}

fn draw_chart(area: &Area<'_>, report: &Report, chart: &Chart<'_>) -> Result<()> {
    let micros = |row: &Row| row.figures.median / 1000.0;
    let units = chart.rows.iter().map(|row| row.units);
    let (low, high) = units.fold((u32::MAX, 0), |(low, high), one| {
        (low.min(one), high.max(one))
    });
    let slowest = chart.rows.iter().map(|row| micros(row)).fold(0.0, f64::max);
    let kind = if chart.operation.is_two_way() {
        "two-way"
    } else {
        "one-way, mean of a batch"
    };
    let title = format!("{}, {} ({kind})", chart.placement, chart.operation.name());
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .caption(title, ("sans-serif", 15))
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d((low..high).log_scale().base(2.0), 0.0..slowest * 1.15)
        .map_err(not_drawn)?;
    mesh(&mut context, "units", "µs")?;
    for (contender, colour) in report.contenders.iter().zip(COLOURS.into_iter().cycle()) {
        let own = chart
            .rows
            .iter()
            .filter(|row| row.contender == contender.name);
        let points: Vec<(u32, f64)> = own.map(|row| (row.units, micros(row))).collect();
        curve(&mut context, points, colour, contender.name)?;
    }
    legend(&mut context)
}
