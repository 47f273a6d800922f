//! Charts of rows, as experiments declare them: curves over a number, and bars.

use super::row::{distinct, fill, groups};
use super::{Column, Report, Row};
use crate::Result;
use crate::drawing::{Area, entry, not_drawn, sheet_of_charts, write};
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use serde_json::Value;
use std::ops::Range;
use std::path::Path;

/// Charts on one sheet.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// Width and height of a chart, in pixels.
    pub(crate) size: (u32, u32),
    /// Number of charts side by side.
    pub(crate) columns: usize,
    pub(crate) charts: &'static [Chart],
}

/// Declared chart.
#[derive(Debug)]
pub(crate) enum Chart {
    Lines(Lines),
    Bars(Bars),
}

/// Curves of values over a number.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Set of rows.
    pub(crate) frame: &'static str,
    /// Function that selects rows.
    pub(crate) only: fn(&Row) -> bool,
    /// Names of values; each combination of them has a chart of its own.
    pub(crate) each: &'static [&'static str],
    /// Template of the title.
    pub(crate) title: &'static str,
    /// Name of the number across, and the axis's label. Values that are lists of points need no name.
    pub(crate) across: (&'static str, &'static str),
    /// Templates of the curves' names, each with the name of its value.
    pub(crate) curves: &'static [(&'static str, &'static str)],
    /// Number by which values are divided, and the axis's label.
    pub(crate) up: (f64, &'static str),
    /// Axes with a logarithmic scale: the one across, and the one up.
    pub(crate) logarithmic: (bool, bool),
    /// Least number of points that make a curve worth drawing.
    pub(crate) least: usize,
}

/// Bars, in a group for each value of a name.
#[derive(Debug)]
pub(crate) struct Bars {
    pub(crate) frame: &'static str,
    pub(crate) only: fn(&Row) -> bool,
    pub(crate) each: &'static [&'static str],
    pub(crate) title: &'static str,
    /// Name of the value that has the groups.
    pub(crate) group: &'static str,
    /// Name of the value that has the bars of a group; empty for groups of one bar.
    pub(crate) bar: &'static str,
    /// Name of the bars' length.
    pub(crate) of: &'static str,
    pub(crate) up: (f64, &'static str),
    /// Figure that is written beneath each group.
    pub(crate) beneath: Option<Column>,
}

/// Colours of curves and bars, without green beside red; the first is that of a floor or base.
const COLOURS: [RGBColor; 12] = [
    RGBColor(0x77, 0x77, 0x77),
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x7b, 0x3f, 0x7b),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xbb, 0xbb, 0xbb),
    RGBColor(0x8c, 0x6d, 0x1f),
    RGBColor(0x00, 0x45, 0x70),
    RGBColor(0xf0, 0xa3, 0x60),
];
/// Fraction of its place that a group of bars fills.
const FILLED: f64 = 0.84;
/// Pixels to the right of grouped bars, for the legend.
const LEGEND: u32 = 220;

fn colour(place: usize) -> RGBColor {
    COLOURS[place % COLOURS.len()]
}

impl Sheet {
    /// Sheet of an experiment that draws nothing.
    pub(crate) const NONE: Self = Self {
        size: (1, 1),
        columns: 1,
        charts: &[],
    };

    /// Draws a report's charts to a file.
    pub(super) fn draw(&self, report: &Report, path: &Path) -> Result<()> {
        let charts: Vec<Drawn<'_>> = self
            .charts
            .iter()
            .flat_map(|chart| chart.of(report))
            .collect();
        let columns = self.columns.min(charts.len()).max(1);
        sheet_of_charts(path, self.size, columns, &charts, |area, chart| {
            chart.draw(area)
        })
    }
}

/// Chart with its rows.
struct Drawn<'r> {
    chart: &'static Chart,
    title: String,
    rows: Vec<&'r Row>,
}

/// Curve: its name, and its points.
type Curve = (String, Vec<(u32, f64)>);

impl Chart {
    /// Returns the charts of a report, one for each group of rows.
    fn of<'r>(&'static self, report: &'r Report) -> Vec<Drawn<'r>> {
        let (frame, only, each, title) = match self {
            Self::Lines(lines) => (lines.frame, lines.only, lines.each, lines.title),
            Self::Bars(bars) => (bars.frame, bars.only, bars.each, bars.title),
        };
        let rows = report.frame(frame).iter().filter(|row| only(row));
        let drawn = groups(rows, each).into_iter().map(|rows| Drawn {
            chart: self,
            title: fill(title, &[rows[0], &report.settings]),
            rows,
        });
        drawn.filter(Drawn::is_worth_it).collect()
    }
}

impl Drawn<'_> {
    fn is_worth_it(&self) -> bool {
        match self.chart {
            Chart::Bars(_) => true,
            Chart::Lines(lines) => {
                let curves = lines.curves_of(&self.rows);
                let longest = curves.iter().map(|(_, points)| points.len()).max();
                longest.unwrap_or_default() >= lines.least
            }
        }
    }

    fn draw(&self, area: &Area<'_>) -> Result<()> {
        match self.chart {
            Chart::Lines(lines) => lines.draw(area, &self.title, &self.rows),
            Chart::Bars(bars) => bars.draw(area, &self.title, &self.rows),
        }
    }
}

impl Lines {
    fn curves_of(&self, rows: &[&Row]) -> Vec<Curve> {
        let mut curves: Vec<Curve> = Vec::new();
        for (template, value) in self.curves {
            for name in distinct(rows.iter().map(|row| fill(template, &[row]))) {
                let own = rows.iter().filter(|row| fill(template, &[row]) == name);
                let mut points: Vec<_> = own.flat_map(|row| self.points(row, value)).collect();
                points.sort_by_key(|point| point.0);
                curves.push((name, points));
            }
        }
        curves.retain(|(_, points)| !points.is_empty());
        curves
    }

    /// Returns the points of a row: one, or those of a value that is a list of them.
    fn points(&self, row: &Row, value: &str) -> Vec<(u32, f64)> {
        let points = match row.get(value).and_then(Value::as_array) {
            Some(list) => list
                .iter()
                .filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?)))
                .collect(),
            None => Vec::from_iter(row.number(self.across.0).zip(row.number(value))),
        };
        // A value of zero has no place on a logarithmic scale.
        let fits = |up: f64| up > 0.0 || !self.logarithmic.1;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let scaled = |(across, up): (f64, f64)| (across as u32, up / self.up.0);
        points
            .into_iter()
            .map(scaled)
            .filter(|(_, up)| fits(*up))
            .collect()
    }

    fn draw(&self, area: &Area<'_>, title: &str, rows: &[&Row]) -> Result<()> {
        let curves = self.curves_of(rows);
        let all = || curves.iter().flat_map(|(_, points)| points);
        let (low, high) = all().fold((u32::MAX, 0), |(low, high), (at, _)| {
            (low.min(*at), high.max(*at))
        });
        let (least, most) = all().fold((f64::MAX, 0.0_f64), |(least, most), (_, value)| {
            (least.min(*value), most.max(*value))
        });
        // A curve of one point needs a range, too.
        let (across, up) = (low..high.max(low + 1), 0.0..most * 1.25);
        let up_log = || (least * 0.8..most * 1.6).log_scale();
        match self.logarithmic {
            (false, false) => self.draw_on(area, title, &curves, across, up),
            (false, true) => self.draw_on(area, title, &curves, across, up_log()),
            (true, false) => self.draw_on(area, title, &curves, across.log_scale(), up),
            (true, true) => self.draw_on(area, title, &curves, across.log_scale(), up_log()),
        }
    }

    fn draw_on<X, Y>(
        &self,
        area: &Area<'_>,
        title: &str,
        curves: &[Curve],
        across: X,
        up: Y,
    ) -> Result<()>
    where
        X: AsRangedCoord<Value = u32>,
        X::CoordDescType: Ranged<ValueType = u32> + ValueFormatter<u32>,
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .caption(title, ("sans-serif", 15))
            .x_label_area_size(34)
            .y_label_area_size(60)
            .build_cartesian_2d(across, up)
            .map_err(not_drawn)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(self.across.1)
            .y_desc(self.up.1)
            .y_label_formatter(&|value| ((value * 100.0).round() / 100.0).to_string())
            .draw()
            .map_err(not_drawn)?;
        for (place, (name, points)) in curves.iter().enumerate() {
            let stroke = colour(place).stroke_width(2);
            let line = LineSeries::new(points.clone(), stroke).point_size(2);
            chart
                .draw_series(line)
                .map_err(not_drawn)?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], stroke));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .draw()
            .map_err(not_drawn)
    }
}

impl Bars {
    fn value(&self, row: &Row) -> f64 {
        row.number(self.of).unwrap_or_default() / self.up.0
    }

    fn draw(&self, area: &Area<'_>, title: &str, rows: &[&Row]) -> Result<()> {
        let groups = distinct(rows.iter().map(|row| row.text(self.group)));
        let bars = match self.bar {
            "" => vec![String::new()],
            bar => distinct(rows.iter().map(|row| row.text(bar))),
        };
        let most = rows.iter().map(|row| self.value(row)).fold(0.0, f64::max);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(if bars.len() > 1 { LEGEND } else { 12 })
            .caption(title, ("sans-serif", 16))
            .x_label_area_size(30)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..float(groups.len()), 0.0..most * 1.1)
            .map_err(not_drawn)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(0)
            .y_desc(self.up.1)
            .draw()
            .map_err(not_drawn)?;
        let width = FILLED / float(bars.len());
        let rectangles = rows.iter().map(|row| {
            let place = |names: &[String], name: String| {
                names
                    .iter()
                    .position(|one| *one == name)
                    .unwrap_or_default()
            };
            let group = place(&groups, row.text(self.group));
            let (bar, shade) = match self.bar {
                "" => (0, usize::from(group > 0)),
                name => (place(&bars, row.text(name)), place(&bars, row.text(name))),
            };
            let left = float(group) + (1.0 - FILLED) / 2.0 + float(bar) * width;
            let corners = [(left, 0.0), (left + width * 0.92, self.value(row))];
            Rectangle::new(corners, colour(shade).filled())
        });
        chart.draw_series(rectangles).map_err(not_drawn)?;
        let (left, top) = chart.plotting_area().get_base_pixel();
        let (across, down) = chart.plotting_area().dim_in_pixel();
        let (x, y) = area.get_base_pixel();
        let (across, down) = (i32::try_from(across)?, i32::try_from(down)?);
        let (left, top) = (left - x, top - y);
        self.label_groups(area, rows, &groups, (left..left + across, top + down + 6))?;
        for (place, name) in bars.iter().enumerate().filter(|_| bars.len() > 1) {
            let below = top + 20 * i32::try_from(place)?;
            entry(area, colour(place), name, (left + across + 20, below))?;
        }
        Ok(())
    }

    /// Writes the groups' names beneath them, and their figures.
    fn label_groups(
        &self,
        area: &Area<'_>,
        rows: &[&Row],
        groups: &[String],
        (across, below): (Range<i32>, i32),
    ) -> Result<()> {
        let step = (across.end - across.start) / i32::try_from(groups.len().max(1))?;
        for (place, group) in groups.iter().enumerate() {
            let middle = across.start + step * i32::try_from(place)? + step / 2;
            let centred = |words: &str, below: i32| {
                let wide = i32::try_from(words.chars().count())? * 6;
                write(area, words, 12, (middle - wide / 2, below))
            };
            centred(group, below)?;
            let row = rows.iter().find(|row| row.text(self.group) == *group);
            if let (Some(row), Some(beneath)) = (row, &self.beneath) {
                centred(&beneath.cell(row).text, below + 14)?;
            }
        }
        Ok(())
    }
}

#[allow(clippy::cast_precision_loss)]
fn float(number: usize) -> f64 {
    number as f64
}
