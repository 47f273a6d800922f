//! Charts of rows, as experiments declare them: curves over a number, and bars.

use super::draw::Drawn;
use super::row::{Row, every_row, fill, groups};
use super::{Column, Report};
use crate::Result;
use crate::drawing::sheet_of_charts;
use std::path::Path;

/// Sheet of charts that illustrates an experiment's report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet {
    /// Width and height of a chart, in pixels.
    size: (u32, u32),
    /// Number of charts in a row of the sheet.
    columns: usize,
    charts: &'static [Chart],
}

/// Declared chart of a report's rows: the rows are split into groups, each with a chart of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chart {
    frame: &'static str,
    only: fn(&Row) -> bool,
    each: &'static [&'static str],
    title: &'static str,
    /// Divisor of the values on the vertical axis, and the axis's label.
    pub(super) up: (f64, &'static str),
    pub(super) shape: Shape,
}

/// Shape of a chart: curves, grouped bars or stacked bars.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Lines(Lines),
    Bars(Bars),
    Stacked(Stacked),
}

/// Chart of horizontal bars that are composed of parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stacked {
    /// Name of the row value of which each distinct value has a bar.
    pub(super) bar: &'static str,
    /// Name of the row value that distinguishes the parts of a bar.
    pub(super) part: &'static str,
    /// Name of the row value that gives a part's length.
    pub(super) of: &'static str,
    /// Set if all bars are drawn with the full length, and parts as fractions of their bar.
    pub(super) alike: bool,
}

/// Chart of curves that plot row values against a numeric row value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Name of the row value on the horizontal axis, and the axis's label. The name is empty where
    /// the row values are lists of points.
    pub(super) across: (&'static str, &'static str),
    /// Template of each curve's name, and the name of the row value that it draws.
    pub(super) curves: &'static [(&'static str, &'static str)],
    /// Set for a logarithmic scale: of the horizontal axis, and of the vertical one.
    pub(super) logarithmic: (bool, bool),
    /// Minimum number of points of a curve; a shorter curve does not justify a chart.
    pub(super) least: usize,
}

/// Chart of vertical bars that stand in groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bars {
    /// Name of the row value that gives a bar's length.
    pub(super) of: &'static str,
    /// Name of the row value of which each distinct value has a group.
    pub(super) group: &'static str,
    /// Name of the row value that distinguishes the bars of a group; empty if each group is one
    /// bar.
    pub(super) bar: &'static str,
    /// Name of the figure that is written beneath each group.
    pub(super) beneath: Option<Column>,
}

impl Sheet {
    /// Sheet of an experiment that draws nothing.
    pub(crate) const NONE: Self = Self::new((1, 1), 1, &[]);

    /// Declares charts of the given width and height in pixels, arranged in the given number of
    /// columns.
    pub(crate) const fn new(size: (u32, u32), columns: usize, charts: &'static [Chart]) -> Self {
        Self {
            size,
            columns,
            charts,
        }
    }

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

impl Chart {
    /// Declares curves of row values over a number; the title and the curves' names are templates.
    pub(crate) const fn lines(
        frame: &'static str,
        title: &'static str,
        across: (&'static str, &'static str),
        curves: &'static [(&'static str, &'static str)],
        up: (f64, &'static str),
    ) -> Self {
        let lines = Lines {
            across,
            curves,
            logarithmic: (false, false),
            least: 1,
        };
        Self::new(frame, title, up, Shape::Lines(lines))
    }

    /// Declares vertical bars: a group for each distinct value of `group`, with bars as long as the
    /// row value `of`.
    pub(crate) const fn bars(
        frame: &'static str,
        title: &'static str,
        group: &'static str,
        of: &'static str,
        up: (f64, &'static str),
    ) -> Self {
        let bars = Bars {
            of,
            group,
            bar: "",
            beneath: None,
        };
        Self::new(frame, title, up, Shape::Bars(bars))
    }

    /// Declares horizontal bars: a bar for each distinct value of `bar`, composed of a part for
    /// each distinct value of `part`, as long as the row value `of`. With `alike`, all bars are
    /// equally long and parts are fractions of their bar.
    pub(crate) const fn stacked(
        frame: &'static str,
        title: &'static str,
        (bar, part): (&'static str, &'static str),
        of: &'static str,
        alike: bool,
    ) -> Self {
        let stacked = Stacked {
            bar,
            part,
            of,
            alike,
        };
        Self::new(frame, title, (1.0, ""), Shape::Stacked(stacked))
    }

    const fn new(
        frame: &'static str,
        title: &'static str,
        up: (f64, &'static str),
        shape: Shape,
    ) -> Self {
        Self {
            frame,
            only: every_row,
            each: &[],
            title,
            up,
            shape,
        }
    }

    /// Restricts the chart to the rows that satisfy a condition.
    pub(crate) const fn only(self, only: fn(&Row) -> bool) -> Self {
        Self { only, ..self }
    }

    /// Makes a chart for each combination of the row values of these names.
    pub(crate) const fn each(self, each: &'static [&'static str]) -> Self {
        Self { each, ..self }
    }

    /// Selects logarithmic scales for the horizontal (`across`) and the vertical (`up`) axis of
    /// curves.
    pub(crate) const fn logarithmic(mut self, across: bool, up: bool) -> Self {
        if let Shape::Lines(lines) = &mut self.shape {
            lines.logarithmic = (across, up);
        }
        self
    }

    /// Leaves out charts none of whose curves has at least this many points.
    pub(crate) const fn least(mut self, least: usize) -> Self {
        if let Shape::Lines(lines) = &mut self.shape {
            lines.least = least;
        }
        self
    }

    /// Puts a bar for each distinct value of this row value into each group.
    pub(crate) const fn grouped_by(mut self, bar: &'static str) -> Self {
        if let Shape::Bars(bars) = &mut self.shape {
            bars.bar = bar;
        }
        self
    }

    /// Prints a figure beneath each group of bars in the chart.
    pub(crate) const fn beneath(mut self, figure: Column) -> Self {
        if let Shape::Bars(bars) = &mut self.shape {
            bars.beneath = Some(figure);
        }
        self
    }

    /// Returns the charts of a report, one for each group of rows.
    fn of<'r>(&'static self, report: &'r Report) -> Vec<Drawn<'r>> {
        let frame = report.frame(self.frame);
        let rows = frame.iter().filter(|row| (self.only)(row));
        let drawn = groups(rows, self.each).into_iter().map(|rows| Drawn {
            chart: self,
            frame,
            title: fill(self.title, &[rows[0], &report.settings]),
            rows,
        });
        drawn.filter(Drawn::is_worth_it).collect()
    }
}
