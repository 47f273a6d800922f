//! The cases that each store passes.

use std::sync::Arc;

use punctual_durable::conformance::check;
use punctual_durable::{FileOptions, FileStore};

#[test]
fn the_store_in_a_file_passes_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    check(&|| Arc::new(FileStore::open(&path, FileOptions::default()).unwrap()));
}

#[test]
fn the_store_in_a_file_passes_the_suite_when_hardly_anything_stays_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let options = FileOptions {
        cache_bytes: 1,
        ..FileOptions::default()
    };
    check(&|| Arc::new(FileStore::open(&path, options).unwrap()));
}
