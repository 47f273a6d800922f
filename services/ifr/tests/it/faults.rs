//! A disk that is full at each write of a commit, and stores that were not written by this version
//! of the service.

use punctual_host::store::{Faults, StoreError, StoreFile, StoreKind};
use punctual_idl::{InMemory, Options, compile_source};
use punctual_ifr::{InterfaceRepository, OpenError, Refusal};

fn load(repository: &InterfaceRepository, name: &str) -> Result<usize, Refusal> {
    let members: Vec<String> = (0..100).map(|at| format!("{name}_{at}")).collect();
    let idl = format!("enum {name} {{ {} }};", members.join(", "));
    let compiled = compile_source("test.idl", idl, &Options::default(), &InMemory::new());
    repository.load(&compiled.unwrap().specification)
}

#[test]
fn a_full_disk_at_each_write_refuses_definitions_whole_and_later_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let faults = Faults::default();
    let repository = InterfaceRepository::open_with_faults(&path, faults.clone()).unwrap();
    let mut expected = 0;
    let limits = faults.at_each_write(
        |limit| match load(&repository, &format!("Full{limit}")) {
            Ok(_) => false,
            Err(Refusal::Storage(_)) => true,
            Err(other) => panic!("{other}"),
        },
        |limit, is_refused| {
            expected += usize::from(!is_refused);
            assert_eq!(repository.list().len(), expected, "{limit}");
            // There is room again.
            assert_eq!(load(&repository, &format!("After{limit}")), Ok(1));
            expected += 1;
        },
    );
    assert!(limits > 1, "a commit has several writes");
    let listed = repository.list();
    drop(repository);
    assert_eq!(InterfaceRepository::open(&path).unwrap().list(), listed);
}

#[test]
fn a_store_of_a_newer_version_and_one_that_is_open_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let newer = StoreFile::open(&path, StoreKind::new("ifr", 9)).unwrap();
    let OpenError(error) = InterfaceRepository::open(&path).unwrap_err();
    let StoreError::InUse(holder) = &error else {
        panic!("{error}");
    };
    assert_eq!(holder.service.as_deref(), Some("ifr"));
    assert_eq!(holder.process, Some(std::process::id()));
    drop(newer);
    let OpenError(error) = InterfaceRepository::open(&path).unwrap_err();
    assert_eq!(error, StoreError::Newer { found: 9, known: 1 });
}

#[test]
fn a_store_of_version_0_1_which_names_no_service_is_opened_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let repository = InterfaceRepository::open(&path).unwrap();
    load(&repository, "Kept").unwrap();
    let listed = repository.list();
    drop(repository);
    {
        let database = redb::Database::open(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        let about = redb::TableDefinition::<&str, u64>::new("ifr");
        assert!(transaction.delete_table(about).unwrap());
        transaction.commit().unwrap();
    }
    let repository = InterfaceRepository::open(&path).unwrap();
    assert_eq!(repository.list(), listed);
    assert_eq!(load(&repository, "Later"), Ok(1));
}
