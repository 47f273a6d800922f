//! The report of a run, for people.

use crate::checker::terms;
use crate::faults::Fault;
use crate::fleet::{ACTIVE, Process, STYLES};
use crate::history::{Operation, Time};
use punctual_bench::table::{Cell, Table, Tone};
use std::collections::BTreeMap;
use std::fmt;

/// What there is to report of a run.
pub(crate) struct Report<'r> {
    pub(crate) seed: u64,
    /// Histories of the groups, in the order of [`STYLES`].
    pub(crate) histories: &'r [Vec<Operation>],
    pub(crate) faults: &'r [Fault],
    pub(crate) processes: &'r [Process],
    pub(crate) errors: &'r BTreeMap<String, u64>,
}

impl Report<'_> {
    /// Returns the number of changes of a group's primary, as far as answers show them.
    fn failovers(&self, group: usize) -> usize {
        let terms = terms(&self.histories[group]);
        terms
            .windows(2)
            .filter(|pair| pair[0].member != pair[1].member)
            .count()
    }

    fn of_groups(&self) -> Table {
        let columns = [
            "calls",
            "answered",
            "not done",
            "not known",
            "longest time without an answer",
            "failovers",
        ];
        let groups = STYLES.iter().zip(self.histories).enumerate();
        let rows = groups.map(|(group, (style, history))| {
            let answered = history.iter().filter(|one| one.answered().is_some());
            let pending = history.iter().filter(|one| one.is_pending()).count();
            let answered = answered.count();
            let failovers = match group {
                0 | ACTIVE => Cell::none(),
                _ => plain(self.failovers(group)),
            };
            let cells = vec![
                plain(history.len()),
                plain(answered),
                plain(history.len() - answered - pending),
                plain(pending),
                plain(format!("{:.2} s", longest_gap(history) as f64 / 1e9)),
                failovers,
            ];
            ((*style).to_owned(), cells)
        });
        Table {
            title: format!("groups (seed {})", self.seed),
            columns: columns.map(str::to_owned).into(),
            rows: rows.collect(),
        }
    }

    fn of_faults(&self) -> Table {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for fault in self.faults {
            let what = match fault.name.split_once(" of ") {
                Some((role, _)) => format!("{role} {}", fault.what),
                None => fault.what.to_owned(),
            };
            *kinds.entry(what).or_default() += 1;
        }
        let starts: u32 = self
            .processes
            .iter()
            .map(|process| process.starts - 1)
            .sum();
        let kinds = kinds
            .into_iter()
            .map(|(what, count)| (what, vec![plain(count)]));
        let restarts = ("restarts of processes".to_owned(), vec![plain(starts)]);
        Table {
            title: "faults".to_owned(),
            columns: vec!["times".to_owned()],
            rows: kinds.chain([restarts]).collect(),
        }
    }

    fn of_errors(&self) -> Table {
        let rows = self.errors.iter();
        let rows = rows.map(|(name, count)| (name.clone(), vec![plain(*count)]));
        Table {
            title: "exceptions of clients".to_owned(),
            columns: vec!["times".to_owned()],
            rows: rows.collect(),
        }
    }
}

fn plain(text: impl ToString) -> Cell {
    Cell::new(text.to_string(), Tone::Plain)
}

/// Returns the longest time in which no call was answered.
pub(crate) fn longest_gap(history: &[Operation]) -> Time {
    let mut times: Vec<Time> = history
        .iter()
        .filter_map(|one| Some(one.answered()?.0))
        .collect();
    times.sort_unstable();
    let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.max().unwrap_or_default()
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in [self.of_groups(), self.of_faults(), self.of_errors()] {
            if !table.rows.is_empty() {
                writeln!(f, "{table}")?;
            }
        }
        Ok(())
    }
}
