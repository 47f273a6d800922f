//! Stores that are copies of records which several servers share.

use std::path::Path;
use std::sync::Arc;

use punctual_host::store::{
    Answer, Cdr, MemoryRecords, Records, SharedRecords, StoreError, StoreFile, StoreKind,
};

const KIND: StoreKind = StoreKind::new("shared", 1);
const NOTES: Records<u64, Cdr<String>> = Records::named("notes");
const TEXTS: Records<&str, Cdr<String>> = Records::named("texts");

fn note(store: &StoreFile, number: u64, text: &str) -> Result<(), StoreError> {
    store.commit(|batch| batch.put(NOTES, number, &Cdr(text.to_owned())))
}

fn notes(store: &StoreFile) -> Vec<(u64, String)> {
    store
        .read(|transaction| NOTES.entries(transaction))
        .unwrap()
}

fn named(path: &Path, name: &str) -> std::path::PathBuf {
    path.join(format!("{name}.redb"))
}

fn kept(texts: &[(u64, &str)]) -> Vec<(u64, String)> {
    let texts = texts.iter();
    texts
        .map(|(number, text)| (*number, (*text).to_owned()))
        .collect()
}

#[test]
fn what_one_server_has_committed_another_one_has_under_the_same_identity() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let open = |name: &str| {
        StoreFile::open_shared(&named(folder.path(), name), KIND, shared.clone()).unwrap()
    };
    let first = open("first");
    for (number, text) in [(1, "one"), (2, "two"), (u64::MAX, "last")] {
        note(&first, number, text).unwrap();
    }
    first.commit(|batch| batch.remove(NOTES, 2)).unwrap();
    let identity = first.identity();
    drop(first);
    let second = open("second");
    assert_eq!(second.identity(), identity);
    assert_eq!(notes(&second), kept(&[(1, "one"), (u64::MAX, "last")]));
    note(&second, 1, "changed").unwrap();
    drop(second);
    // The file is what it was, and becomes a copy again.
    assert_eq!(
        notes(&open("first")),
        kept(&[(1, "changed"), (u64::MAX, "last")])
    );
}

#[test]
fn a_change_that_was_refused_or_perhaps_written_is_gone_with_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let store = StoreFile::open_shared(&named(folder.path(), "a"), KIND, shared.clone()).unwrap();
    note(&store, 1, "kept").unwrap();
    for answer in [Answer::Refused, Answer::Unknown] {
        shared.answers(answer);
        note(&store, 1, "changed").unwrap_err();
        note(&store, 2, "added").unwrap_err();
    }
    shared.answers(Answer::Done);
    note(&store, 3, "later").unwrap();
    let expected = kept(&[(1, "kept"), (3, "later")]);
    assert_eq!(notes(&store), expected);
    let copy = StoreFile::open_shared(&named(folder.path(), "b"), KIND, shared).unwrap();
    assert_eq!(notes(&copy), expected);
}

#[test]
fn a_file_with_records_of_its_own_is_no_copy_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = named(folder.path(), "own");
    let own = StoreFile::open(&path, KIND).unwrap();
    note(&own, 1, "own").unwrap();
    drop(own);
    let shared = Arc::new(MemoryRecords::default());
    let refused = |shared: &Arc<MemoryRecords>| {
        let opened = StoreFile::open_shared(&path, KIND, shared.clone());
        assert!(
            matches!(opened, Err(StoreError::Foreign { .. })),
            "{opened:?}"
        );
    };
    refused(&shared);
    assert!(shared.read().unwrap().is_empty());
    let other = StoreFile::open_shared(&named(folder.path(), "other"), KIND, shared.clone());
    note(&other.unwrap(), 2, "other").unwrap();
    refused(&shared);
    assert_eq!(
        notes(&StoreFile::open(&path, KIND).unwrap()),
        kept(&[(1, "own")])
    );
}

#[test]
fn shared_records_of_a_newer_version_or_without_their_identity_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let newer = StoreKind { format: 7, ..KIND };
    drop(StoreFile::open_shared(&named(folder.path(), "newer"), newer, shared.clone()).unwrap());
    let path = named(folder.path(), "old");
    let refused = StoreFile::open_shared(&path, KIND, shared.clone()).unwrap_err();
    assert_eq!(refused, StoreError::Newer { found: 7, known: 1 });
    shared.retain(|_, number| number == 0);
    let refused = StoreFile::open_shared(&path, newer, shared).unwrap_err();
    assert!(matches!(refused, StoreError::Damaged(_)), "{refused}");
}

#[test]
fn tables_whose_keys_are_no_numbers_are_refused_where_records_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let store = StoreFile::open_shared(&named(folder.path(), "a"), KIND, shared).unwrap();
    let put = store.commit(|batch| batch.put(TEXTS, "key", &Cdr("text".to_owned())));
    assert!(put.unwrap_err().to_string().contains("texts"));
    note(&store, 1, "number").unwrap();
}
