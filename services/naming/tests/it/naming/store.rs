//! Data in a file, and files of other programs.

use std::fs;
use std::path::Path;

use crate::support::{Served, name, object, same};
use punctual::Interface;
use punctual_naming::cos_naming::NamingContext;
use punctual_naming::store::StoreError;
use punctual_naming::{NamingService, OpenError};

fn refused(path: &Path) -> StoreError {
    let OpenError(error) = NamingService::open(path).unwrap_err();
    error
}

/// Opens, changes and closes a service in a file.
fn change(path: &Path, change: impl FnOnce(&Served)) {
    let served = Served::new(&NamingService::open(path).unwrap());
    change(&served);
}

#[test]
fn what_was_bound_is_there_when_the_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    change(&path, |served| {
        served.root.bind_new_context(&name("a")).unwrap();
        served.root.bind_new_context(&name("a/b.k")).unwrap();
        for at in 0..50 {
            let object = object(&served.orb, at);
            served
                .root
                .bind(&name(&format!("a/{at}")), Some(&object))
                .unwrap();
        }
        served.root.unbind(&name("a/7")).unwrap();
        let a = served.root.resolve(&name("a")).unwrap().unwrap();
        let a = NamingContext::from_object(a);
        served
            .root
            .bind_context(&name("a/b.k/up"), Some(&a))
            .unwrap();
        let foreign = NamingContext::from_object(object(&served.orb, 99));
        served
            .root
            .bind_context(&name("foreign"), Some(&foreign))
            .unwrap();
        served.root.bind(&name("nil"), None).unwrap();
    });
    change(&path, |served| {
        assert_eq!(served.service.size().bindings, 54);
        assert_eq!(served.service.size().contexts, 3);
        let found = served.root.resolve(&name("a/b.k/up/12")).unwrap().unwrap();
        assert!(same(&found, &object(&served.orb, 12)));
        assert!(served.root.resolve(&name("a/7")).is_err());
        assert_eq!(served.root.resolve(&name("nil")), Ok(None));
        let found = served.root.resolve(&name("foreign")).unwrap().unwrap();
        assert!(same(&found, &object(&served.orb, 99)));
    });
}

#[test]
fn references_to_contexts_outlive_the_server_but_not_the_context() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let service = NamingService::open(&path).unwrap();
    // No other program and no other test uses this address of the loopback interface, so that the port stays free.
    let host = "127.78.3.1";
    let port = {
        let listener = std::net::TcpListener::bind((host, 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    let serve = |service: &NamingService| {
        let orb = punctual::Orb::builder()
            .listen(punctual::ListenEndpoint::iiop(host, port))
            .build()
            .unwrap();
        let root = service.serve(
            &crate::support::root_poa(&orb),
            punctual_naming::ServeOptions::default(),
        );
        (orb, root.unwrap())
    };
    let (orb, root) = serve(&service);
    let made = |text| root.bind_new_context(&name(text)).unwrap().unwrap();
    let (kept, gone) = (made("kept"), made("gone"));
    root.unbind(&name("gone")).unwrap();
    gone.destroy().unwrap();
    let texts = [&kept, &gone].map(|context| orb.object_to_string(context).unwrap());
    orb.shutdown(true).unwrap();
    drop((orb, root, kept, gone, service));

    let (orb, root) = serve(&NamingService::open(&path).unwrap());
    let client = punctual::Orb::builder().build().unwrap();
    let [kept, gone] =
        texts.map(|text| NamingContext::from_object(client.string_to_object(&text).unwrap()));
    kept.bind_new_context(&name("x")).unwrap();
    assert!(root.resolve(&name("kept/x")).unwrap().is_some());
    let refused = gone.new_context().unwrap_err();
    assert_eq!(
        refused.kind(),
        punctual::SystemExceptionKind::ObjectNotExist
    );
    client.shutdown(true).unwrap();
    orb.shutdown(true).unwrap();
}

#[test]
fn a_second_server_on_one_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let _first = NamingService::open(&path).unwrap();
    let StoreError::InUse(holder) = refused(&path) else {
        panic!("the store has one server");
    };
    assert_eq!(holder.service.as_deref(), Some("naming"));
    assert_eq!(holder.process, Some(std::process::id()));
}

#[test]
fn files_of_other_programs_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "these are no names\n".repeat(1000)).unwrap();
    let short = folder.path().join("short");
    fs::write(&short, "x").unwrap();
    for path in [&text, &short] {
        let before = fs::read(path).unwrap();
        let error = refused(path);
        assert!(
            matches!(error, StoreError::Foreign { .. } | StoreError::Damaged(_)),
            "{path:?}: {error}"
        );
        assert_eq!(fs::read(path).unwrap(), before);
    }
    let database = folder.path().join("other.redb");
    {
        let other = redb::Database::create(&database).unwrap();
        let transaction = other.begin_write().unwrap();
        let table = redb::TableDefinition::<u64, u64>::new("something");
        transaction.open_table(table).unwrap().insert(1, 2).unwrap();
        transaction.commit().unwrap();
    }
    let error = refused(&database);
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    let other = redb::Database::open(&database).unwrap();
    let transaction = redb::ReadableDatabase::begin_read(&other).unwrap();
    let table = redb::TableDefinition::<u64, u64>::new("something");
    let table = transaction.open_table(table).unwrap();
    assert_eq!(table.get(1).unwrap().unwrap().value(), 2);
    let folder_itself = refused(folder.path());
    assert!(
        matches!(folder_itself, StoreError::Io(_)),
        "{folder_itself}"
    );
}

#[test]
fn a_file_with_a_changed_byte_is_refused_or_holds_what_was_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    change(&path, |served| {
        served.root.bind_new_context(&name("a")).unwrap();
        for at in 0..30 {
            let object = object(&served.orb, at);
            served
                .root
                .bind(&name(&format!("a/{at}")), Some(&object))
                .unwrap();
        }
    });
    let whole = fs::read(&path).unwrap();
    let mut refusals = 0;
    for round in 0..60 {
        let mut damaged = whole.clone();
        // Positions all over the file, most of them in use: those that are not zero.
        let places: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] != 0).collect();
        let at = places[round * places.len() / 60];
        damaged[at] ^= 0x41;
        let other = folder.path().join(format!("damaged{round}"));
        fs::write(&other, &damaged).unwrap();
        match NamingService::open(&other) {
            Err(OpenError(error)) => {
                refusals += 1;
                assert!(
                    matches!(error, StoreError::Damaged(_) | StoreError::Foreign { .. }),
                    "{at}: {error}"
                );
            }
            // The changed byte is unused, or was repaired.
            Ok(service) => {
                let served = Served::new(&service);
                assert_eq!(service.size().bindings, 31, "{at}");
                let found = served.root.resolve(&name("a/17")).unwrap().unwrap();
                assert!(same(&found, &object(&served.orb, 17)), "{at}");
            }
        }
    }
    assert!(refusals > 0);
    for length in [100, whole.len() / 2, whole.len() - 4096] {
        let other = folder.path().join(format!("short{length}"));
        fs::write(&other, &whole[..length]).unwrap();
        let error = refused(&other);
        assert!(!error.to_string().is_empty());
        assert_eq!(
            fs::metadata(&other).unwrap().len(),
            u64::try_from(length).unwrap()
        );
    }
}
