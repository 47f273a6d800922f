//! The logs in a service's file.

use std::path::Path;
use std::sync::Arc;

use punctual_durable::{EventStore, FileOptions, FileStore};
use punctual_host::store::{StoreFile, StoreKind};

/// Returns the names of all logs.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let file = StoreFile::open(path, StoreKind::new("notification", 1)).unwrap();
    let store = FileStore::on(Arc::new(file), FileOptions::default()).unwrap();
    let names = store.log_names().unwrap();
    names.iter().map(ToString::to_string).collect()
}
