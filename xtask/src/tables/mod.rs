//! `cargo xtask tables`: check of the tables that list the supported items of a module of the
//! standard.
//!
//! Each operation of the module, each exception and each value of a policy stands in the first
//! column of exactly one row, and the row's last column names a test of it, or begins with `not
//! there` and says why. A test is `FILE::NAME`, where `FILE` stands in a row `FILE | path` of the
//! page; the file must have a test of that name. Tests of Rust are functions with `#[test]`, those
//! of peers are cases: `test("NAME"`.

mod asynchrony;
mod constraints;
mod cosevent;
mod events;
mod groups;
mod imr;
mod interceptors;
mod log;
mod messaging;
mod multicast;
mod naming;
mod notification;
mod poa;
mod real_time;
mod rtevent_service;

use crate::run::{Result, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Page with a table, and the table's required rows.
struct Page {
    path: &'static str,
    /// Interfaces with their operations and attributes, each of which needs a row.
    interfaces: &'static [(&'static str, &'static [&'static str])],
    /// Exceptions, policies and other names, each of which needs a row, too.
    others: &'static [&'static [&'static str]],
}

const PAGES: [Page; 15] = [
    asynchrony::PAGE,
    constraints::PAGE,
    cosevent::PAGE,
    events::PAGE,
    groups::PAGE,
    imr::PAGE,
    interceptors::PAGE,
    log::PAGE,
    messaging::PAGE,
    multicast::PAGE,
    naming::PAGE,
    notification::PAGE,
    poa::PAGE,
    real_time::PAGE,
    rtevent_service::PAGE,
];

/// Checks the conformance tables and returns an error that lists their mistakes.
pub(crate) fn check() -> Result<()> {
    PAGES.iter().try_for_each(Page::check)
}

impl Page {
    fn check(&self) -> Result<()> {
        let page = read(&root().join(self.path))?;
        let table = Table::parse(&page);
        let mistakes = table.mistakes(&self.required(), &|path| read(&root().join(path)).ok());
        if mistakes.is_empty() {
            let not_there = table.rows.iter().filter(|row| row.is_not_there()).count();
            println!(
                "tables: {} has {} rows, {} tests, {not_there} not there",
                self.path,
                table.rows.len(),
                table.tests().count()
            );
            return Ok(());
        }
        Err(format!(
            "{} is wrong:\n  {}",
            self.path,
            mistakes.join("\n  ")
        ))
    }

    /// Returns the subjects for which the page's table must have rows.
    fn required(&self) -> Vec<String> {
        let operations = self.interfaces.iter().flat_map(|(interface, operations)| {
            operations
                .iter()
                .map(move |operation| format!("{interface}::{operation}"))
        });
        let others = self.others.iter().copied().flatten();
        operations
            .chain(others.map(|name| (*name).to_owned()))
            .collect()
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Row of a table: its subject, and its last cell, which names a test.
#[derive(Debug)]
struct Row {
    about: String,
    covered: String,
}

impl Row {
    fn tests(&self) -> impl Iterator<Item = (&str, &str)> {
        code(&self.covered).filter_map(|code| code.split_once("::"))
    }

    fn is_not_there(&self) -> bool {
        self.covered.starts_with("not there: ")
    }
}

/// Rows of a page's table, and the paths of the test files that the page names.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<Row>,
    files: BTreeMap<String, String>,
}

impl Table {
    /// Reads a page: a row whose last cell is a single path names a test file; other rows have a
    /// subject.
    fn parse(page: &str) -> Self {
        let mut table = Self::default();
        for line in page.lines() {
            let cells: Vec<&str> = match line.strip_prefix('|').and_then(|l| l.strip_suffix('|')) {
                Some(line) => line.split('|').map(str::trim).collect(),
                None => continue,
            };
            let ([first, ..], [.., last]) = (cells.as_slice(), cells.as_slice()) else {
                continue;
            };
            let about = code(first).next().filter(|_| first.starts_with('`'));
            let Some(about) = about else {
                continue;
            };
            let path = code(last).next().filter(|path| path.contains('/'));
            match path {
                Some(path) if !path.contains("::") => {
                    table.files.insert(about.to_owned(), path.to_owned());
                }
                // Tables of two columns have another purpose.
                _ if cells.len() < 3 => {}
                _ => table.rows.push(Row {
                    about: about.to_owned(),
                    covered: (*last).to_owned(),
                }),
            }
        }
        table
    }

    fn tests(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.iter().flat_map(Row::tests)
    }

    /// Returns the mistakes in the table; `file` returns the text of a test file, given its path.
    fn mistakes(&self, required: &[String], file: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        let mut mistakes = Vec::new();
        for name in required {
            match self.rows.iter().filter(|row| row.about == *name).count() {
                1 => {}
                0 => mistakes.push(format!("`{name}` has no row")),
                rows => mistakes.push(format!("`{name}` has {rows} rows")),
            }
        }
        for row in &self.rows {
            if row.tests().next().is_none() && !row.is_not_there() {
                mistakes.push(format!(
                    "`{}` names no test and does not say `not there: …`",
                    row.about
                ));
            }
        }
        let mut known = BTreeMap::new();
        for (name, path) in &self.files {
            match file(path) {
                Some(text) => drop(known.insert(name.as_str(), tests_in(&text))),
                None => mistakes.push(format!("`{name}` stands for `{path}`, which is not there")),
            }
        }
        for (name, test) in self.tests() {
            match known.get(name) {
                Some(tests) if tests.contains(test) => {}
                Some(_) => mistakes.push(format!("`{name}` has no test `{test}`")),
                None => mistakes.push(format!("`{name}::{test}`: no file has this name")),
            }
        }
        mistakes
    }
}

/// Returns the texts between backticks in a table cell.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Returns the tests in a file: functions with `#[test]` before them, and cases of a peer's client.
fn tests_in(text: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if let Some((name, _)) = line
            .strip_prefix("fn ")
            .and_then(|rest| rest.split_once(['(', '<']))
            && is_test
        {
            tests.insert(name.to_owned());
        }
        // Other attributes may stand in between.
        is_test = line == "#[test]" || (is_test && line.starts_with("#["));
        let case = line.split_once("test(\"").map(|(_, rest)| rest);
        if let Some((case, _)) = case.and_then(|rest| rest.split_once('"')) {
            tests.insert(case.to_owned());
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "\
| file | path |
|---|---|
| `tree` | `tests/tree.rs` |
| `peer` | `peers/client.cc` |

| operation | here | covered by |
|---|---|---|
| `POA::find_POA` | `Poa::find_poa` | `tree::a_child_is_found`, `peer::adapter activator` |
| `POA::id` | | not there: nobody asks |
";

    fn mistakes(page: &str) -> Vec<String> {
        let required = ["POA::find_POA", "POA::id"].map(str::to_owned);
        Table::parse(page).mistakes(&required, &|path| match path {
            "tests/tree.rs" => Some(
                "#[test]\n#[ignore]\nfn a_child_is_found() {\n\nfn helper() {\n\nfn beside() {"
                    .to_owned(),
            ),
            "peers/client.cc" => Some("    test(\"adapter activator\", [&] {".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn a_true_table_has_no_mistakes() {
        assert_eq!(mistakes(EXAMPLE), Vec::<String>::new());
    }

    #[test]
    fn an_operation_without_a_row_or_with_two_is_a_mistake() {
        let without = EXAMPLE.replace("`POA::id`", "`POA::name`");
        assert_eq!(mistakes(&without), ["`POA::id` has no row"]);
        let twice = format!("{EXAMPLE}| `POA::id` | | not there: nobody asks |\n");
        assert_eq!(mistakes(&twice), ["`POA::id` has 2 rows"]);
    }

    #[test]
    fn a_test_that_is_not_there_is_a_mistake() {
        for (test, mistake) in [
            ("tree::helper", "`tree` has no test `helper`"),
            ("peer::forward", "`peer` has no test `forward`"),
            ("shrub::a_leaf", "`shrub::a_leaf`: no file has this name"),
        ] {
            let page = EXAMPLE.replace("tree::a_child_is_found", test);
            assert_eq!(mistakes(&page), [mistake]);
        }
    }

    #[test]
    fn a_row_that_names_no_test_says_why() {
        let page = EXAMPLE.replace("not there: nobody asks", "");
        assert_eq!(
            mistakes(&page),
            ["`POA::id` names no test and does not say `not there: …`"]
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_a_mistake() {
        let page = EXAMPLE.replace("tests/tree.rs", "tests/bush.rs");
        assert_eq!(mistakes(&page).len(), 2);
    }

    #[test]
    fn the_tables_of_this_project_are_true() {
        assert_eq!(check(), Ok(()));
    }
}
