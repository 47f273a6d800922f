//! Tables for a terminal: coloured there, plain elsewhere.

use anstyle::{AnsiColor, Style};
use std::fmt;

/// Rating of a table cell, which selects the cell's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Default rating, shown without a colour.
    #[default]
    Plain,
    /// Rating of unimportant cells, which are shown faint.
    Faint,
    /// Rating of good results.
    Good,
    /// Rating of bad results.
    Bad,
    /// Rating of unreliable figures.
    Doubtful,
}

/// Cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Text of the cell.
    pub text: String,
    /// Rating of the text, such as good or doubtful; shown by its colour.
    pub tone: Tone,
}

impl Cell {
    /// Makes a cell with the given text and rating.
    #[must_use]
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        let text = text.into();
        Self { text, tone }
    }

    /// Makes a cell that shows that there is no value.
    #[must_use]
    pub fn none() -> Self {
        Self::new("–", Tone::Faint)
    }
}

/// Table with a title, columns, and named rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Title above the table.
    pub title: String,
    /// Headings of the columns, without the column of row names.
    pub columns: Vec<String>,
    /// Names and cells of the rows.
    pub rows: Vec<(String, Vec<Cell>)>,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Doubtful => AnsiColor::Yellow.on_default(),
        }
    }
}

impl Table {
    /// Returns the width of a column's widest text, its heading included.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|(_, cells)| cells.get(column));
        let texts = cells.map(|cell| cell.text.chars().count());
        let heading = self.columns.get(column).map(|text| text.chars().count());
        texts.chain(heading).max().unwrap_or_default()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bold = Style::new().bold();
        let names = self.rows.iter().map(|(name, _)| name.chars().count());
        let left = names.max().unwrap_or_default();
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at)).collect();
        writeln!(f, "{bold}{}{bold:#}", self.title)?;
        write!(f, "{:left$}", "")?;
        for (column, width) in self.columns.iter().zip(&widths) {
            write!(f, "  {bold}{column:>width$}{bold:#}")?;
        }
        for (name, cells) in &self.rows {
            write!(f, "\n{name:<left$}")?;
            for (cell, width) in cells.iter().zip(&widths) {
                let style = cell.tone.style();
                write!(f, "  {style}{:>width$}{style:#}", cell.text)?;
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_stand_right() {
        let table = Table {
            title: "µs".to_owned(),
            columns: vec!["void".to_owned(), "x".to_owned()],
            rows: vec![
                ("raw tcp".to_owned(), vec![Cell::default(), Cell::none()]),
                ("a".to_owned(), vec![Cell::new("12345.6", Tone::Plain)]),
            ],
        };
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        let lines: Vec<&str> = plain.lines().collect();
        assert_eq!(lines[1], "            void  x");
        assert_eq!(lines[2], "raw tcp           –");
        assert_eq!(lines[3], "a        12345.6");
    }

    #[test]
    fn a_gain_is_green_and_a_loss_is_red() {
        let shown = |tone| {
            let cell = Cell::new("1", tone);
            let table = Table {
                columns: vec![String::new()],
                rows: vec![(String::new(), vec![cell])],
                ..Table::default()
            };
            table.to_string()
        };
        assert!(shown(Tone::Good).contains("\u{1b}[32m1"));
        assert!(shown(Tone::Bad).contains("\u{1b}[31m1"));
    }
}
