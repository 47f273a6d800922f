//! Records that several servers share, of which one has the right to write at a time.

use std::sync::Arc;
use std::time::Duration;

use punctual_durable::DurableError;
use punctual_host::Turn;
use punctual_host::store::{
    Batch, Cdr, Records, SharedFrom, SharedRecord, SharedRecords, StoreError, StoreFile, StoreKind,
};
use punctual_jetstream::{
    Bridge, BridgeMessage, JetStreamOptions, JetStreamRecords, JetStreamStore,
};

use crate::lost::Proxy;
use crate::nats::{LIMIT, Nats, cluster_options, eventually};

/// Time that no test waits for.
const LONG: Duration = Duration::from_secs(3_600);
/// Shortest lease.
const SHORT: Duration = Duration::from_millis(300);

fn records(options: JetStreamOptions, lease: Duration) -> JetStreamRecords {
    let store = JetStreamStore::open(options).unwrap();
    JetStreamRecords::new(&store, &"service".parse().unwrap(), lease).unwrap()
}

/// Returns the records of a server that has the right to write them.
fn holding(options: JetStreamOptions, lease: Duration) -> JetStreamRecords {
    let records = records(options, lease);
    assert!(records.wait(&mut || false).unwrap());
    records
}

fn record(number: u64, value: Option<&str>) -> SharedRecord {
    SharedRecord {
        table: "table".into(),
        number,
        value: value.map(|text| text.as_bytes().to_vec()),
    }
}

#[test]
fn what_one_server_writes_the_next_one_has_at_once_when_the_first_ends() {
    let Some(nats) = Nats::start() else { return };
    let first = holding(nats.options(), LONG);
    assert_eq!(first.read().unwrap(), []);
    first.write(&[record(7, Some("seven"))]).unwrap();
    // More than one batch has.
    let many: Vec<_> = (10..2_010)
        .map(|number| record(number, Some("many")))
        .collect();
    first.write(&many).unwrap();
    let changes = [
        record(7, None),
        record(8, Some("")),
        record(10, Some("ten")),
    ];
    first.write(&changes).unwrap();
    drop(first);
    let second = holding(nats.options(), LONG);
    let mut read = second.read().unwrap();
    read.sort_by_key(|record| record.number);
    assert_eq!(read.len(), 2_001);
    assert_eq!(read[..2], [record(8, Some("")), record(10, Some("ten"))]);
    assert!(
        read[2..]
            .iter()
            .all(|one| one.value.as_deref() == Some(b"many"))
    );
}

#[test]
fn a_server_waits_while_another_one_lives_and_ends_when_it_is_to() {
    let Some(nats) = Nats::start() else { return };
    let first = holding(nats.options(), Duration::from_secs(2));
    let second = records(nats.options(), LIMIT);
    let mut looks = 0;
    let waited = second.wait(&mut || {
        looks += 1;
        looks > 10
    });
    assert!(!waited.unwrap());
    let without = second.write(&[record(1, Some("one"))]).unwrap_err();
    assert!(matches!(without, StoreError::Away(_)), "{without}");
    assert_eq!(first.loss(), None);
    first.confirm().unwrap();
    assert!(second.confirm().is_err());
    first.write(&[record(1, Some("one"))]).unwrap();
}

#[test]
fn a_server_with_a_shorter_lease_waits_for_that_of_the_one_that_serves() {
    let Some(nats) = Nats::start() else { return };
    // Its next heartbeat comes in an hour's quarter.
    let first = holding(nats.options(), LONG);
    let second = records(nats.options(), SHORT);
    let mut looks = 0;
    let waited = second.wait(&mut || {
        looks += 1;
        looks > 20
    });
    assert!(!waited.unwrap());
    first.confirm().unwrap();
}

#[test]
fn a_server_that_waits_leaves_the_replicas_of_the_stream_as_they_are() {
    let Some(nodes) = Nats::cluster() else { return };
    let first = holding(cluster_options(&nodes), LONG);
    let fewer = JetStreamOptions {
        replicas: 1,
        ..cluster_options(&nodes)
    };
    let second = records(fewer, LONG);
    let mut looks = 0;
    let waited = second.wait(&mut || {
        looks += 1;
        looks > 3
    });
    assert!(!waited.unwrap());
    let replicas = nodes[0].replicas("punctual-shared-service");
    assert_eq!(replicas, 3);
    drop(first);
}

#[test]
fn a_server_whose_place_was_taken_writes_nothing_more() {
    let Some(nats) = Nats::start() else { return };
    // Its heartbeats are late, like those of a process that was stopped.
    let proxy = Proxy::of(&nats.url);
    let first = holding(JetStreamOptions::new([proxy.url()]), SHORT);
    first.write(&[record(1, Some("first"))]).unwrap();
    proxy.hold_up(true);
    let second = holding(nats.options(), SHORT);
    proxy.hold_up(false);
    let refused = first.write(&[record(1, Some("late"))]).unwrap_err();
    assert!(matches!(refused, StoreError::Away(_)), "{refused}");
    let refused = first.write(&[record(1, Some("a")), record(2, Some("b"))]);
    assert!(refused.is_err());
    assert!(first.confirm().is_err());
    assert!(first.loss().is_some());
    drop(first);
    second.write(&[record(3, Some("second"))]).unwrap();
    let expected = [record(1, Some("first")), record(3, Some("second"))];
    assert_eq!(second.read().unwrap(), expected);
    assert_eq!(second.loss(), None);
}

#[test]
fn a_server_that_gets_no_answers_loses_its_place_to_one_that_does() {
    let Some(nats) = Nats::start() else { return };
    let proxy = Proxy::of(&nats.url);
    let lease = Duration::from_millis(500);
    let first = holding(JetStreamOptions::new([proxy.url()]), lease);
    proxy.keep();
    let second = holding(nats.options(), lease);
    eventually("it has lost its place", || first.loss().is_some());
    assert!(first.write(&[record(1, Some("late"))]).is_err());
    second.write(&[record(2, Some("second"))]).unwrap();
    assert_eq!(second.read().unwrap(), [record(2, Some("second"))]);
}

#[test]
fn a_write_whose_answer_is_lost_is_done_once() {
    let Some(nats) = Nats::start() else { return };
    let proxy = Proxy::of(&nats.url);
    let options = JetStreamOptions {
        patience: LIMIT,
        ..JetStreamOptions::new([proxy.url()])
    };
    let first = holding(options, LONG);
    for batch in [vec![1], vec![2, 3, 4]] {
        let changes: Vec<_> = batch.iter().map(|one| record(*one, Some("x"))).collect();
        proxy.keep();
        std::thread::scope(|scope| {
            let write = scope.spawn(|| first.write(&changes));
            eventually("the answer is on its way", || proxy.has_kept("\"seq\":"));
            proxy.lose();
            write.join().unwrap().unwrap();
        });
    }
    first.write(&[record(5, Some("x"))]).unwrap();
    let read = first.read().unwrap();
    assert_eq!(
        read,
        (1..=5)
            .map(|one| record(one, Some("x")))
            .collect::<Vec<_>>()
    );
}

#[test]
fn of_many_servers_that_wait_one_at_a_time_has_the_right_and_all_get_it() {
    let Some(nats) = Nats::start() else { return };
    let holders = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (options, holders) = (nats.options(), &holders);
            scope.spawn(move || {
                let records = holding(options, LONG);
                assert_eq!(holders.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                records.write(&[record(number, Some("here"))]).unwrap();
                holders.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            });
        }
    });
    assert_eq!(holding(nats.options(), LONG).read().unwrap().len(), 4);
}

#[test]
fn records_of_a_cluster_survive_the_loss_of_a_node() {
    let Some(mut nodes) = Nats::cluster() else {
        return;
    };
    let first = holding(cluster_options(&nodes), LONG);
    for number in 0..20 {
        first.write(&[record(number, Some("kept"))]).unwrap();
        if number == 10 {
            nodes[0].kill();
        }
    }
    drop(first);
    let second = holding(cluster_options(&nodes), LONG);
    assert_eq!(second.read().unwrap().len(), 20);
}

#[test]
fn a_record_that_is_longer_than_the_servers_take_and_a_short_lease_are_refused() {
    let Some(nats) = Nats::start() else { return };
    let first = holding(nats.options(), LONG);
    let long = "x".repeat(2 << 20);
    let refused = first.write(&[record(1, Some(&long))]).unwrap_err();
    assert!(matches!(refused, StoreError::NotStorable(_)), "{refused}");
    first.write(&[record(1, Some("short"))]).unwrap();
    let store = nats.store();
    let name = "service".parse().unwrap();
    let refused = JetStreamRecords::new(&store, &name, Duration::from_millis(10)).unwrap_err();
    assert!(matches!(refused, DurableError::Invalid(_)), "{refused}");
}

#[test]
fn a_record_is_found_without_the_right_to_write_it() {
    let Some(nats) = Nats::start() else { return };
    let other = records(nats.options(), LONG);
    assert_eq!(other.find("table", 1).unwrap(), None);
    let first = holding(nats.options(), LONG);
    assert_eq!(other.find("table", 1).unwrap(), None);
    first.write(&[record(1, Some("one"))]).unwrap();
    assert_eq!(other.find("table", 1).unwrap(), Some(b"one".to_vec()));
    assert_eq!(other.find("other", 1).unwrap(), None);
    first.write(&[record(1, None)]).unwrap();
    assert_eq!(other.find("table", 1).unwrap(), None);
}

#[test]
fn the_records_of_a_file_are_those_that_the_next_server_has() {
    const NOTES: Records<u64, Cdr<u64>> = Records::named("notes");
    const KIND: StoreKind = StoreKind::new("shared", 1);
    let Some(nats) = Nats::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.redb");
    // More than one batch has.
    let numbers = || (0..2_000).map(|number| (number, number * 2));
    let own = StoreFile::open(&path, KIND).unwrap();
    let all = |batch: &Batch<'_>| {
        let mut notes = batch.records(NOTES)?;
        numbers().try_for_each(|(number, twice)| notes.put(number, &Cdr(twice)))
    };
    own.commit(all).unwrap();
    drop(own);
    let open = |path: &std::path::Path, from| {
        let shared = Arc::new(holding(nats.options(), LONG));
        StoreFile::check_shared(path, KIND, &*shared, from).unwrap();
        StoreFile::open_shared(path, KIND, shared, from).unwrap()
    };
    drop(open(&path, SharedFrom::File));
    let copy = open(&folder.path().join("copy.redb"), SharedFrom::Records);
    let notes = copy.read(|transaction| NOTES.entries(transaction));
    assert_eq!(notes.unwrap(), numbers().collect::<Vec<_>>());
}

#[test]
fn a_server_of_records_that_were_deleted_writes_nothing_to_those_that_are_made_again() {
    let Some(nats) = Nats::start() else { return };
    let first = holding(nats.options(), LONG);
    first.write(&[record(1, Some("first"))]).unwrap();
    let deletion = BridgeMessage {
        subject: "$JS.API.STREAM.DELETE.punctual-shared-service".to_owned(),
        ..BridgeMessage::default()
    };
    Bridge::open(&nats.options())
        .unwrap()
        .publish(deletion)
        .unwrap();
    eventually("the records are deleted", || {
        first.find("table", 1).unwrap().is_none()
    });
    let second = holding(nats.options(), LONG);
    // As many messages as the first server knows of.
    second.write(&[record(1, Some("second"))]).unwrap();
    let refused = first.write(&[record(1, Some("late"))]).unwrap_err();
    assert!(matches!(refused, StoreError::Away(_)), "{refused}");
    assert_eq!(second.read().unwrap(), [record(1, Some("second"))]);
}
