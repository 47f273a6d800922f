//! Settings of the Interface Repository.

use std::path::{Path, PathBuf};

use punctual_host::Problem;
use punctual_host::access::{Rules, check_principal};
use punctual_host::settings::{BIND_NAME, COMPACT, Key, NAMING, PROCESS, Setting, Values, listen};

use crate::hosted::RepositoryServer;
use crate::repository::{InterfaceRepository, OpenError, Quota};

/// Setting for the endpoints at which the Interface Repository listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const STORE: Key<Option<PathBuf>> = Key::path("store").doc(
    "The repository's file; it is created if it does not exist. Without it, definitions are lost when the server ends.",
);
const WRITABLE: Key<bool> = Key::flag("writable").doc(
    "Let every client that reaches the server change it, as the standard's interface allows. Without it, operations \
     that change the repository raise NO_PERMISSION.",
);
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .conflicts(&["writable"])
    .doc(
        "Let WHO change it, and no others: an address, a network such as 10.0.0.0/8, `local` (Unix sockets, shared memory), \
         `cert:NAME` (a name in a TLS certificate) or `any`. May be given more than once.",
    );
const MOST_DEFINITIONS: Key<u64> = Key::number("most-definitions", 0..=u64::MAX)
    .default("100000")
    .doc("Maximum number of definitions of the repository; beyond, operations raise NO_RESOURCES.");
const MOST_BYTES: Key<u64> = Key::bytes("most-bytes", 0..=u64::MAX)
    .default("67108864")
    .doc("Maximum number of bytes of the records of all definitions.");

/// Returns all settings of the repository, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Settings of the Interface Repository service.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &WRITABLE.setting,
    &ALLOW.setting,
    &MOST_DEFINITIONS.setting,
    &MOST_BYTES.setting,
    &COMPACT.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

const ON_STORES: &str = "name a file that `punctual ifr` made, and that no server has open";

/// Opens the repository that settings describe.
///
/// # Errors
/// The store cannot be opened.
pub fn open(values: &Values) -> Result<RepositoryServer, Problem> {
    let repository = stored(values)?;
    repository.set_quota(Quota {
        definitions: values.count(&MOST_DEFINITIONS),
        bytes: values.count(&MOST_BYTES),
    });
    let writers = Rules::of(&values.get(&ALLOW))?;
    let is_writable = values.get(&WRITABLE) || writers.is_restricted();
    repository.set_writers(writers);
    Ok(RepositoryServer {
        repository,
        is_writable,
    })
}

/// Opens the repository in a file.
///
/// # Errors
/// As of [`InterfaceRepository::open`], with the file's name.
pub fn open_file(path: &Path) -> Result<InterfaceRepository, Problem> {
    InterfaceRepository::open(path).map_err(|error| bad(path, &error))
}

fn stored(values: &Values) -> Result<InterfaceRepository, Problem> {
    let Some(path) = values.get(&STORE) else {
        return Ok(InterfaceRepository::in_memory());
    };
    let repository = open_file(&path)?;
    if values.get(&COMPACT) {
        let compacted = repository.compact();
        compacted.map_err(|error| bad(&path, &error))?;
    }
    Ok(repository)
}

fn bad(path: &Path, error: &OpenError) -> Problem {
    Problem::new(format!("{}: {error}", path.display()), ON_STORES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_setting_the_quota_is_as_it_is_in_code() {
        let values = Values::from_toml(&settings(), "ifr.toml", "listen = \"iiop://:0\"").unwrap();
        let quota = Quota {
            definitions: values.get(&MOST_DEFINITIONS) as usize,
            bytes: values.get(&MOST_BYTES) as usize,
        };
        assert_eq!(quota, Quota::default());
        assert!(!open(&values).unwrap().is_writable);
    }
}
