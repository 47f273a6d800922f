//! Stores that were not written by this version of the service.

use punctual_host::store::{StoreError, StoreFile, StoreKind};
use punctual_naming::{NamingService, OpenError};

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let newer = StoreFile::open(&path, StoreKind::new("naming", 2)).unwrap();
    let identity = newer.identity();
    drop(newer);
    let OpenError(error) = NamingService::open(&path).unwrap_err();
    assert_eq!(error, StoreError::Newer { found: 2, known: 1 });
    assert!(error.to_string().contains("not changed"), "{error}");
    let newer = StoreFile::open(&path, StoreKind::new("naming", 2)).unwrap();
    assert_eq!(newer.identity(), identity);
}

#[test]
fn a_store_of_another_service_is_refused_by_name_also_while_that_has_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let other = StoreFile::open(&path, StoreKind::new("ifr", 1)).unwrap();
    let OpenError(error) = NamingService::open(&path).unwrap_err();
    let holder = format!("another ifr server (process {})", std::process::id());
    assert!(error.to_string().starts_with(&holder), "{error}");
    drop(other);
    let OpenError(error) = NamingService::open(&path).unwrap_err();
    assert!(error.to_string().contains("not a naming store"), "{error}");
}
