//! Drawing of charts.

use super::chart::{Bars, Chart, Lines, Shape, Stacked};
use super::row::{Row, distinct, fill, groups};
use crate::Result;
use crate::drawing::{Area, entry, not_drawn, write};
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use serde_json::Value;
use std::ops::Range;

/// Chart to be drawn, with the report rows that it shows.
pub(super) struct Drawn<'r> {
    pub(super) chart: &'static Chart,
    pub(super) title: String,
    /// All rows of the report's set from which the chart's rows were selected.
    pub(super) frame: &'r [Row],
    pub(super) rows: Vec<&'r Row>,
}

/// Named curve of a chart, with its colour and points.
struct Curve {
    name: String,
    colour: RGBAColor,
    points: Vec<(u32, f64)>,
}

/// Colours of curves and bars, without green beside red; the first is that of the baseline.
const COLOURS: [RGBColor; 14] = [
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
    RGBColor(0x33, 0x22, 0x88),
    RGBColor(0xdd, 0xcc, 0x77),
];
/// Fraction of the width between two groups' starts that the bars of a group fill.
const FILLED: f64 = 0.84;
/// Number of labels along each axis of curves.
const LABELS: usize = 6;
/// Pixels to the right of grouped bars, for the legend.
const LEGEND: u32 = 220;
/// Dimensions of charts with stacked bars, in pixels: the margin, the height of a line of text, the
/// space left of the bars, and the length of the longest bar.
const MARGIN: i32 = 16;
const LINE: i32 = 20;
const LEFT: i32 = 220;
const LENGTH: f64 = 760.0;
/// Number of entries in a row of the legend of stacked bars, and the width of each entry in pixels.
const ENTRIES: usize = 4;
const ENTRY: i32 = 220;
/// Upper bound of the height of a stacked bar together with the space below it, in pixels.
const BAR: i32 = 34;

fn colour(place: usize) -> RGBColor {
    COLOURS[place % COLOURS.len()]
}

impl Drawn<'_> {
    pub(super) fn is_worth_it(&self) -> bool {
        match &self.chart.shape {
            Shape::Bars(_) | Shape::Stacked(_) => true,
            Shape::Lines(lines) => {
                let curves = self.curves(lines);
                let longest = curves.iter().map(|curve| curve.points.len()).max();
                longest.unwrap_or_default() >= lines.least
            }
        }
    }

    pub(super) fn draw(&self, area: &Area<'_>) -> Result<()> {
        match &self.chart.shape {
            Shape::Lines(lines) => self.draw_lines(lines, area),
            Shape::Bars(bars) => self.draw_bars(bars, area),
            Shape::Stacked(stacked) => self.draw_stacked(stacked, area),
        }
    }

    /// Returns the curves. Across all charts of a set of rows, a curve's name has one colour; of
    /// several curves drawn from one group of rows, those of the first template are darkest.
    fn curves(&self, lines: &Lines) -> Vec<Curve> {
        let mut curves = Vec::new();
        for ((template, value), strength) in lines.curves.iter().zip([1.0, 0.45]) {
            let names = distinct(self.frame.iter().map(|row| fill(template, &[row])));
            for (place, name) in names.into_iter().enumerate() {
                let own = self
                    .rows
                    .iter()
                    .filter(|row| fill(template, &[row]) == name);
                let points = own.flat_map(|row| self.points(lines, row, value));
                let mut points: Vec<_> = points.collect();
                points.sort_by_key(|point| point.0);
                curves.push(Curve {
                    name,
                    colour: colour(place).mix(strength),
                    points,
                });
            }
        }
        curves.retain(|curve| !curve.points.is_empty());
        curves
    }

    /// Returns the points of a row: one point, or those of a row value that is a list of points.
    fn points(&self, lines: &Lines, row: &Row, value: &str) -> Vec<(u32, f64)> {
        let points = match row.get(value).and_then(Value::as_array) {
            Some(list) => list
                .iter()
                .filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?)))
                .collect(),
            None => Vec::from_iter(row.number(lines.across.0).zip(row.number(value))),
        };
        // A value of zero has no place on a logarithmic scale.
        let fits = |up: f64| up > 0.0 || !lines.logarithmic.1;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let scaled = |(across, up): (f64, f64)| (across as u32, up / self.chart.up.0);
        points
            .into_iter()
            .map(scaled)
            .filter(|(_, up)| fits(*up))
            .collect()
    }

    fn draw_lines(&self, lines: &Lines, area: &Area<'_>) -> Result<()> {
        let curves = self.curves(lines);
        let all = || curves.iter().flat_map(|curve| &curve.points);
        let (low, high) = all().fold((u32::MAX, 0), |(low, high), (at, _)| {
            (low.min(*at), high.max(*at))
        });
        let (least, most) = all().fold((f64::MAX, 0.0_f64), |(least, most), (_, value)| {
            (least.min(*value), most.max(*value))
        });
        // A curve of one point needs a range, too.
        let (across, up) = (low..high.max(low + 1), 0.0..most * 1.25);
        let up_log = || (least * 0.8..most * 1.6).log_scale();
        match lines.logarithmic {
            (false, false) => self.draw_on(area, lines, &curves, across, up),
            (false, true) => self.draw_on(area, lines, &curves, across, up_log()),
            (true, false) => self.draw_on(area, lines, &curves, across.log_scale(), up),
            (true, true) => self.draw_on(area, lines, &curves, across.log_scale(), up_log()),
        }
    }

    fn draw_on<X, Y>(
        &self,
        area: &Area<'_>,
        lines: &Lines,
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
            .caption(&self.title, ("sans-serif", 15))
            .x_label_area_size(34)
            .y_label_area_size(60)
            .build_cartesian_2d(across, up)
            .map_err(not_drawn)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(LABELS)
            .y_labels(LABELS)
            .x_desc(lines.across.1)
            .y_desc(self.chart.up.1)
            .y_label_formatter(&|value| ((value * 100.0).round() / 100.0).to_string())
            .draw()
            .map_err(not_drawn)?;
        for curve in curves {
            let stroke = curve.colour.stroke_width(2);
            let line = LineSeries::new(curve.points.clone(), stroke).point_size(2);
            chart
                .draw_series(line)
                .map_err(not_drawn)?
                .label(&curve.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], stroke));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .draw()
            .map_err(not_drawn)
    }

    fn draw_bars(&self, declared: &Bars, area: &Area<'_>) -> Result<()> {
        let rows = &self.rows;
        let value = |row: &Row| self.bar(declared, row);
        let groups = distinct(rows.iter().map(|row| row.text(declared.group)));
        let bars = match declared.bar {
            "" => vec![String::new()],
            bar => distinct(rows.iter().map(|row| row.text(bar))),
        };
        let most = rows.iter().map(|row| value(row)).fold(0.0, f64::max);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(if bars.len() > 1 { LEGEND } else { 12 })
            .caption(&self.title, ("sans-serif", 16))
            .x_label_area_size(30)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..float(groups.len()), 0.0..most * 1.1)
            .map_err(not_drawn)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(0)
            .y_desc(self.chart.up.1)
            .draw()
            .map_err(not_drawn)?;
        let rectangles = self.rectangles(declared, &groups, &bars);
        chart.draw_series(rectangles).map_err(not_drawn)?;
        let (left, top) = chart.plotting_area().get_base_pixel();
        let (across, down) = chart.plotting_area().dim_in_pixel();
        let (x, y) = area.get_base_pixel();
        let (across, down) = (i32::try_from(across)?, i32::try_from(down)?);
        let (left, top) = (left - x, top - y);
        self.label_groups(
            declared,
            area,
            &groups,
            (left..left + across, top + down + 6),
        )?;
        for (place, name) in bars.iter().enumerate().filter(|_| bars.len() > 1) {
            let below = top + 20 * i32::try_from(place)?;
            entry(area, colour(place), name, (left + across + 20, below))?;
        }
        Ok(())
    }

    /// Returns the length of a row's bar, in units of the vertical axis.
    fn bar(&self, declared: &Bars, row: &Row) -> f64 {
        row.number(declared.of).unwrap_or_default() / self.chart.up.0
    }

    /// Returns the bars. If each group is one bar, the first bar has the base's colour and all
    /// others a second colour.
    fn rectangles(
        &self,
        declared: &Bars,
        groups: &[String],
        bars: &[String],
    ) -> Vec<Rectangle<(f64, f64)>> {
        let place = |names: &[String], name: String| {
            let mut names = names.iter();
            names.position(|one| *one == name).unwrap_or_default()
        };
        let width = FILLED / float(bars.len());
        let rectangle = |row: &&Row| {
            let group = place(groups, row.text(declared.group));
            let bar = place(bars, row.text(declared.bar));
            let shade = match declared.bar {
                "" => usize::from(group > 0),
                _ => bar,
            };
            let left = float(group) + (1.0 - FILLED) / 2.0 + float(bar) * width;
            let corners = [(left, 0.0), (left + width * 0.92, self.bar(declared, row))];
            Rectangle::new(corners, colour(shade).filled())
        };
        self.rows.iter().map(rectangle).collect()
    }

    /// Draws stacked bars, with the sum of the parts to the right of each bar and a legend below.
    fn draw_stacked(&self, declared: &Stacked, area: &Area<'_>) -> Result<()> {
        let value = |row: &Row| row.number(declared.of).unwrap_or_default();
        let bars = groups(self.rows.iter().copied(), &[declared.bar]);
        let parts = distinct(self.rows.iter().map(|row| row.text(declared.part)));
        let sum = |bar: &Vec<&Row>| bar.iter().map(|row| value(row)).sum::<f64>();
        let longest = bars.iter().map(sum).fold(f64::MIN_POSITIVE, f64::max);
        write(area, &self.title, 15, (MARGIN, MARGIN))?;
        let height = i32::try_from(area.dim_in_pixel().1)?;
        let legend = LINE * i32::try_from(parts.len().div_ceil(ENTRIES))?;
        let room = height - 3 * MARGIN - LINE - legend;
        let step = (room / i32::try_from(bars.len().max(1))?).min(BAR);
        let mut top = 2 * MARGIN + LINE;
        for bar in &bars {
            let whole = match declared.alike {
                true => sum(bar).max(f64::MIN_POSITIVE),
                false => longest,
            };
            write(area, &bar[0].text(declared.bar), 13, (MARGIN, top + 4))?;
            let mut end = 0.0;
            for row in bar {
                let begin = end;
                end += value(row) / whole;
                let corners = [(pixels(begin), top), (pixels(end), top + step * 3 / 4)];
                let place = parts.iter().position(|part| row.is(declared.part, part));
                let fill = colour(place.unwrap_or_default()).filled();
                area.draw(&Rectangle::new(corners, fill))
                    .map_err(not_drawn)?;
            }
            write(
                area,
                &format!("{:.0}", sum(bar)),
                13,
                (pixels(end) + 8, top + 4),
            )?;
            top += step;
        }
        draw_legend(area, &parts, top)
    }

    /// Writes the groups' names beneath them, and their figures.
    fn label_groups(
        &self,
        declared: &Bars,
        area: &Area<'_>,
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
            let mut rows = self.rows.iter();
            let row = rows.find(|row| row.text(declared.group) == *group);
            if let (Some(row), Some(beneath)) = (row, &declared.beneath) {
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

/// Draws the legend that names the parts of stacked bars.
fn draw_legend(area: &Area<'_>, parts: &[String], top: i32) -> Result<()> {
    for (place, part) in parts.iter().enumerate() {
        let left = LEFT + ENTRY * i32::try_from(place % ENTRIES)?;
        let line = top + LINE * i32::try_from(place / ENTRIES)?;
        entry(area, colour(place), part, (left, line))?;
    }
    Ok(())
}

/// Returns the horizontal position in pixels at which a bar ends, given its length as a fraction of
/// the longest.
#[allow(clippy::cast_possible_truncation)]
fn pixels(fraction: f64) -> i32 {
    // The value is far below the limit of an i32.
    LEFT + (fraction.clamp(0.0, 1.0) * LENGTH).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Report, Sheet};

    static EXPERIMENT: Experiment =
        Experiment::new("drawn", "what a chart shows").sheet(Sheet::new(
            (1140, 360),
            1,
            &[
                Chart::lines(
                    "rows",
                    "over {number}",
                    ("number", "n"),
                    &[("{who}", "time")],
                    (1.0, "ns"),
                )
                .logarithmic(true, true),
                Chart::bars("rows", "bars", "number", "time", (1.0, "ns")).grouped_by("who"),
                Chart::stacked("rows", "stacked", ("who", "number"), "time", true),
            ],
        ));

    #[test]
    fn each_kind_of_chart_names_what_it_shows() {
        let row = |(who, number, time): (&str, u32, f64)| {
            let row = Row::default().with("who", who);
            row.with("number", number).with("time", time)
        };
        let mut report = Report::new(&EXPERIMENT, Row::default());
        let rows = [
            ("one", 1, 5.0),
            ("one", 2, 0.0),
            ("other", 1, 7.0),
            ("other", 2, 9.0),
        ];
        report.add("rows", rows.map(row));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chart.svg");
        report.draw(&path).unwrap();
        let svg = std::fs::read_to_string(path).unwrap();
        for title in ["over 1", "bars", "stacked"] {
            assert_eq!(svg.matches(title).count(), 1, "{title}");
        }
        // In the legends of curves and bars, and beside a stacked bar.
        assert_eq!(svg.matches("\nother\n").count(), 3, "{svg}");
    }

    #[test]
    fn bars_stay_within_the_picture_and_every_part_has_a_colour_of_its_own() {
        assert_eq!(pixels(0.0), LEFT);
        assert_eq!(pixels(f64::INFINITY), pixels(1.0));
        assert!(pixels(1.0) < 1140 - 100);
        assert!(crate::timeprobes::paper::SERVER.len() <= COLOURS.len());
    }
}
