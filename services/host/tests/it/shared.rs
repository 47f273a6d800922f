//! Stores that are copies of records which several servers share.

use std::path::Path;
use std::sync::Arc;

use punctual_host::store::{
    Answer, Batch, Cdr, Change, ChangeStore, MemoryRecords, Records, SharedFrom, SharedRecords,
    StoreError, StoreFile, StoreKind,
};

const KIND: StoreKind = StoreKind::new("shared", 1);
const NOTES: Records<u64, Cdr<String>> = Records::named("notes");
const TEXTS: Records<&str, Cdr<String>> = Records::named("texts");

fn note(store: &StoreFile, number: u64, text: &str) -> Result<(), StoreError> {
    store.commit(|batch| batch.put(NOTES, number, &Cdr(text.to_owned())))
}

/// Opens a file as a copy of shared records.
fn copy(path: &Path, shared: &Arc<MemoryRecords>) -> Result<StoreFile, StoreError> {
    StoreFile::open_shared(path, KIND, shared.clone(), SharedFrom::Records)
}

/// Opens a file of whose records the shared ones are made.
fn source(path: &Path, shared: &Arc<MemoryRecords>) -> Result<StoreFile, StoreError> {
    StoreFile::open_shared(path, KIND, shared.clone(), SharedFrom::File)
}

/// Makes a store of its own with notes, and a table that cannot be shared.
fn own(path: &Path, texts: &[(u64, &str)]) -> u64 {
    let own = StoreFile::open(path, KIND).unwrap();
    for (number, text) in texts {
        note(&own, *number, text).unwrap();
    }
    let put = own.commit(|batch| batch.put(TEXTS, "key", &Cdr("text".to_owned())));
    put.unwrap();
    own.identity()
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
    let open = |name: &str| copy(&named(folder.path(), name), &shared).unwrap();
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
    let store = copy(&named(folder.path(), "a"), &shared).unwrap();
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
    let copy = copy(&named(folder.path(), "b"), &shared).unwrap();
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
        let opened = copy(&path, shared).unwrap_err();
        let checked = StoreFile::check_shared(&path, KIND, &**shared, SharedFrom::Records);
        assert!(matches!(opened, StoreError::NoCopy { .. }), "{opened}");
        assert_eq!(checked.unwrap_err(), opened);
    };
    refused(&shared);
    assert!(shared.read().unwrap().is_empty());
    let other = copy(&named(folder.path(), "other"), &shared);
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
    let open = |path: &Path, kind: StoreKind| {
        StoreFile::open_shared(path, kind, shared.clone(), SharedFrom::Records)
    };
    drop(open(&named(folder.path(), "newer"), newer).unwrap());
    let path = named(folder.path(), "old");
    let refused = open(&path, KIND).unwrap_err();
    assert_eq!(refused, StoreError::Newer { found: 7, known: 1 });
    shared.retain(|_, number| number == 0);
    let refused = open(&path, newer).unwrap_err();
    assert!(matches!(refused, StoreError::Damaged(_)), "{refused}");
}

#[test]
fn tables_whose_keys_are_no_numbers_are_refused_where_records_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let store = copy(&named(folder.path(), "a"), &shared).unwrap();
    let put = store.commit(|batch| batch.put(TEXTS, "key", &Cdr("text".to_owned())));
    assert!(put.unwrap_err().to_string().contains("texts"));
    note(&store, 1, "number").unwrap();
}

#[test]
fn the_records_of_a_file_become_the_shared_ones_if_these_are_empty() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let path = named(folder.path(), "own");
    let all = [(1, "one"), (u64::MAX, "last")];
    let identity = own(&path, &all);
    let check = |from| StoreFile::check_shared(&path, KIND, &*shared, from);
    check(SharedFrom::File).unwrap();
    assert!(shared.read().unwrap().is_empty());
    let first = source(&path, &shared).unwrap();
    assert_eq!((first.identity(), notes(&first)), (identity, kept(&all)));
    note(&first, 2, "two").unwrap();
    drop(first);
    let second = copy(&named(folder.path(), "second"), &shared).unwrap();
    assert_eq!(second.identity(), identity);
    let all = kept(&[(1, "one"), (2, "two"), (u64::MAX, "last")]);
    assert_eq!(notes(&second), all);
    note(&second, 3, "three").unwrap();
    drop(second);
    // The first one is started again as it was, and is a copy now.
    check(SharedFrom::File).unwrap();
    assert_eq!(notes(&source(&path, &shared).unwrap()).len(), 4);
    let read = StoreFile::open(&path, KIND).unwrap();
    let texts = read.read(|transaction| TEXTS.values(transaction));
    assert_eq!(texts.unwrap(), []);
}

#[test]
fn records_that_were_published_in_part_count_for_nothing_until_all_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = named(folder.path(), "own");
    own(&path, &[(1, "one"), (2, "two")]);
    // The mark, two notes, and then what identifies the store.
    for written in 1..=3 {
        let shared = Arc::new(MemoryRecords::default());
        let before = named(folder.path(), &format!("before{written}"));
        own(&before, &[(1, "other"), (7, "seven"), (8, "eight")]);
        shared.answers(Answer::Begun(written));
        source(&before, &shared).unwrap_err();
        shared.answers(Answer::Done);
        assert_eq!(shared.read().unwrap().len(), written);
        let empty = named(folder.path(), &format!("empty{written}"));
        let refused = copy(&empty, &shared).unwrap_err();
        assert!(matches!(refused, StoreError::NoCopy { .. }), "{refused}");
        // That may be known only when it is done.
        StoreFile::check_shared(&empty, KIND, &*shared, SharedFrom::Records).unwrap();
        drop(source(&path, &shared).unwrap());
        assert_eq!(
            notes(&copy(&empty, &shared).unwrap()),
            kept(&[(1, "one"), (2, "two")])
        );
        std::fs::remove_file(&path).unwrap();
        own(&path, &[(1, "one"), (2, "two")]);
    }
}

#[test]
fn shared_records_that_are_others_than_those_of_the_file_are_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let first = copy(&named(folder.path(), "first"), &shared).unwrap();
    note(&first, 1, "shared").unwrap();
    drop(first);
    let path = named(folder.path(), "own");
    own(&path, &[(1, "own")]);
    let refused = source(&path, &shared).unwrap_err();
    let text = refused.to_string();
    let file = path.display().to_string();
    assert!(text.contains(&file) && text.contains("in memory"), "{text}");
    let checked = StoreFile::check_shared(&path, KIND, &*shared, SharedFrom::File);
    assert_eq!(checked.unwrap_err(), refused);
    let second = copy(&named(folder.path(), "second"), &shared).unwrap();
    assert_eq!(notes(&second), kept(&[(1, "shared")]));
    assert_eq!(
        notes(&StoreFile::open(&path, KIND).unwrap()),
        kept(&[(1, "own")])
    );
}

#[test]
fn a_copy_that_was_changed_as_a_store_of_its_own_is_no_copy_until_the_shared_records_are_made_of_it()
 {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let path = named(folder.path(), "first");
    note(&copy(&path, &shared).unwrap(), 1, "shared").unwrap();
    note(&StoreFile::open(&path, KIND).unwrap(), 1, "alone").unwrap();
    for opened in [copy(&path, &shared), source(&path, &shared)] {
        let refused = opened.unwrap_err();
        assert!(matches!(refused, StoreError::NoCopy { .. }), "{refused}");
    }
    shared.retain(|_, _| false);
    drop(source(&path, &shared).unwrap());
    assert_eq!(notes(&copy(&path, &shared).unwrap()), kept(&[(1, "alone")]));
}

#[test]
fn the_shared_records_are_not_made_of_a_file_that_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    let path = named(folder.path(), "empty");
    let refused = source(&path, &shared).unwrap_err();
    assert!(matches!(refused, StoreError::NoCopy { .. }), "{refused}");
    assert!(shared.read().unwrap().is_empty());
    drop(copy(&named(folder.path(), "other"), &shared).unwrap());
    drop(source(&path, &shared).unwrap());
}

/// Note with a number.
#[derive(Clone, Debug)]
struct Note(u64);

impl Change for Note {
    fn write<'c>(
        mut changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError> {
        let mut notes = batch.records(NOTES)?;
        changes.try_for_each(|Note(number)| notes.put(*number, &Cdr(String::new())))
    }
}

#[test]
fn changes_of_many_callers_are_written_in_groups_that_are_whole_and_a_longer_one_on_its_own() {
    const CALLERS: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(MemoryRecords::default());
    shared.set_most_at_once(7);
    let store = ChangeStore::new(copy(&named(folder.path(), "a"), &shared).unwrap());
    assert_eq!(shared.take_writes(), [2]);
    // Callers of three changes each: as many as come together share a write, and two at most.
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let store = &store;
            let numbers = caller * 3..caller * 3 + 3;
            scope.spawn(move || store.change(numbers.map(Note).collect()).unwrap());
        }
    });
    let writes = shared.take_writes();
    assert_eq!(writes.iter().sum::<usize>() as u64, CALLERS * 3);
    assert!(
        writes.iter().all(|many| [3, 6].contains(many)),
        "{writes:?}"
    );
    store.change((1_000..1_020).map(Note).collect()).unwrap();
    assert_eq!(shared.take_writes(), [20]);
    // What is in doubt is written before, and not with what would be divided then.
    shared.answers(Answer::Unknown);
    store.change(vec![Note(2_000), Note(2_001)]).unwrap_err();
    shared.answers(Answer::Done);
    store.change((3_000..3_006).map(Note).collect()).unwrap();
    assert_eq!(shared.take_writes(), [2, 2, 6]);
    assert_eq!(notes(store.file()).len() as u64, CALLERS * 3 + 26);
}
