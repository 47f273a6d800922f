//! Tables of rows, as experiments declare them.

use super::row::{distinct, fill, groups};
use super::{Bound, Report, Row};
use crate::table::{Cell, Table, Tone};
use serde_json::Value;

/// Declared table.
#[derive(Debug)]
pub(crate) enum Tabled {
    Listing(Listing),
    Matrix(Matrix),
}

/// Table with a line for each row.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Set of rows.
    pub(crate) frame: &'static str,
    /// Function that selects rows.
    pub(crate) only: fn(&Row) -> bool,
    /// Names of values; each combination of them has a table of its own.
    pub(crate) each: &'static [&'static str],
    /// Template of the title.
    pub(crate) title: &'static str,
    /// Template of a line's name.
    pub(crate) named: &'static str,
    /// Set of rows that stand below those of each table, such as a paper's; empty without one.
    pub(crate) beside: &'static str,
    pub(crate) columns: &'static [Column],
}

/// Table with a line for each value of one name, and a column for each of another.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) frame: &'static str,
    pub(crate) only: fn(&Row) -> bool,
    pub(crate) each: &'static [&'static str],
    pub(crate) title: &'static str,
    /// Name of the value that has the lines.
    pub(crate) down: &'static str,
    /// Name of the value that has the columns.
    pub(crate) across: &'static str,
    /// Set of rows that stand below those of each table, such as a paper's; empty without one.
    pub(crate) beside: &'static str,
    /// Figure in the cells.
    pub(crate) cell: Column,
}

/// Column of a table: a value of the rows, and its unit and rating.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    heading: &'static str,
    of: &'static str,
    /// Number by which the value is divided.
    unit: f64,
    /// Number of decimals; `None` for as many as the value needs.
    decimals: Option<usize>,
    behind: &'static str,
    signed: bool,
    tone: Tone,
    bound: Option<Bound>,
    doubt: Doubt,
}

/// Treatment of a figure that is not to be trusted.
#[derive(Clone, Copy, Debug)]
enum Doubt {
    /// None: the figure is always shown.
    Never,
    /// Mark behind the figure, if this flag is set.
    Marked(&'static str),
    /// Words in place of the figure, unless this flag is set.
    Hidden(&'static str),
    /// Nothing in place of the figure, unless this flag is set.
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
            tone: Tone::Plain,
            bound: None,
            doubt: Doubt::Never,
        }
    }

    /// Makes a column of texts.
    pub(crate) const fn text(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1.0, 0)
    }

    /// Makes a column of integers, or of numbers without their fractions.
    pub(crate) const fn number(heading: &'static str, of: &'static str) -> Self {
        Self::new(heading, of, 1.0, 0)
    }

    /// Makes a column of figures of different sizes, with the decimals that each needs.
    pub(crate) const fn figure(heading: &'static str, of: &'static str) -> Self {
        let this = Self::new(heading, of, 1.0, 0);
        Self {
            decimals: None,
            ..this
        }
    }

    /// Makes a column of ratios.
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

    /// Shows a unit behind each figure.
    pub(crate) const fn followed_by(self, behind: &'static str) -> Self {
        Self { behind, ..self }
    }

    /// Shows signs; gains of 1 and more are good, losses bad.
    pub(crate) const fn signed(self) -> Self {
        let signed = true;
        Self { signed, ..self }
    }

    /// Rates figures as good if they keep a bound, and as bad if they do not.
    pub(crate) const fn rated(self, bound: Bound) -> Self {
        let bound = Some(bound);
        Self { bound, ..self }
    }

    /// Marks figures whose rows have this flag.
    pub(crate) const fn marked_by(self, flag: &'static str) -> Self {
        let doubt = Doubt::Marked(flag);
        Self { doubt, ..self }
    }

    /// Hides figures whose rows do not have this flag.
    pub(crate) const fn known_by(self, flag: &'static str) -> Self {
        let doubt = Doubt::Hidden(flag);
        Self { doubt, ..self }
    }

    /// Leaves out figures whose rows do not have this flag.
    pub(crate) const fn shown_by(self, flag: &'static str) -> Self {
        let doubt = Doubt::Left(flag);
        Self { doubt, ..self }
    }

    /// Returns the cell of a row.
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
            None if self.signed && scaled >= 1.0 => Tone::Good,
            None if self.signed && scaled <= -1.0 => Tone::Bad,
            None => self.tone,
        };
        Cell::new(text, tone)
    }

    /// Returns the cell of a text; verdicts have their tones.
    fn words(&self, text: &str) -> Cell {
        match text {
            "ok" | "kept" => Cell::new(text, Tone::Good),
            "missed" | "no_budget" => Cell::new(text.replace('_', " "), Tone::Bad),
            "not_known" | "absent" => Cell::new(text.replace('_', " "), Tone::Doubtful),
            text => Cell::new(text, self.tone),
        }
    }
}

/// Formats a value: without decimals from 100 on and for integers, otherwise with two.
pub(crate) fn shown(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value.fract() == 0.0 => format!("{value}"),
        value => format!("{value:.2}"),
    }
}

impl Tabled {
    /// Returns the tables of a report, one for each group of rows.
    pub(super) fn of(&self, report: &Report) -> Vec<Table> {
        let (frame, only, each) = match self {
            Self::Listing(listing) => (listing.frame, listing.only, listing.each),
            Self::Matrix(matrix) => (matrix.frame, matrix.only, matrix.each),
        };
        let rows = report.frame(frame).iter().filter(|row| only(row));
        let table = |rows: &Vec<&Row>| match self {
            Self::Listing(listing) => listing.table(report, rows),
            Self::Matrix(matrix) => matrix.table(report, rows),
        };
        groups(rows, each).iter().map(table).collect()
    }
}

impl Listing {
    fn table(&self, report: &Report, rows: &[&Row]) -> Table {
        let line = |row: &Row| {
            let cells = self.columns.iter().map(|column| column.cell(row));
            let name = fill(self.named, &[row, &report.settings]);
            (name.trim_end().to_owned(), cells.collect())
        };
        let beside = report.frame(self.beside).iter().map(|row| {
            let cells = self.columns.iter().map(|column| column.faint().cell(row));
            (fill(self.named, &[row]), cells.collect())
        });
        let headings = self.columns.iter().map(|column| column.heading);
        Table {
            title: fill(self.title, &[rows[0], &report.settings]),
            columns: headings.map(str::to_owned).collect(),
            rows: rows.iter().map(|row| line(row)).chain(beside).collect(),
        }
    }
}

impl Matrix {
    fn table(&self, report: &Report, own: &[&Row]) -> Table {
        let beside = report.frame(self.beside).iter();
        let rows: Vec<&Row> = own.iter().copied().chain(beside).collect();
        let columns = distinct(rows.iter().map(|row| row.text(self.across)));
        let line = |name: String| {
            let own = rows.iter().filter(|row| row.text(self.down) == name);
            let cell = |column: &String| {
                let found = own.clone().find(|row| row.text(self.across) == *column);
                found.map_or_else(Cell::none, |row| self.cell.cell(row))
            };
            let cells = columns.iter().map(cell).collect();
            (name, cells)
        };
        let lines = distinct(rows.iter().map(|row| row.text(self.down)));
        Table {
            title: fill(self.title, &[rows[0], &report.settings]),
            rows: lines.into_iter().map(line).collect(),
            columns,
        }
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
        let gain = Column::number("gain", "gain").signed().followed_by(" %");
        assert_eq!(gain.cell(&row), Cell::new("-3 %", Tone::Bad));
        assert_eq!(Column::ratio("x", "x").cell(&row), Cell::none());
        let verdict = Column::text("", "verdict").cell(&row);
        assert_eq!(verdict, Cell::new("not known", Tone::Doubtful));
    }
}
