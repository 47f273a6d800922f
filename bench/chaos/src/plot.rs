//! Drawing of a run: faults by host, and below them which member of each group was primary.

use crate::checker::terms;
use crate::fleet::{ACTIVE, STYLES};
use crate::history::Operation;
use crate::net::HOSTS;
use crate::report::Report;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// Pixels of a second, and the least width.
const SECOND: f64 = 8.0;
const LEAST: f64 = 960.0;
/// Font of the labels.
const FONT: &str = "sans-serif";
/// Colours of members, by their hosts.
const COLOURS: [RGBColor; HOSTS] = [
    RGBColor(0x1f, 0x77, 0xb4),
    RGBColor(0xd6, 0x7c, 0x1c),
    RGBColor(0x2c, 0xa0, 0x2c),
];
/// Rows of a host: links, and processes of each kind.
const ROWS: usize = 3;
/// Height of a row, in units of the drawing.
const ROW: f64 = 0.8;

/// Draws a run to a file, whose folder is made on demand.
///
/// # Errors
/// The picture cannot be drawn.
pub(crate) fn draw(report: &Report<'_>, path: &Path) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let operations = report.histories.iter().flatten();
    let end = operations.map(|one| one.begun).max().unwrap_or_default() as f64 / 1e9;
    let rows = HOSTS * ROWS + report.histories.len() * 2;
    let width = (end * SECOND).clamp(LEAST, 12_000.0) as u32;
    let area = SVGBackend::new(path, (width, 26 * rows as u32 + 90)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(
            format!("faults and primaries, seed {}", report.seed),
            (FONT, 18),
        )
        .margin(10)
        .x_label_area_size(35)
        .y_label_area_size(150)
        .build_cartesian_2d(0.0..end.max(1.0), 0.0..rows as f64)?;
    let names = names();
    let label = |row: &f64| {
        let row = rows as f64 - 1.0 - row.floor();
        names.get(row as usize).cloned().unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("seconds")
        .y_labels(rows * 2)
        .y_label_style((FONT, 12))
        .y_label_formatter(&label)
        .draw()?;
    let place = |row: usize| rows as f64 - 1.0 - row as f64;
    for fault in report.faults {
        let row = fault.host * ROWS + row_of(&fault.name);
        let from = fault.begun as f64 / 1e9;
        let to = (fault.ended as f64 / 1e9).min(end);
        let colour = match fault.what {
            "killed" | "died before its answer" => RED.mix(0.8),
            "stopped" => MAGENTA.mix(0.5),
            _ => BLACK.mix(0.4),
        };
        let low = place(row);
        chart.draw_series([Rectangle::new(
            [(from, low), (to, low + ROW)],
            colour.filled(),
        )])?;
    }
    for (group, history) in report.histories.iter().enumerate() {
        let row = HOSTS * ROWS + group * 2;
        if group > 0 && group != ACTIVE {
            let low = place(row);
            chart.draw_series(terms(history).into_iter().map(|term| {
                let host = term.member.get(1..2).and_then(|host| host.parse().ok());
                let host: usize = host.unwrap_or(1);
                let (from, to) = (term.from() as f64 / 1e9, term.to() as f64 / 1e9);
                let colour = COLOURS[(host - 1) % HOSTS];
                Rectangle::new([(from, low), (to.max(from), low + ROW)], colour.filled())
            }))?;
        }
        let low = place(row + 1);
        let spans = answered(history).into_iter();
        chart.draw_series(spans.map(|(from, to)| {
            Rectangle::new([(from, low), (to, low + ROW)], BLACK.mix(0.25).filled())
        }))?;
    }
    area.present()?;
    Ok(())
}

/// Returns the spans of time in which calls were answered in each tenth of a second, in seconds.
fn answered(history: &[Operation]) -> Vec<(f64, f64)> {
    let times = history.iter().filter_map(|one| Some(one.answered()?.0));
    let mut tenths: Vec<i64> = times.map(|time| time / 100_000_000).collect();
    tenths.sort_unstable();
    tenths.dedup();
    let spans = tenths.chunk_by(|one, next| one + 1 == *next);
    let span = |span: &[i64]| {
        let (first, last) = (span.first()?, span.last()?);
        Some((*first as f64 / 10.0, (*last + 1) as f64 / 10.0))
    };
    spans.filter_map(span).collect()
}

fn row_of(fault: &str) -> usize {
    match fault {
        name if name.starts_with("host") => 0,
        name if name.starts_with("etcd") || name.starts_with("service") => 1,
        name if name.starts_with("NATS") => 1,
        _ => 2,
    }
}

fn names() -> Vec<String> {
    let hosts = (1..=HOSTS).flat_map(|host| {
        ["links", "etcd, NATS, service", "members"].map(|what| format!("host {host}: {what}"))
    });
    let groups = STYLES.iter().flat_map(|style| {
        let primary = match *style {
            "stateless" | "active" => String::new(),
            style => format!("{style}: primary"),
        };
        [primary, format!("{style}: answers")]
    });
    hosts.chain(groups).collect()
}
