//! Plot of the two tables: bars of average latency and of rates, a chart of each for each
//! placement.

use super::report::{Report, place};
use crate::Result;
use crate::drawing::{Area, not_drawn as failed, sheet_of_charts, write};
use crate::throughput::Pinning;
use plotters::prelude::*;
use std::path::Path;

/// Width and height of one chart, in pixels.
const CHART: (u32, u32) = (760, 380);
const BAR: RGBColor = RGBColor(0x56, 0xb4, 0xe9);
const FLOOR: RGBColor = RGBColor(0x99, 0x99, 0x99);

/// Bars with names.
struct Bars {
    title: String,
    unit: &'static str,
    bars: Vec<(String, f64)>,
}

/// Draws every measured placement.
pub(super) fn draw(report: &Report, path: &Path) -> Result<()> {
    let placements = [Pinning::Same, Pinning::Cross, Pinning::Unpinned];
    let charts = placements.iter().flat_map(|&at| {
        let latency = report.latency.iter().filter(|row| row.placement == at);
        let rates = report.throughput.iter().filter(|row| row.placement == at);
        let latency = latency.map(|row| (row.contender.to_string(), row.average / 1000.0));
        let rates = rates.map(|row| (row.contender.to_string(), row.rate / 1000.0));
        [
            Bars {
                title: format!("Average latency, {}: µs (less is better)", place(at)),
                unit: "µs",
                bars: latency.collect(),
            },
            Bars {
                title: format!("Throughput, {}: 1,000 calls a second", place(at)),
                unit: "1,000/s",
                bars: rates.collect(),
            },
        ]
    });
    let charts: Vec<Bars> = charts.filter(|one| !one.bars.is_empty()).collect();
    sheet_of_charts(path, CHART, 2, &charts, draw_bars)
}

fn draw_bars(area: &Area<'_>, bars: &Bars) -> Result<()> {
    let highest = bars
        .bars
        .iter()
        .map(|(_, height)| *height)
        .fold(0.0, f64::max);
    let columns = u32::try_from(bars.bars.len())?;
    let mut context = ChartBuilder::on(area)
        .margin(12)
        .caption(&bars.title, ("sans-serif", 16))
        .x_label_area_size(30)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..f64::from(columns), 0.0..highest * 1.1)
        .map_err(failed)?;
    context
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(0)
        .y_desc(bars.unit)
        .draw()
        .map_err(failed)?;
    let rectangles = (0..columns)
        .zip(&bars.bars)
        .map(|(column, (name, height))| {
            let left = f64::from(column);
            let colour = if name == "floor" { FLOOR } else { BAR };
            Rectangle::new([(left + 0.1, 0.0), (left + 0.9, *height)], colour.filled())
        });
    context.draw_series(rectangles).map_err(failed)?;
    let (left, top) = context.plotting_area().get_base_pixel();
    let (across, down) = context.plotting_area().dim_in_pixel();
    let (x, y) = area.get_base_pixel();
    let step = i32::try_from(across / columns.max(1))?;
    for (column, (name, _)) in bars.bars.iter().enumerate() {
        let at = left - x + step * i32::try_from(column)? + step / 8;
        write(area, name, 13, (at, top - y + i32::try_from(down)? + 8))?;
    }
    Ok(())
}
