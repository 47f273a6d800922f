//! Report for people: matrices, and the notes on them.

use super::contender::{LeftOut, SPINNING};
use super::operation::Operation;
use super::paper::Comparison;
use super::report::{Compared, NOISY, OneWay, Report, Row};
use crate::placement::Placement;
use crate::table::{Cell, Table, Tone};
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.machine(f)?;
        for cpus in [Placement::Same, Placement::Cross] {
            self.placement(f, cpus)?;
        }
        self.notes(f)
    }
}

impl Report {
    fn machine(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}\n{} rounds of {} calls of each; shared memory spins for {} µs or not at all",
            self.machine, self.rounds, self.calls, self.spin_us
        )
    }

    fn placement(&self, f: &mut fmt::Formatter<'_>, cpus: Placement) -> fmt::Result {
        let where_ = match cpus {
            Placement::Same => "same: both sides on one processor",
            _ => "cross: each side on a processor of its own",
        };
        let of = |rows: &'_ [Row]| rows.iter().any(|row| row.cpus == cpus);
        if of(&self.figure_16) {
            writeln!(f, "\n{where_}")?;
            let rows: Vec<&Row> = at(cpus, &self.figure_16);
            write!(
                f,
                "\n{}",
                matrix("two-way call, median in µs", &rows, median)
            )?;
            write!(f, "\n{}", with_paper(&rows))?;
            write!(
                f,
                "\n{}",
                matrix("time ÷ raw TCP's", &rows, |row| times(row.times_raw_tcp))
            )?;
            let unix = matrix("time ÷ raw Unix sockets'", &rows, |row| {
                times(row.times_raw_unix)
            });
            write!(f, "\n{unix}")?;
            write!(
                f,
                "\n{}",
                matrix("p50 / p99 of all calls in µs", &rows, percentiles)
            )?;
            write!(f, "\n{}", comparisons(cpus, &self.compared))?;
            spinning(f, &rows)?;
        }
        if self.one_way.iter().any(|row| row.cpus == cpus) {
            write!(f, "\n{}", throughput(cpus, &self.one_way))?;
        }
        if of(&self.lent) {
            let rows: Vec<&Row> = at(cpus, &self.lent);
            let title = "1 MiB of octets to the server, median in µs: from the caller's memory, from a \
                         lent buffer, and with nothing lent";
            write!(f, "\n{}", matrix(title, &rows, median))?;
        }
        Ok(())
    }

    fn notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nThe paper's figures are those of its text (§5.2), of gains in rate; the heights of figure \
             16's bars are in an image only, and are not available."
        )?;
        let all = || self.figure_16.iter().chain(&self.lent);
        let (noisy, number) = (all().filter(|row| row.noisy).count(), all().count());
        if noisy > 0 {
            writeln!(
                f,
                "! the machine was restless: in {noisy} of {number} figures the rounds' medians lie more \
                 than {:.0} % apart. Trust the gains and ratios, taken round by round, before the times.",
                NOISY * 100.0
            )?;
        }
        if !self.one_way_only.is_empty() {
            writeln!(f, "one-ways only: {}", self.one_way_only.join(", "))?;
        }
        list(f, "left out", &self.left_out)?;
        list(f, "failed", &self.failed)
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, left_out: &[LeftOut]) -> fmt::Result {
    for LeftOut { contender, reason } in left_out {
        writeln!(f, "{title}: {contender}: {reason}")?;
    }
    Ok(())
}

fn at(cpus: Placement, rows: &[Row]) -> Vec<&Row> {
    rows.iter().filter(|row| row.cpus == cpus).collect()
}

/// Makes a table with a row for each contender and a column for each operation.
fn matrix(title: &str, rows: &[&Row], cell: impl Fn(&Row) -> Cell) -> Table {
    let (mut names, mut columns) = (Vec::new(), Vec::<Operation>::new());
    for row in rows {
        if !names.contains(&&row.contender) {
            names.push(&row.contender);
        }
        if !columns.contains(&row.operation) {
            columns.push(row.operation);
        }
    }
    let cells = |name: &String| {
        let of = |operation: &Operation| {
            let is = |row: &&&Row| row.contender == *name && row.operation == *operation;
            rows.iter()
                .find(is)
                .map_or_else(Cell::none, |row| cell(row))
        };
        (name.clone(), columns.iter().map(of).collect())
    };
    Table {
        title: title.to_owned(),
        columns: columns.iter().map(ToString::to_string).collect(),
        rows: names.into_iter().map(cells).collect(),
    }
}

fn median(row: &Row) -> Cell {
    let micros = row.figures.median / 1000.0;
    if row.noisy {
        Cell::new(format!("{micros:.2}!"), Tone::Doubtful)
    } else if row.protocol.is_none() {
        Cell::new(format!("{micros:.2}"), Tone::Faint)
    } else {
        Cell::new(format!("{micros:.2}"), Tone::Plain)
    }
}

fn gain(row: &Row) -> Cell {
    let Some(gain) = row.gain_percent else {
        return Cell::none();
    };
    let tone = match gain {
        gain if gain >= 1.0 => Tone::Good,
        gain if gain <= -1.0 => Tone::Bad,
        _ => Tone::Plain,
    };
    Cell::new(format!("{gain:+.1}"), tone)
}

fn times(ratio: Option<f64>) -> Cell {
    ratio.map_or_else(Cell::none, |ratio| {
        Cell::new(format!("{ratio:.2}"), Tone::Plain)
    })
}

#[allow(clippy::cast_precision_loss)]
fn percentiles(row: &Row) -> Cell {
    let micros = |nanoseconds: u64| nanoseconds as f64 / 1000.0;
    let (p50, p99) = (micros(row.figures.p50), micros(row.figures.p99));
    Cell::new(format!("{p50:.1} / {p99:.1}"), Tone::Plain)
}

/// Makes the table of gains; below each row that the paper has stands the paper's.
fn with_paper(rows: &[&Row]) -> Table {
    let pairs: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| row.protocol.is_some())
        .collect();
    let title = "gain over iiop in per cent, and the paper's";
    let mut table = matrix(title, &pairs, gain);
    let mut columns: Vec<Operation> = Vec::new();
    for row in rows {
        if !columns.contains(&row.operation) {
            columns.push(row.operation);
        }
    }
    let mut both = Vec::new();
    for (name, cells) in table.rows {
        let paper = Comparison::over_base(&name).map(|paper| {
            let cell = |operation: &Operation| Cell::new(paper.at(*operation), Tone::Faint);
            (
                "  the paper's".to_owned(),
                columns.iter().map(cell).collect(),
            )
        });
        both.push((name, cells));
        both.extend(paper);
    }
    table.rows = both;
    table
}

fn comparisons(cpus: Placement, compared: &[Compared]) -> Table {
    let row = |one: &Compared| {
        let number = |value: f64| Cell::new(format!("{value:+.2}"), Tone::Plain);
        let cells = vec![
            number(one.least),
            number(one.mean),
            number(one.most),
            Cell::new(one.paper.words(), Tone::Faint),
        ];
        (
            format!("{} over {}", one.paper.protocol, one.paper.over),
            cells,
        )
    };
    let here = compared.iter().filter(|one| one.cpus == cpus);
    Table {
        title: "the paper's comparisons, gain in per cent over all types".to_owned(),
        columns: ["least", "mean", "most", "the paper"]
            .map(str::to_owned)
            .to_vec(),
        rows: here.map(row).collect(),
    }
}

/// Writes how much faster shared memory with spinning sides is than TCP with sleeping ones.
fn spinning(f: &mut fmt::Formatter<'_>, rows: &[&Row]) -> fmt::Result {
    let void = rows.iter().filter(|row| row.operation == Operation::Void);
    for row in void.filter(|row| row.contender.ends_with(SPINNING)) {
        if let Some(gain) = row.gain_percent {
            let times = gain / 100.0 + 1.0;
            writeln!(f, "{}: {times:.1} × as fast as iiop (void)", row.contender)?;
        }
    }
    Ok(())
}

fn throughput(cpus: Placement, rows: &[OneWay]) -> Table {
    let row = |one: &OneWay| {
        let figures = &one.throughput;
        let noisy = figures.spread > NOISY;
        let (mark, tone) = if noisy {
            ("!", Tone::Doubtful)
        } else {
            ("", Tone::Plain)
        };
        let lost = if figures.lost > 0 {
            Tone::Bad
        } else {
            Tone::Faint
        };
        let cells = vec![
            Cell::new(one.octets.to_string(), Tone::Plain),
            Cell::new(format!("{:.0}{mark}", figures.rate), tone),
            Cell::new(format!("{:.1}", figures.spread * 100.0), Tone::Plain),
            Cell::new(format!("{} of {}", figures.lost, figures.sent), lost),
        ];
        (one.contender.clone(), cells)
    };
    let here = rows.iter().filter(|one| one.cpus == cpus);
    Table {
        title: "one-ways, until the server has counted them".to_owned(),
        columns: ["octets", "requests/s", "spread %", "lost"]
            .map(str::to_owned)
            .to_vec(),
        rows: here.map(row).collect(),
    }
}
