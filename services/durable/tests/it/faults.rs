//! Full disks at each write of a commit, and commits that fail late.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use punctual_durable::{
    DurableError, EventLog, EventStore, FileOptions, FileStore, LogSettings, Most, Name, NewEvent,
    Reader,
};
use punctual_host::store::Faults;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Opens the log and its reader; acknowledgements are stored with appends alone.
fn opened(path: &Path, faults: &Faults) -> (FileStore, Arc<dyn EventLog>, Arc<dyn Reader>) {
    let options = FileOptions {
        acknowledge_after: Duration::from_secs(3_600),
        ..FileOptions::default()
    };
    let store = FileStore::open_with_faults(path, options, faults.clone()).unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    (store, log, reader)
}

fn event(text: &str) -> NewEvent {
    NewEvent::new(text.as_bytes().to_vec())
}

fn texts(reader: &dyn Reader) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut all = Vec::new();
    loop {
        let got = reader.fetch(Most::events(10_000), Duration::ZERO).unwrap();
        if got.is_empty() {
            return all;
        }
        all.extend(got.iter().map(|one| text(&one.bytes)));
    }
}

#[test]
fn a_full_disk_at_each_write_refuses_an_append_whole_and_later_ones_are_kept_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let faults = Faults::default();
    let (store, log, reader) = opened(&path, &faults);
    let mut expected = Vec::new();
    let text = |limit: u64, half: u64| format!("{limit}.{half} {}", "x".repeat(40_000));
    let append = |limit| log.append(vec![event(&text(limit, 0)), event(&text(limit, 1))]);
    let limits = faults.at_each_write(
        |limit| {
            let outcome = append(limit);
            assert!(matches!(outcome, Ok(_) | Err(DurableError::Store(_))));
            outcome.is_err()
        },
        |limit, is_refused| {
            if !is_refused {
                expected.extend([text(limit, 0), text(limit, 1)]);
            }
            log.append(vec![event("after")]).unwrap();
            expected.push("after".to_owned());
        },
    );
    assert!(limits > 1, "a commit has several writes");
    assert_eq!(texts(&*reader), expected);
    drop((store, log, reader));
    let (_store, _log, reader) = opened(&path, &Faults::default());
    assert_eq!(texts(&*reader), expected);
}

#[test]
fn an_append_that_is_on_the_disk_though_it_was_refused_is_gone_with_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let faults = Faults::default();
    let (store, log, reader) = opened(&path, &faults);
    log.append(vec![event("kept")]).unwrap();
    faults.fail_late();
    log.append(vec![event("refused"), event("refused")])
        .unwrap_err();
    faults.mend();
    log.append(vec![event("later")]).unwrap();
    assert_eq!(texts(&*reader), ["kept", "later"]);
    drop((store, log, reader));
    let (_store, _log, reader) = opened(&path, &Faults::default());
    assert_eq!(texts(&*reader), ["kept", "later"]);
}

#[test]
fn acknowledgements_whose_commit_fails_are_stored_with_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let faults = Faults::default();
    let (store, log, reader) = opened(&path, &faults);
    log.append((0..100).map(|number| event(&number.to_string())).collect())
        .unwrap();
    let got = reader.fetch(Most::events(100), Duration::ZERO).unwrap();
    let acknowledged: Vec<_> = got[..50].iter().map(|one| one.position).collect();
    reader.acknowledge(&acknowledged);
    faults.fill_after(0);
    reader.flush().unwrap_err();
    faults.mend();
    reader.flush().unwrap();
    drop((store, log, reader));
    let (_store, log, reader) = opened(&path, &Faults::default());
    assert_eq!(log.status().unwrap().events, 50);
    assert_eq!(texts(&*reader)[0], "50");
}
