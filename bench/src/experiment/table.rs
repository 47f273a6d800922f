//! Tables of rows, as experiments declare them.

use super::row::{distinct, every_row, fill, groups};
use super::{Bound, Report, Row};
use crate::table::{Cell, Table, Tone};
use serde_json::Value;

/// Declared table of a report's rows: the rows are split into groups, each with a table of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tabled {
    frame: &'static str,
    only: fn(&Row) -> bool,
    each: &'static [&'static str],
    title: &'static str,
    beside: &'static str,
    shape: Shape,
}

/// Layout of a table: a listing or a matrix.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One line for each row; the text is the template of the line's name.
    Listing(&'static str, &'static [Column]),
    /// One line for each distinct value of one name, one column for each distinct value of another,
    /// and a figure in the cells.
    Matrix(&'static str, &'static str, Column),
}

/// Column of a table: the row value that it shows, with its unit and rating.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    heading: &'static str,
    of: &'static str,
    /// Divisor of the values: number of base units in the displayed unit.
    unit: f64,
    /// Number of decimals; `None` for as many as the value needs.
    decimals: Option<usize>,
    behind: &'static str,
    signed: bool,
    gain: bool,
    tone: Tone,
    bound: Option<Bound>,
    doubt: Doubt,
}

/// Display of figures that are not reliable.
#[derive(Clone, Copy, Debug)]
enum Doubt {
    /// Shows each figure without a mark, even if it is not reliable.
    Never,
    /// Figure, with a mark behind it if the row has this flag.
    Marked(&'static str),
    /// Words instead of the figure, unless the row has this flag.
    Hidden(&'static str),
    /// Empty cell instead of the figure, unless the row has this flag.
    Left(&'static str),
}

impl Column {
    const fn new(heading: &'static str, of: &'static str, unit: f64, decimals: usize) -> Self {
        Self {
            heading,
            of,
            unit,
            decimals: Some(decimals),
            behind: "",
            signed: false,
            gain: false,
            tone: Tone::Plain,
            bound: None,
            doubt: Doubt::Never,
        }
    }

    /// Makes a column that shows texts.
    pub(crate) const fn text(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1.0, 0)
    }

    /// Makes a column that shows numbers without decimals.
    pub(crate) const fn number(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1.0, 0)
    }

    /// Makes a column of numbers of different magnitudes, each shown with the decimals that it
    /// needs.
    pub(crate) const fn figure(heading: &'static str, of: &'static str) -> Self {
        let this = Self::new(heading, of, 1.0, 0);
        Self {
            decimals: None,
            ..this
        }
    }

    /// Makes a column of ratios, shown with two decimals.
    pub(crate) const fn ratio(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1.0, 2)
    }

    /// Makes a column of microseconds, of values in nanoseconds.
    pub(crate) const fn micros(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1000.0, 2)
    }

    /// Makes a column of milliseconds, of values in nanoseconds.
    pub(crate) const fn millis(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1e6, 1)
    }

    /// Makes a column of percentages, of values that are fractions.
    pub(crate) const fn percent(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 0.01, 1)
    }

    /// Makes the column that tells how far apart the rounds of a figure lie.
    pub(crate) const fn spread() -> Self {
        Self::percent("spread %", "spread").faint()
    }

    /// Makes a column of KiB, of values in bytes.
    pub(crate) const fn kibibytes(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1024.0, 2)
    }

    /// Makes a column of MiB, of values in bytes.
    pub(crate) const fn mebibytes(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1_048_576.0, 2)
    }

    pub(crate) const fn decimals(self, decimals: usize) -> Self {
        let decimals = Some(decimals);
        Self { decimals, ..self }
    }

    pub(crate) const fn faint(self) -> Self {
        let tone = Tone::Faint;
        Self { tone, ..self }
    }

    /// Shows a unit after each figure of the column.
    pub(crate) const fn followed_by(self, behind: &'static str) -> Self {
        Self { behind, ..self }
    }

    /// Shows the sign of each figure of the column, `+` included.
    pub(crate) const fn with_signs(self) -> Self {
        let signed = true;
        Self { signed, ..self }
    }

    /// Shows signs, and colours gains of at least 1 as good and losses of at least 1 as bad.
    pub(crate) const fn gain(self) -> Self {
        let gain = true;
        Self { gain, ..self }.with_signs()
    }

    /// Rates figures as good if they keep a bound, and as bad if they do not.
    pub(crate) const fn rated(self, bound: Bound) -> Self {
        let bound = Some(bound);
        Self { bound, ..self }
    }

    /// Marks the figures of rows that have this flag.
    pub(crate) const fn marked_by(self, flag: &'static str) -> Self {
        let doubt = Doubt::Marked(flag);
        Self { doubt, ..self }
    }

    /// Shows words instead of figures in rows that do not have this flag.
    pub(crate) const fn known_by(self, flag: &'static str) -> Self {
        let doubt = Doubt::Hidden(flag);
        Self { doubt, ..self }
    }

    /// Shows an empty cell in rows that do not have this flag.
    pub(crate) const fn shown_by(self, flag: &'static str) -> Self {
        let doubt = Doubt::Left(flag);
        Self { doubt, ..self }
    }

    /// Returns the cell that the column shows for a row.
    pub(super) fn cell(&self, row: &Row) -> Cell {
        let value = match row.get(self.of) {
            None => return Cell::none(),
            Some(Value::Number(number)) => number.as_f64().unwrap_or_default(),
            Some(_) => return self.words(&row.text(self.of)),
        };
        let (mark, doubtful) = match self.doubt {
            Doubt::Hidden(flag) if !row.flag(flag) => {
                return Cell::new("not known", Tone::Doubtful);
            }
            Doubt::Left(flag) if !row.flag(flag) => return Cell::none(),
            Doubt::Marked(flag) if row.flag(flag) => ("!", true),
            _ => ("", false),
        };
        let (scaled, behind) = (value / self.unit, self.behind);
        let number = match self.decimals {
            None => shown(scaled),
            Some(decimals) if self.signed => format!("{scaled:+.decimals$}"),
            Some(decimals) => format!("{scaled:.decimals$}"),
        };
        let text = format!("{number}{behind}{mark}");
        let tone = match self.bound {
            _ if doubtful => Tone::Doubtful,
            Some(bound) if bound.keeps(value) => Tone::Good,
            Some(_) => Tone::Bad,
            None if self.gain && scaled >= 1.0 => Tone::Good,
            None if self.gain && scaled <= -1.0 => Tone::Bad,
            None => self.tone,
        };
        Cell::new(text, tone)
    }

    /// Returns the cell of a text; verdicts are coloured by their meaning.
    fn words(&self, text: &str) -> Cell {
        match text {
            "ok" | "kept" => Cell::new(text, Tone::Good),
            "missed" | "moved" | "new" => Cell::new(text.replace('_', " "), Tone::Bad),
            "not_known" | "absent" => Cell::new(text.replace('_', " "), Tone::Doubtful),
            text => Cell::new(text, self.tone),
        }
    }
}

/// Formats a value: integers and values from 100 on without decimals, others with two.
pub(crate) fn shown(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value.fract() == 0.0 => format!("{value}"),
        value => format!("{value:.2}"),
    }
}

impl Tabled {
    /// Declares a table with a line for each row of a set; the title and the lines' names are
    /// templates.
    pub(crate) const fn listing(
        frame: &'static str,
        title: &'static str,
        named: &'static str,
        columns: &'static [Column],
    ) -> Self {
        Self::new(frame, title, Shape::Listing(named, columns))
    }

    /// Declares a table of a figure, with a line for each value of the name `down` and a column for
    /// each of `across`.
    pub(crate) const fn matrix(
        frame: &'static str,
        title: &'static str,
        (down, across): (&'static str, &'static str),
        cell: Column,
    ) -> Self {
        Self::new(frame, title, Shape::Matrix(down, across, cell))
    }

    const fn new(frame: &'static str, title: &'static str, shape: Shape) -> Self {
        Self {
            frame,
            only: every_row,
            each: &[],
            title,
            beside: "",
            shape,
        }
    }

    /// Restricts the table to the rows that satisfy a condition.
    pub(crate) const fn only(self, only: fn(&Row) -> bool) -> Self {
        Self { only, ..self }
    }

    /// Makes a table for each combination of the row values of these names.
    pub(crate) const fn each(self, each: &'static [&'static str]) -> Self {
        Self { each, ..self }
    }

    /// Appends the rows of another set, such as a paper's figures, to each table.
    pub(crate) const fn beside(self, beside: &'static str) -> Self {
        Self { beside, ..self }
    }

    /// Returns the tables of a report, one for each group of rows.
    pub(super) fn of(&self, report: &Report) -> Vec<Table> {
        let rows = report.frame(self.frame).iter();
        let rows = rows.filter(|row| (self.only)(row));
        let table = |rows: &Vec<&Row>| {
            let title = fill(self.title, &[rows[0], &report.settings]);
            let beside = report.frame(self.beside);
            match self.shape {
                Shape::Listing(named, columns) => {
                    let name = |row: &Row| fill(named, &[row, &report.settings]);
                    listing(title, columns, rows, beside, name)
                }
                Shape::Matrix(down, across, cell) => {
                    let all: Vec<&Row> = rows.iter().copied().chain(beside).collect();
                    matrix(title, (down, across), cell, &all)
                }
            }
        };
        groups(rows, self.each).iter().map(table).collect()
    }
}

fn listing(
    title: String,
    columns: &[Column],
    rows: &[&Row],
    beside: &[Row],
    name: impl Fn(&Row) -> String,
) -> Table {
    let line = |row: &Row, is_ours: bool| {
        let cell = |column: &Column| match is_ours {
            true => column.cell(row),
            false => column.faint().cell(row),
        };
        // A name without a value in its middle has two spaces there.
        let name = name(row).replace("  ", " ").trim_end().to_owned();
        (name, columns.iter().map(cell).collect())
    };
    let ours = rows.iter().map(|row| line(row, true));
    let headings = columns.iter().map(|column| column.heading.to_owned());
    Table {
        title,
        columns: headings.collect(),
        rows: ours
            .chain(beside.iter().map(|row| line(row, false)))
            .collect(),
    }
}

fn matrix(title: String, (down, across): (&str, &str), figure: Column, rows: &[&Row]) -> Table {
    let columns = distinct(rows.iter().map(|row| row.text(across)));
    let line = |name: String| {
        let own = rows.iter().filter(|row| row.text(down) == name);
        let cell = |column: &String| {
            let found = own.clone().find(|row| row.text(across) == *column);
            found.map_or_else(Cell::none, |row| figure.cell(row))
        };
        let cells = columns.iter().map(cell).collect();
        (name, cells)
    };
    let lines = distinct(rows.iter().map(|row| row.text(down)));
    Table {
        title,
        rows: lines.into_iter().map(line).collect(),
        columns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_its_unit_its_mark_and_its_rating() {
        let row = Row::default()
            .with("median", 1500)
            .with("gain", -3.0)
            .with("noisy", true)
            .with("verdict", "not_known");
        let micros = Column::micros("median", "median");
        assert_eq!(micros.cell(&row), Cell::new("1.50", Tone::Plain));
        let marked = micros.marked_by("noisy").cell(&row);
        assert_eq!(marked, Cell::new("1.50!", Tone::Doubtful));
        let hidden = micros.known_by("known").cell(&row);
        assert_eq!(hidden, Cell::new("not known", Tone::Doubtful));
        let bound = Bound::AtMost(1000.0);
        assert_eq!(micros.rated(bound).cell(&row).tone, Tone::Bad);
        let gain = Column::number("gain", "gain").gain().followed_by(" %");
        assert_eq!(gain.cell(&row), Cell::new("-3 %", Tone::Bad));
        assert_eq!(Column::ratio("x", "x").cell(&row), Cell::none());
        let verdict = Column::text("", "verdict").cell(&row);
        assert_eq!(verdict, Cell::new("not known", Tone::Doubtful));
    }
}
