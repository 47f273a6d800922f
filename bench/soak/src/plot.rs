//! Plot of memory, small blocks of the heap, threads and descriptors over the run.

use crate::child::Usage;
use crate::report::{Report, Sample};
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// Size of the picture, in pixels.
const SIZE: (u32, u32) = (960, 1200);
/// Font of the labels.
const FONT: &str = "sans-serif";

/// Function that selects the server's or the client's resources from a sample.
type Whose = fn(&Sample) -> &Usage;

/// Chart of one resource of the watched processes.
struct Chart {
    title: &'static str,
    value: fn(&Usage) -> f64,
}

#[allow(clippy::cast_precision_loss)]
const CHARTS: [Chart; 4] = [
    Chart {
        title: "resident memory, MiB",
        value: |usage| usage.memory.resident as f64 / (1 << 20) as f64,
    },
    Chart {
        title: "small blocks of the heap, MiB",
        value: |usage| usage.small_blocks as f64 / (1 << 20) as f64,
    },
    Chart {
        title: "threads",
        value: |usage| usage.threads as f64,
    },
    Chart {
        title: "descriptors",
        value: |usage| usage.descriptors as f64,
    },
];

/// Draws a run to a file, whose folder is made on demand.
///
/// # Errors
/// The picture cannot be drawn.
pub(crate) fn draw(report: &Report, path: &Path) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let parts = area.split_evenly((CHARTS.len(), 1));
    for (part, chart) in parts.iter().zip(&CHARTS) {
        one(part, chart, &report.samples)?;
    }
    area.present()?;
    Ok(())
}

fn one(
    part: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    chart: &Chart,
    samples: &[Sample],
) -> Result<(), Box<dyn Error>> {
    let end = samples.last().map_or(1.0, |last| last.seconds / 60.0);
    let both = samples.iter().flat_map(|one| [&one.server, &one.client]);
    let most = both.map(chart.value).fold(1.0, f64::max);
    let mut drawn = ChartBuilder::on(part)
        .caption(chart.title, (FONT, 18))
        .margin(10)
        .x_label_area_size(35)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..end, 0.0..most * 1.15)?;
    drawn
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("minutes")
        .draw()?;
    let curves: [(&str, RGBColor, Whose); 2] = [
        ("server", BLUE, |one| &one.server),
        ("client", RED, |one| &one.client),
    ];
    for (name, colour, whose) in curves {
        let points = samples
            .iter()
            .map(|one| (one.seconds / 60.0, (chart.value)(whose(one))));
        drawn
            .draw_series(LineSeries::new(points, colour))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    drawn
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .label_font((FONT, 13))
        .draw()?;
    Ok(())
}
