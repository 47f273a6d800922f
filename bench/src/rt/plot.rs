//! Plots of the experiments: a chart for each placement of the distribution of the high client's
//! times, or of means and jitter over the number of low clients. Times are on a logarithmic scale.

use super::report::Report;
use super::series::{self, Times};
use super::setup::Contender;
use crate::Result;
use crate::drawing::{Area, curve, legend, mesh, not_drawn, sheet_of_charts};
use crate::placement::Placement;
use plotters::prelude::*;
use std::path::Path;

/// Width and height of one chart, in pixels.
const CHART: (u32, u32) = (620, 420);

/// A curve: its name, its colour, its points.
type Curve = (String, RGBColor, Vec<(u32, f64)>);

struct Chart {
    title: String,
    across: &'static str,
    /// Set for a logarithmic scale of the numbers across.
    logarithmic: bool,
    curves: Vec<Curve>,
}

/// Returns two colours of a kind, the second one paler: alone and beside a load, or low and high.
fn colours(contender: Contender) -> [RGBColor; 2] {
    match contender {
        Contender::Floor => [RGBColor(0x44, 0x44, 0x44), RGBColor(0xaa, 0xaa, 0xaa)],
        Contender::Lanes => [RGBColor(0x00, 0x72, 0xb2), RGBColor(0x7f, 0xc4, 0xec)],
        Contender::Pool => [RGBColor(0xd5, 0x5e, 0x00), RGBColor(0xf3, 0xb8, 0x8a)],
        Contender::BufferedPool => [RGBColor(0x00, 0x9e, 0x73), RGBColor(0x8a, 0xd9, 0xc2)],
        Contender::PerConnection => [RGBColor(0xb8, 0x86, 0x0b), RGBColor(0xe8, 0xd2, 0x9a)],
        Contender::OrbAThread => [RGBColor(0xcc, 0x79, 0xa7), RGBColor(0xea, 0xc8, 0xda)],
        Contender::OmniOrb => [RGBColor(0x6a, 0x3d, 0x9a), RGBColor(0xca, 0xb2, 0xd6)],
        Contender::OmniOrbFifo => [RGBColor(0x00, 0x8b, 0x8b), RGBColor(0x9a, 0xd6, 0xd6)],
    }
}

/// Draws `rt latency`: the least time of the slowest call in so many.
pub(super) fn latency(report: &Report, path: &Path) -> Result<()> {
    let placements = [Placement::Same, Placement::Cross];
    let chart = |placement: Placement| {
        let rows = report.rows.iter().filter(|row| row.placement == placement);
        let curves = rows.flat_map(|row| {
            let [strong, pale] = colours(row.contender);
            let runs = [(&row.loaded, strong, "loaded"), (&row.alone, pale, "alone")];
            runs.into_iter().filter_map(move |(run, colour, how)| {
                let points = run.as_ref()?.one_in.iter();
                let points = points
                    .map(|&(one_in, time)| (one_in, micros(time)))
                    .collect();
                Some((format!("{} {how}", row.contender), colour, points))
            })
        });
        Chart {
            title: format!("{placement}: high client beside {} low ones", report.low),
            across: "one call in … takes at least",
            logarithmic: true,
            curves: curves.collect(),
        }
    };
    draw(path, 1, placements.map(chart).into())
}

/// Draws an experiment over the number of low clients: means beside jitter.
pub(super) fn series(report: &series::Report, path: &Path) -> Result<()> {
    let mut charts = Vec::new();
    for placement in [Placement::Same, Placement::Cross] {
        charts.push(over_low(report, placement, "mean of a call", |times| {
            times.mean
        }));
        charts.push(over_low(report, placement, "jitter", |times| times.jitter));
    }
    draw(path, 2, charts)
}

fn over_low(
    report: &series::Report,
    placement: Placement,
    what: &str,
    figure: fn(&Times) -> f64,
) -> Chart {
    let rows = || report.rows.iter().filter(|row| row.placement == placement);
    let mut curves = Vec::new();
    for contender in [
        Contender::Floor,
        Contender::Lanes,
        Contender::Pool,
        Contender::BufferedPool,
        Contender::PerConnection,
        Contender::OrbAThread,
    ] {
        let [strong, pale] = colours(contender);
        let own = || rows().filter(|row| row.contender == contender);
        let point = |low: u16, times: &Times| (u32::from(low), figure(times) / 1000.0);
        let high = own().map(|row| point(row.low, &row.high)).collect();
        let low = own().filter_map(|row| Some(point(row.low, row.low_ones.as_ref()?)));
        curves.push((format!("{contender}, high"), strong, high));
        curves.push((format!("{contender}, low"), pale, low.collect()));
    }
    Chart {
        title: format!("{placement}: {what}"),
        across: "low clients",
        logarithmic: false,
        curves,
    }
}

fn draw(path: &Path, columns: usize, mut charts: Vec<Chart>) -> Result<()> {
    for chart in &mut charts {
        // A time of zero has no place on a logarithmic scale.
        for (_, _, points) in &mut chart.curves {
            points.retain(|(_, time)| *time > 0.0);
        }
        chart.curves.retain(|(_, _, points)| !points.is_empty());
    }
    charts.retain(|chart| !chart.curves.is_empty());
    sheet_of_charts(path, CHART, columns, &charts, draw_chart)
}

fn draw_chart(area: &Area<'_>, chart: &Chart) -> Result<()> {
    let all = || chart.curves.iter().flat_map(|(_, _, points)| points);
    let (low, high) = all().fold((u32::MAX, 0), |(low, high), (at, _)| {
        (low.min(*at), high.max(*at))
    });
    // A curve of one point needs a range, too.
    let across = low..high.max(low + 1);
    match chart.logarithmic {
        true => draw_curves(area, chart, across.log_scale()),
        false => draw_curves(area, chart, across),
    }
}

fn draw_curves<X>(area: &Area<'_>, chart: &Chart, across: X) -> Result<()>
where
    X: plotters::coord::ranged1d::AsRangedCoord<Value = u32>,
    X::CoordDescType: plotters::coord::ranged1d::ValueFormatter<u32>,
{
    let times = chart.curves.iter().flat_map(|(_, _, points)| points);
    let (least, most) = times.fold((f64::MAX, 0.0_f64), |(least, most), (_, time)| {
        (least.min(*time), most.max(*time))
    });
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .caption(&chart.title, ("sans-serif", 15))
        .x_label_area_size(34)
        .y_label_area_size(60)
        .build_cartesian_2d(across, (least * 0.8..most * 1.6).log_scale())
        .map_err(not_drawn)?;
    mesh(&mut context, chart.across, "µs")?;
    for (name, colour, points) in &chart.curves {
        curve(&mut context, points.clone(), *colour, name)?;
    }
    legend(&mut context)
}

#[allow(clippy::cast_precision_loss)]
fn micros(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}
