//! Charts of rows, as experiments declare them: curves over a number, and bars.

use super::draw::Drawn;
use super::row::{Row, every_row, fill, groups};
use super::{Column, Report};
use crate::Result;
use crate::drawing::sheet_of_charts;
use std::path::Path;

/// Charts on one sheet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet {
    /// Width and height of a chart, in pixels.
    size: (u32, u32),
    /// Number of charts side by side.
    columns: usize,
    charts: &'static [Chart],
}

/// Declared chart: rows of a report, in groups of which each has a chart of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chart {
    frame: &'static str,
    only: fn(&Row) -> bool,
    each: &'static [&'static str],
    title: &'static str,
    /// Number by which values are divided, and the axis's label.
    pub(super) up: (f64, &'static str),
    pub(super) shape: Shape,
}

/// Shape of a chart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Lines(Lines),
    Bars(Bars),
    Stacked(Stacked),
}

/// Horizontal bars of parts, one for each value of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stacked {
    /// Name of the value that has the bars.
    pub(super) bar: &'static str,
    /// Name of the value that has the parts.
    pub(super) part: &'static str,
    /// Name of the parts' length.
    pub(super) of: &'static str,
    /// Set if all bars are of one length, whatever the sum of their parts.
    pub(super) alike: bool,
}

/// Curves of values over a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Name of the number across, and the axis's label. Values that are lists of points need no
    /// name.
    pub(super) across: (&'static str, &'static str),
    /// Templates of the curves' names, each with the name of its value.
    pub(super) curves: &'static [(&'static str, &'static str)],
    /// Axes with a logarithmic scale: the one across, and the one up.
    pub(super) logarithmic: (bool, bool),
    /// Least number of points that make a curve worth drawing.
    pub(super) least: usize,
}

/// Bars, in a group for each value of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bars {
    /// Name of the bars' length.
    pub(super) of: &'static str,
    /// Name of the value that has the groups.
    pub(super) group: &'static str,
    /// Name of the value that has the bars of a group; empty for groups of one bar.
    pub(super) bar: &'static str,
    /// Figure that is written beneath each group.
    pub(super) beneath: Option<Column>,
}

impl Sheet {
    /// Sheet of an experiment that draws nothing.
    pub(crate) const NONE: Self = Self::new((1, 1), 1, &[]);

    /// Declares charts of this width and height, so many side by side.
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
    /// Declares curves of values over a number; title and the curves' names are templates.
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

    /// Declares bars as long as the values `of`, one for each value of the name `group`.
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

    /// Declares horizontal bars, one for each value of the name `bar`, with a part as long as the
    /// value `of` for each of the name `part`; with `alike`, parts are fractions of their bar.
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

    /// Selects rows.
    pub(crate) const fn only(self, only: fn(&Row) -> bool) -> Self {
        Self { only, ..self }
    }

    /// Makes a chart for each combination of the values of these names.
    pub(crate) const fn each(self, each: &'static [&'static str]) -> Self {
        Self { each, ..self }
    }

    /// Gives curves logarithmic axes: the one across, and the one up.
    pub(crate) const fn logarithmic(mut self, across: bool, up: bool) -> Self {
        if let Shape::Lines(lines) = &mut self.shape {
            lines.logarithmic = (across, up);
        }
        self
    }

    /// Leaves out charts none of whose curves has so many points.
    pub(crate) const fn least(mut self, least: usize) -> Self {
        if let Shape::Lines(lines) = &mut self.shape {
            lines.least = least;
        }
        self
    }

    /// Puts a bar for each value of this name into each group.
    pub(crate) const fn grouped_by(mut self, bar: &'static str) -> Self {
        if let Shape::Bars(bars) = &mut self.shape {
            bars.bar = bar;
        }
        self
    }

    /// Writes a figure beneath each group of bars.
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
