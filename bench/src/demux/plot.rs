//! Plots of the paper's figures 31 (random) and 32 (worst case) and similar ones: a chart for each
//! order and number of operations, a curve for each strategy over the number of objects.

use super::plan::{OPERATIONS, PAPER};
use super::report::{Curves, Report};
use super::setup::{Algorithm, Strategy};
use crate::Result;
use crate::drawing::{Area, curve, legend, mesh, not_drawn, sheet_of_charts};
use plotters::prelude::*;
use std::path::Path;

/// Width and height of one chart, in pixels.
const CHART: (u32, u32) = (480, 360);
/// Charts side by side: one for each number of operations.
const COLUMNS: usize = OPERATIONS.len();

/// One chart.
struct Chart<'r> {
    title: String,
    curves: Curves<'r>,
    /// Set for a logarithmic axis.
    logarithmic: bool,
}

/// Draws all charts.
pub(super) fn draw(report: &Report, path: &Path) -> Result<()> {
    sheet_of_charts(path, CHART, COLUMNS, &charts(report), draw_chart)
}

/// Returns the charts: first the paper's two figures, then the other orders; then those with larger
/// numbers, and the rest.
fn charts(report: &Report) -> Vec<Chart<'_>> {
    let mut charts = Vec::new();
    let orders = [
        (Algorithm::Random, "figure 31: "),
        (Algorithm::WorstCase, "figure 32: "),
        (Algorithm::RequestTrain, ""),
        (Algorithm::RoundRobin, ""),
    ];
    for (algorithm, figure) in orders {
        for operations in OPERATIONS {
            let curves = report.over_objects(algorithm, operations);
            charts.extend(curves.map(|curves| of_the_paper(figure, curves)));
        }
    }
    let most = report.rows.iter().map(|row| row.operations).max();
    let far = orders.map(|(algorithm, _)| report.over_objects(algorithm, most.unwrap_or_default()));
    let others = [report.one_ways(), report.over_depth()];
    for mut curves in far.into_iter().chain(others).flatten() {
        let logarithmic = curves.axis().last().is_some_and(|most| *most > 1000);
        if logarithmic {
            // A curve of milliseconds would flatten the others into one line.
            curves
                .points
                .retain(|(_, row)| row.strategy != Strategy::Linear);
        }
        let title = match logarithmic {
            true => format!("{}, without linear search", curves.title),
            false => curves.title.clone(),
        };
        if logarithmic || curves.over == "depth" {
            charts.push(Chart {
                title,
                curves,
                logarithmic,
            });
        }
    }
    charts
}

/// Limits a chart to the paper's numbers of objects.
fn of_the_paper<'r>(figure: &str, mut curves: Curves<'r>) -> Chart<'r> {
    let most = PAPER.last().copied().unwrap_or_default();
    curves.points.retain(|(objects, _)| *objects <= most);
    Chart {
        title: format!("{figure}{}", curves.title),
        curves,
        logarithmic: false,
    }
}

/// Returns the colour of a strategy; no two colours differ in green and red alone.
const fn colour(strategy: Strategy) -> RGBColor {
    match strategy {
        Strategy::Active => RGBColor(0x00, 0x72, 0xb2),
        Strategy::Linear => RGBColor(0xd5, 0x5e, 0x00),
        Strategy::DynamicHash => RGBColor(0xcc, 0x79, 0xa7),
        Strategy::PerfectHash => RGBColor(0x55, 0x55, 0x55),
        Strategy::DeLayered => RGBColor(0xe6, 0x9f, 0x00),
    }
}

fn draw_chart(area: &Area<'_>, chart: &Chart<'_>) -> Result<()> {
    let axis = chart.curves.axis();
    let (Some(&low), Some(&high)) = (axis.first(), axis.last()) else {
        return Ok(());
    };
    // A curve of one point needs a range, too.
    let high = high.max(low + 1);
    if chart.logarithmic {
        return draw_curves(area, chart, (low..high).log_scale());
    }
    draw_curves(area, chart, low..high)
}

fn draw_curves<X>(area: &Area<'_>, chart: &Chart<'_>, axis: X) -> Result<()>
where
    X: plotters::coord::ranged1d::AsRangedCoord<Value = u32>,
    X::CoordDescType: plotters::coord::ranged1d::ValueFormatter<u32>,
{
    let micros = |nanoseconds: f64| nanoseconds / 1000.0;
    let all = chart.curves.points.iter();
    let slowest = all.map(|(_, row)| micros(row.figures.median));
    let slowest = slowest.fold(0.0, f64::max);
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .caption(&chart.title, ("sans-serif", 15))
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d(axis, 0.0..slowest * 1.25)
        .map_err(not_drawn)?;
    mesh(&mut context, chart.curves.over, "µs a call, median")?;
    for strategy in chart.curves.strategies() {
        let own = chart.curves.of(strategy);
        let mut points: Vec<_> = own
            .map(|(number, row)| (number, micros(row.figures.median)))
            .collect();
        points.sort_by_key(|point| point.0);
        curve(&mut context, points, colour(strategy), strategy.name())?;
    }
    legend(&mut context)
}
