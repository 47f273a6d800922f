//! A service that several servers have: what one leaves alone whose place was taken, and what it does not serve without.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual::{Orb, RootPoa, SystemExceptionKind as Kind};
use punctual_durable::{EventStore, FileOptions, FileStore, LogSettings};
use punctual_host::store::{Answer, MemoryRecords, SharedRecord, SharedRecords, StoreError};
use punctual_host::{NotReady, Turn};
use punctual_notification::NotificationService;

use crate::persistent::{WithoutReaders, persistent_events};
use crate::restarts::{persistent, place, stored};
use crate::support::{Program, Served, event, exists, limits, until};

/// Records that several servers share, and the right of this one to serve, until it is taken.
#[derive(Debug, Default)]
struct Cluster {
    records: MemoryRecords,
    is_lost: AtomicBool,
}

impl Cluster {
    /// Gives the right to another server, or back to this one.
    fn take(&self, is_lost: bool) {
        self.is_lost.store(is_lost, Ordering::SeqCst);
        self.records.answers(match is_lost {
            true => Answer::Refused,
            false => Answer::Done,
        });
    }
}

impl SharedRecords for Cluster {
    fn name(&self) -> String {
        self.records.name()
    }

    fn most_at_once(&self) -> usize {
        self.records.most_at_once()
    }

    fn find(&self, table: &str, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.records.find(table, number)
    }

    fn read(&self) -> Result<Vec<SharedRecord>, StoreError> {
        self.records.read()
    }

    fn write(&self, records: &[SharedRecord]) -> Result<(), StoreError> {
        self.records.write(records)
    }
}

impl Turn for Cluster {
    fn wait(&self, _: &mut dyn FnMut() -> bool) -> Result<bool, NotReady> {
        Ok(true)
    }

    fn loss(&self) -> Option<String> {
        None
    }

    fn confirm(&self) -> Result<(), NotReady> {
        match self.is_lost.load(Ordering::SeqCst) {
            true => Err(NotReady("another server serves".to_owned())),
            false => Ok(()),
        }
    }
}

fn service(
    folder: &Path,
    cluster: &Arc<Cluster>,
    events: Arc<dyn EventStore>,
) -> NotificationService {
    let path = folder.join("copy.redb");
    let service = NotificationService::clustered(&path, cluster.clone(), events);
    service.set_limits(limits());
    service
}

fn events(folder: &Path) -> FileStore {
    FileStore::open(&folder.join("events.redb"), FileOptions::default()).unwrap()
}

/// Returns the number of readers of the only log.
fn readers(events: &dyn EventStore) -> usize {
    let names = events.log_names().unwrap();
    assert_eq!(names.len(), 1);
    let log = events.open_log(&names[0], LogSettings::default()).unwrap();
    log.reader_names().unwrap().len()
}

/// Service of a cluster whose records are made of those of a file, if they are empty.
fn of_store(
    path: &Path,
    cluster: &Arc<Cluster>,
    events: Arc<dyn EventStore>,
) -> NotificationService {
    let service = NotificationService::clustered_from_store(path, cluster.clone(), events);
    service.set_limits(limits());
    service
}

/// Serves a service in vain; returns the reason.
fn refused(service: NotificationService) -> String {
    let orb = Orb::builder().build().unwrap();
    let refused = service.serve(&orb.root_poa().unwrap()).unwrap_err();
    orb.shutdown(true).unwrap();
    service.stop();
    refused.to_string()
}

#[test]
fn a_server_whose_place_was_taken_removes_no_reader_that_the_next_one_has() {
    let folder = tempfile::tempdir().unwrap();
    let (cluster, program) = (Arc::new(Cluster::default()), Program::new());
    let events = Arc::new(events(folder.path()));
    let place = place("127.79.4.2");
    let served = Served::of(service(folder.path(), &cluster, events.clone()), place);
    let channel = served.channel(&persistent_events(), &[]);
    let [(taken, lost), (gone, refused)] = [(); 2].map(|()| program.sink(&channel));
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    for sink in [&lost, &refused] {
        assert_eq!(sink.wait_for(1), [1]);
    }
    // With the right to serve, it does.
    refused.refuse(Some(Kind::ObjectNotExist.because("it has gone")));
    pushes.push_structured_event(&event(2)).unwrap();
    until(|| !exists(&gone));
    until(|| readers(&*events) == 1);

    cluster.take(true);
    lost.refuse(Some(Kind::ObjectNotExist.because("it has gone")));
    pushes.push_structured_event(&event(3)).unwrap();
    until(|| !exists(&taken));
    drop(served);
    assert_eq!(readers(&*events), 1);

    cluster.take(false);
    lost.refuse(None);
    let _served = Served::of(service(folder.path(), &cluster, events), place);
    until(|| lost.numbers().ends_with(&[3]));
}

#[test]
fn a_server_that_cannot_reach_the_events_leaves_the_service_to_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (cluster, program) = (Arc::new(Cluster::default()), Program::new());
    let place = place("127.79.4.3");
    let first = service(folder.path(), &cluster, Arc::new(events(folder.path())));
    let served = Served::of(first, place);
    let channel = served.channel(&persistent_events(), &[]);
    let (proxy, sink) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    drop(served);

    let without = Arc::new(WithoutReaders(events(folder.path())));
    let second = service(folder.path(), &cluster, without);
    let reason = refused(second);
    assert!(reason.contains("store of events"), "{reason}");

    let third = service(folder.path(), &cluster, Arc::new(events(folder.path())));
    let _served = Served::of(third, place);
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(1), [1]);
}

#[test]
fn the_channels_of_one_server_are_those_of_the_cluster_that_is_made_of_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (cluster, program) = (Arc::new(Cluster::default()), Program::new());
    let place = place("127.79.4.4");
    let served = Served::of(stored(&path), place);
    let channel = served.channel(&[persistent()], &[]);
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    drop(served);

    let as_copy =
        NotificationService::clustered(&path, cluster.clone(), Arc::new(events(folder.path())));
    let reason = refused(as_copy);
    assert!(reason.contains("notification.redb"), "{reason}");
    let events = || Arc::new(events(folder.path()));
    let first = Served::of(of_store(&path, &cluster, events()), place);
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(sink.wait_for(2), [1, 2]);
    drop(first);
    let second = Served::of(service(folder.path(), &cluster, events()), place);
    pushes.push_structured_event(&event(3)).unwrap();
    assert_eq!(sink.wait_for(3), [1, 2, 3]);
    drop(second);
    // The server that was the first is started again as it was.
    let _first = Served::of(of_store(&path, &cluster, events()), place);
    pushes.push_structured_event(&event(4)).unwrap();
    assert_eq!(sink.wait_for(4), [1, 2, 3, 4]);
}

#[test]
fn a_store_whose_file_has_events_makes_no_cluster_until_consumers_have_taken_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (cluster, program) = (Arc::new(Cluster::default()), Program::new());
    let place = place("127.79.4.5");
    let served = Served::of(stored(&path), place);
    let channel = served.channel(&persistent_events(), &[]);
    let id = served.factory.get_all_channels().unwrap()[0];
    let (proxy, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    proxy.suspend_connection().unwrap();
    pushes.push_structured_event(&event(1)).unwrap();
    drop(served);

    let events = || Arc::new(events(folder.path()));
    let reason = refused(of_store(&path, &cluster, events()));
    let named = format!("1 persistent events of channel {id} ");
    assert!(reason.contains(&named), "{reason}");
    assert!(cluster.read().unwrap().is_empty());
    let served = Served::of(stored(&path), place);
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    // It is acknowledged once the reply has come.
    until(|| served.metric("pushed_total") == 1);
    drop(served);
    let _served = Served::of(of_store(&path, &cluster, events()), place);
    pushes.push_structured_event(&event(2)).unwrap();
    until(|| sink.numbers().ends_with(&[2]));
}
