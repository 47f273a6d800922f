//! Stores of a service: versions, other files, full disks.

use std::path::Path;

use punctual_host::access::Rules;
use punctual_host::store::{
    Faults, ReadableTable, StoreError, StoreFile, StoreKind, TableDefinition,
};

use crate::board::{Board, KIND};

/// Opens the notice board of the example service on a disk with injected faults.
fn board(path: &Path, faults: &Faults) -> Board {
    let store = StoreFile::open_with_faults(path, KIND, faults.clone()).unwrap();
    Board::on(store, Rules::default(), 1_000).unwrap()
}

#[test]
fn a_full_disk_at_each_write_refuses_a_change_whole_and_later_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.redb");
    let faults = Faults::default();
    let posted = board(&path, &faults);
    posted.post("before").unwrap();
    let mut expected = vec!["before".to_owned()];
    let text = |limit: u64| format!("{limit} {}", "x".repeat(5_000));
    let limits = faults.at_each_write(
        |limit| posted.post(&text(limit)).is_err(),
        |limit, is_refused| {
            if !is_refused {
                expected.push(text(limit));
            }
            assert_eq!(posted.texts(), expected, "{limit}");
            // There is room again.
            posted.post("after").unwrap();
            expected.push("after".to_owned());
        },
    );
    assert!(limits > 1, "a commit has several writes");
    assert!(expected.len() > 2);
    drop(posted);
    let posted = board(&path, &Faults::default());
    assert_eq!(posted.texts(), expected);
}

#[test]
fn what_is_on_the_disk_though_it_was_refused_is_gone_with_the_next_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.redb");
    let faults = Faults::default();
    let posted = board(&path, &faults);
    posted.post("kept").unwrap();
    faults.fail_late();
    for _ in 0..2 {
        posted.post("refused").unwrap_err();
    }
    faults.mend();
    posted.post("later").unwrap();
    assert_eq!(posted.texts(), ["kept", "later"]);
    drop(posted);
    let posted = board(&path, &Faults::default());
    assert_eq!(posted.texts(), ["kept", "later"]);
}

#[test]
fn a_store_of_a_newer_version_and_one_of_another_service_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.redb");
    let newer = StoreKind { format: 7, ..KIND };
    drop(StoreFile::open(&path, newer).unwrap());
    let before = std::fs::read(&path).unwrap();
    let refused = StoreFile::open(&path, KIND).unwrap_err();
    assert_eq!(refused, StoreError::Newer { found: 7, known: 1 });
    assert!(refused.to_string().contains("not changed"), "{refused}");
    let other = StoreKind {
        service: "other",
        ..KIND
    };
    let refused = StoreFile::open(&path, other).unwrap_err();
    assert!(
        matches!(
            refused,
            StoreError::Foreign {
                service: "other",
                ..
            }
        ),
        "{refused}"
    );
    // The newer version opens it still.
    StoreFile::open(&path, newer).unwrap();
    assert_eq!(std::fs::read(&path).unwrap().len(), before.len());
}

#[test]
fn a_file_without_a_name_is_taken_over_by_the_service_that_knows_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.redb");
    const OLD: TableDefinition<'_, u64, u64> = TableDefinition::new("old");
    {
        let database = redb::Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(OLD).unwrap().insert(1, 2).unwrap();
        transaction.commit().unwrap();
    }
    assert!(StoreFile::open(&path, KIND).is_err());
    let knowing = StoreKind {
        known_by: Some("old"),
        ..KIND
    };
    let identity = StoreFile::open(&path, knowing).unwrap().identity();
    let again = StoreFile::open(&path, knowing).unwrap();
    assert_eq!(again.identity(), identity);
    let kept = again.read(|transaction| {
        let table = transaction.open_table(OLD).map_err(StoreError::io)?;
        let value = table.get(1).map_err(StoreError::io)?;
        Ok(value.map(|value| value.value()))
    });
    assert_eq!(kept, Ok(Some(2)));
}

#[test]
fn a_store_can_be_compacted_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.redb");
    let big: TableDefinition<'static, u64, Vec<u8>> = TableDefinition::new("big");
    let store = StoreFile::open(&path, KIND).unwrap();
    for number in 0..20 {
        let put = store.commit(|batch| batch.table(big)?.insert(number, vec![7; 100_000]));
        put.unwrap();
    }
    let full = store.bytes().unwrap();
    store
        .commit(|batch| batch.table(big)?.remove_while(0, |number| *number < 19))
        .unwrap();
    assert!(store.compact().unwrap());
    assert!(store.bytes().unwrap() < full);
    let put = store.commit(|batch| batch.table(big)?.insert(0, vec![1]));
    assert_eq!(put, Ok(()));
}

#[test]
fn records_of_several_commits_in_doubt_have_the_values_of_before_the_first() {
    const NUMBERS: TableDefinition<'static, u64, u64> = TableDefinition::new("numbers");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.redb");
    let faults = Faults::default();
    let store = StoreFile::open_with_faults(&path, KIND, faults.clone()).unwrap();
    let put =
        |number: u64, value: u64| store.commit(|batch| batch.table(NUMBERS)?.insert(number, value));
    put(1, 10).unwrap();
    put(2, 20).unwrap();
    faults.fail_late();
    // Changed twice, removed, made.
    put(1, 11).unwrap_err();
    let twice = store.commit(|batch| {
        let mut table = batch.table(NUMBERS)?;
        table.insert(1, 12)?;
        table.insert(1, 13)?;
        table.remove(2)?;
        table.insert(3, 30)
    });
    twice.unwrap_err();
    faults.mend();
    put(4, 40).unwrap();
    let all = store.read(|transaction| {
        let table = transaction.open_table(NUMBERS).map_err(StoreError::io)?;
        let entries = table.iter().map_err(StoreError::io)?;
        let entry = |entry: Result<(redb::AccessGuard<'_, u64>, redb::AccessGuard<'_, u64>), _>| {
            let (key, value) = entry.map_err(|error: redb::StorageError| StoreError::io(error))?;
            Ok((key.value(), value.value()))
        };
        entries.map(entry).collect::<Result<Vec<_>, StoreError>>()
    });
    assert_eq!(all, Ok(vec![(1, 10), (2, 20), (4, 40)]));
}
