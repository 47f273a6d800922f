//! `cargo xtask poa-table`: the table of the object adapter in `docs/poa.md` tells the truth.
//!
//! Each operation of the PortableServer module, each exception and each value of a policy stands in the
//! first column of exactly one row, and the row's last column names a test of it, or begins with `not
//! there` and says why. A test is `FILE::NAME`, where `FILE` stands in a row `FILE | path` of the page;
//! the file must have a test of that name. Tests of Rust are functions with `#[test]`, those of peers
//! are cases: `test("NAME"`.

use crate::run::{Result, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the table stands.
const PAGE: &str = "docs/poa.md";

/// The interfaces of the module PortableServer (CORBA 3.3 part 1, 15.5), and the table of plain object
/// keys as TAO has it, with their operations and attributes.
const INTERFACES: [(&str, &[&str]); 10] = [
    (
        "POA",
        &[
            "create_POA",
            "find_POA",
            "destroy",
            "create_thread_policy",
            "create_lifespan_policy",
            "create_id_uniqueness_policy",
            "create_id_assignment_policy",
            "create_implicit_activation_policy",
            "create_servant_retention_policy",
            "create_request_processing_policy",
            "the_name",
            "the_parent",
            "the_children",
            "the_POAManager",
            "the_activator",
            "the_POAManagerFactory",
            "get_servant_manager",
            "set_servant_manager",
            "get_servant",
            "set_servant",
            "activate_object",
            "activate_object_with_id",
            "deactivate_object",
            "create_reference",
            "create_reference_with_id",
            "servant_to_id",
            "servant_to_reference",
            "reference_to_servant",
            "reference_to_id",
            "id_to_servant",
            "id_to_reference",
            "id",
        ],
    ),
    (
        "POAManager",
        &[
            "activate",
            "hold_requests",
            "discard_requests",
            "deactivate",
            "get_state",
            "get_id",
        ],
    ),
    ("POAManagerFactory", &["create_POAManager", "list", "find"]),
    (
        "Current",
        &["get_POA", "get_object_id", "get_reference", "get_servant"],
    ),
    ("AdapterActivator", &["unknown_adapter"]),
    ("ServantActivator", &["incarnate", "etherealize"]),
    ("ServantLocator", &["preinvoke", "postinvoke"]),
    (
        "Servant",
        &[
            "_this",
            "_default_POA",
            "_is_a",
            "_non_existent",
            "_get_interface",
            "_repository_id",
        ],
    ),
    (
        "IORTable",
        &["bind", "rebind", "unbind", "find", "set_locator"],
    ),
    ("Locator", &["locate"]),
];

/// The exceptions of the module.
const EXCEPTIONS: [&str; 15] = [
    "POA::AdapterAlreadyExists",
    "POA::AdapterNonExistent",
    "POA::InvalidPolicy",
    "POA::NoServant",
    "POA::ObjectAlreadyActive",
    "POA::ObjectNotActive",
    "POA::ServantAlreadyActive",
    "POA::ServantNotActive",
    "POA::WrongAdapter",
    "POA::WrongPolicy",
    "POAManager::AdapterInactive",
    "POAManagerFactory::ManagerAlreadyExists",
    "Current::NoContext",
    "PortableServer::ForwardRequest",
    "IORTable::AlreadyBound",
];

/// The values of the seven policies, and the combinations that 15.3.8 has something to say about.
const POLICIES: [&str; 22] = [
    "ORB_CTRL_MODEL",
    "SINGLE_THREAD_MODEL",
    "MAIN_THREAD_MODEL",
    "TRANSIENT",
    "PERSISTENT",
    "UNIQUE_ID",
    "MULTIPLE_ID",
    "USER_ID",
    "SYSTEM_ID",
    "IMPLICIT_ACTIVATION",
    "NO_IMPLICIT_ACTIVATION",
    "RETAIN",
    "NON_RETAIN",
    "USE_ACTIVE_OBJECT_MAP_ONLY",
    "USE_DEFAULT_SERVANT",
    "USE_SERVANT_MANAGER",
    "all legal combinations",
    "NON_RETAIN with USE_ACTIVE_OBJECT_MAP_ONLY",
    "USE_DEFAULT_SERVANT with UNIQUE_ID",
    "IMPLICIT_ACTIVATION with USER_ID",
    "IMPLICIT_ACTIVATION with NON_RETAIN",
    "two values of one policy",
];

/// Refuses a table that is not true.
pub(crate) fn check() -> Result<()> {
    let page = read(&root().join(PAGE))?;
    let table = Table::parse(&page);
    let mistakes = table.mistakes(&required(), &|path| read(&root().join(path)).ok());
    if mistakes.is_empty() {
        println!(
            "poa-table: {} rows, {} tests",
            table.rows.len(),
            table.tests().count()
        );
        return Ok(());
    }
    Err(format!("{PAGE} is wrong:\n  {}", mistakes.join("\n  ")))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// What must stand in the table.
fn required() -> Vec<String> {
    let operations = INTERFACES.iter().flat_map(|(interface, operations)| {
        operations
            .iter()
            .map(move |operation| format!("{interface}::{operation}"))
    });
    let others = EXCEPTIONS.iter().chain(&POLICIES);
    operations
        .chain(others.map(|name| (*name).to_owned()))
        .collect()
}

/// A row: what it is about, and its last cell.
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

/// The page's rows, and the files that it names.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<Row>,
    files: BTreeMap<String, String>,
}

impl Table {
    /// From the page: rows whose last cell is one path are files, the others are about something.
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
            let Some(about) = code(first).next() else {
                continue;
            };
            let path = code(last).next().filter(|path| path.contains('/'));
            match path {
                Some(path) if !path.contains("::") => {
                    table.files.insert(about.to_owned(), path.to_owned());
                }
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

    /// What is wrong, where `file` has the text of a file.
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

/// What stands between backticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The tests in a file: functions with `#[test]` before them, and cases of a peer's client.
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
        // Other attributes may stand between.
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

    const PAGE: &str = "\
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
        assert_eq!(mistakes(PAGE), Vec::<String>::new());
    }

    #[test]
    fn an_operation_without_a_row_or_with_two_is_a_mistake() {
        let without = PAGE.replace("`POA::id`", "`POA::name`");
        assert_eq!(mistakes(&without), ["`POA::id` has no row"]);
        let twice = format!("{PAGE}| `POA::id` | | not there: nobody asks |\n");
        assert_eq!(mistakes(&twice), ["`POA::id` has 2 rows"]);
    }

    #[test]
    fn a_test_that_is_not_there_is_a_mistake() {
        for (test, mistake) in [
            ("tree::helper", "`tree` has no test `helper`"),
            ("peer::forward", "`peer` has no test `forward`"),
            ("shrub::a_leaf", "`shrub::a_leaf`: no file has this name"),
        ] {
            let page = PAGE.replace("tree::a_child_is_found", test);
            assert_eq!(mistakes(&page), [mistake]);
        }
    }

    #[test]
    fn a_row_that_names_no_test_says_why() {
        let page = PAGE.replace("not there: nobody asks", "");
        assert_eq!(
            mistakes(&page),
            ["`POA::id` names no test and does not say `not there: …`"]
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_a_mistake() {
        let page = PAGE.replace("tests/tree.rs", "tests/bush.rs");
        assert_eq!(mistakes(&page).len(), 2);
    }

    #[test]
    fn the_table_of_the_object_adapter_is_true() {
        assert_eq!(check(), Ok(()));
    }
}
