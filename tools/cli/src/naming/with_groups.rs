//! `punctual naming serve --groups`: settings of object groups beside the names.

use super::process::{Groups, NamingProcess};
use punctual_groups_service::{open, settings};
use punctual_host::Problem;
use punctual_host::publish::write_reference;
use punctual_host::run::Companion;
use punctual_host::settings::{BIND_NAME, Key, NAMING, PROCESS, Setting, Values};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

const GROUPS: Key<bool> = Key::flag("groups").conflicts(&["group-service", "no-federation"]).doc(
    "Serve object groups, too, as `punctual group serve` does: at the same endpoints, as corbaloc:…/ReplicationManager. The groups \
     of names are among them. They are kept beside the names: in names.groups.redb for --store names.redb, in memory with \
     --memory, and with --etcd in the cluster, where one of the servers that have --groups serves at a time. Members that the \
     store has of groups move there, for good.",
);
const GROUP_SETTINGS: Key<Option<PathBuf>> = Key::path("group-settings").requires(&["groups"]).doc(
    "A TOML file with settings of the groups: keys of `punctual group serve`, but for those of its endpoints, store and process. \
     With --allow, it has to say who may change groups.",
);
const WRITE_GROUP_REFERENCE: Key<Option<PathBuf>> = Key::path("write-group-reference")
    .requires(&["groups"])
    .doc("Write the ReplicationManager's reference to this file, too.");

/// Settings of the groups.
pub(super) const SETTINGS: &[&Setting] = &[
    &GROUPS.setting,
    &GROUP_SETTINGS.setting,
    &WRITE_GROUP_REFERENCE.setting,
];

/// Settings that are those of the names for the groups as well.
const OF_NAMES: [&str; 8] = [
    "etcd",
    "etcd-timeout",
    "etcd-trusted",
    "etcd-certificate",
    "etcd-key",
    "etcd-user",
    "etcd-password-file",
    "compact",
];

const STORE: &str = "store";

const ON_GROUP_SETTINGS: &str = "--group-settings is a TOML file with keys of `punctual group serve`, as check_interval; its endpoints, its \
                                 store and its process are those of the names";
const ON_RIGHTS: &str = "give `allow` in the file of --group-settings: [\"owner\"], say, or [\"any\"]. Who changes a group by its name needs \
                         --allow alone";
const ON_PREFIX: &str = "give `etcd_prefix` of the groups in the file of --group-settings, which is not below that of the names";
const ON_COPIES: &str =
    "TMPDIR names the folder in which groups that are in etcd have a temporary copy";

/// Opens the groups, if the settings have them served.
pub(super) fn opened(values: &Values) -> Result<Option<Groups>, Problem> {
    if !values.get(&GROUPS) {
        return Ok(None);
    }
    let copy = match values.given("etcd") {
        Some(_) => Some(tempfile::tempdir().map_err(|error| Problem::new(error, ON_COPIES))?),
        None => None,
    };
    let of_groups = of_groups(values, copy.as_ref())?;
    if values.given("allow").is_some() && of_groups.given("allow").is_none() {
        let message =
            "--allow says who may change names, and with --groups anybody could change the groups";
        return Err(Problem::new(message, ON_RIGHTS));
    }
    if values.given("etcd-prefix").is_some() && of_groups.given("etcd-prefix").is_none() {
        let message = "--etcd-prefix is that of the names, and other servers may have groups below the default one";
        return Err(Problem::new(message, ON_PREFIX));
    }
    Ok(Some(Groups {
        service: Arc::new(open(&of_groups)?),
        manager: OnceLock::new(),
        _copy: copy,
    }))
}

/// Returns the values of the groups' settings: those of the file, and the store that follows from that of the names.
fn of_groups(values: &Values, copy: Option<&TempDir>) -> Result<Values, Problem> {
    let file = values.get(&GROUP_SETTINGS);
    let bad = |error: String| Problem::new(error, ON_GROUP_SETTINGS);
    if let Some(file) = &file {
        check_keys(file).map_err(bad)?;
    }
    let mut given: Vec<(&'static str, Vec<String>)> = Vec::new();
    for name in OF_NAMES {
        given.extend(values.given(name).map(|texts| (name, texts.to_vec())));
    }
    if let Some(store) = store(values, copy) {
        given.push((STORE, vec![store]));
    }
    let read = Values::read(&table(), file.as_deref(), given);
    read.map_err(|error| bad(error.to_string()))
}

/// Returns the file of the groups; `None` if they are in memory.
fn store(values: &Values, copy: Option<&TempDir>) -> Option<String> {
    let path = match copy {
        Some(folder) => folder.path().join("groups.redb"),
        None => beside(&punctual_naming::store_file(values)?),
    };
    Some(path.to_string_lossy().into_owned())
}

/// Returns the file of the groups beside that of names.
fn beside(names: &Path) -> PathBuf {
    match names.extension() {
        Some(extension) if extension != "redb" => {
            let mut name = names.as_os_str().to_owned();
            name.push(".groups.redb");
            name.into()
        }
        _ => names.with_extension("groups.redb"),
    }
}

/// Returns the settings of a group service but for those of endpoints and process.
fn table() -> Vec<&'static Setting> {
    let apart = [BIND_NAME.setting.name, NAMING.setting.name, "listen"];
    let is_apart =
        |name: &str| apart.contains(&name) || PROCESS.iter().any(|setting| setting.name == name);
    let all = settings().into_iter();
    all.filter(|setting| !is_apart(setting.name)).collect()
}

/// Checks that a settings file says nothing that the names' settings do.
fn check_keys(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
    // What is no TOML is reported by who reads the values.
    let keys = text.parse::<toml::Table>().unwrap_or_default();
    for setting in table() {
        let is_taken = OF_NAMES.contains(&setting.name) || setting.name == STORE;
        if is_taken && keys.contains_key(&setting.key()) {
            let key = setting.key();
            return Err(format!(
                "{}: `{key}` is a setting of the names here, and the groups have the same",
                file.display()
            ));
        }
    }
    Ok(())
}

/// Returns the part of the process that writes the ReplicationManager's reference to its file, if the settings name one.
pub(super) fn reference(values: &Values) -> Companion<NamingProcess> {
    let file = values.get(&WRITE_GROUP_REFERENCE);
    Box::new(move |process, orb| {
        let manager = process.groups.as_ref();
        let manager = manager.and_then(|groups| groups.manager.get());
        if let (Some(file), Some(manager)) = (&file, manager) {
            let text = orb.object_to_string(manager);
            let text = text.map_err(|exception| Problem::new(exception, ""))?;
            write_reference(file, &text)?;
        }
        Ok(Box::new(()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_groups_is_beside_that_of_names() {
        for (names, groups) in [
            ("names.redb", "names.groups.redb"),
            ("/srv/plant.a.redb", "/srv/plant.a.groups.redb"),
            ("names", "names.groups.redb"),
            ("names.db", "names.db.groups.redb"),
        ] {
            assert_eq!(beside(Path::new(names)), Path::new(groups));
        }
    }

    #[test]
    fn the_settings_of_groups_are_those_of_the_group_service_but_for_endpoints_and_process() {
        let names: Vec<&str> = table().iter().map(|setting| setting.name).collect();
        for name in ["check-interval", "allow", "most-members", "etcd-prefix"] {
            assert!(names.contains(&name), "{name}");
        }
        for name in ["listen", "status", "settings", "bind-name"] {
            assert!(!names.contains(&name), "{name}");
        }
        for name in OF_NAMES.iter().chain([&STORE]) {
            assert!(names.contains(name), "{name}");
        }
    }
}
