//! Groups that several servers share by etcd.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use data_encoding::BASE64;
use parking_lot::{Condvar, Mutex};
use punctual::{CompletionStatus, SystemExceptionKind};
use punctual_etcd::Client;
use punctual_groups_client::punctual_groups::AdministrationStoreStateError;
use punctual_groups_service::{EtcdOptions, EtcdRecords, GroupService};
use punctual_host::store::{SharedRecord, SharedRecords, StoreError};
use punctual_host::{Service, Turn};
use rustix::process::Signal;
use serde_json::json;

use crate::etcd_member::Etcd;
use crate::support::{Counter, Served, at, quick, until};

fn in_etcd(etcd: &Etcd) -> EtcdOptions {
    EtcdOptions {
        client: etcd.client(),
        prefix: "/test".to_owned(),
        // Longer than any load lasts: a server that ends gives its right back.
        lease: Duration::from_secs(600),
    }
}

fn record(number: u64, value: &[u8]) -> SharedRecord {
    SharedRecord {
        table: "groups".into(),
        number,
        value: Some(value.to_vec()),
    }
}

/// A way to etcd on which requests can be held up, and which goes on when its client has gone.
struct Way {
    address: String,
    gate: Arc<Gate>,
}

struct Gate {
    /// Number of requests that pass it.
    passes: Mutex<usize>,
    opened: Condvar,
    /// Connections whose replies have all come.
    ended: AtomicUsize,
}

impl Way {
    fn to(etcd: &Etcd) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let gate = Arc::new(Gate {
            passes: Mutex::new(usize::MAX),
            opened: Condvar::new(),
            ended: AtomicUsize::new(0),
        });
        let etcd = etcd.address.clone();
        let kept = gate.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&etcd)) else {
                    continue;
                };
                let (to, from) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let (there, back) = (kept.clone(), kept.clone());
                std::thread::spawn(move || there.pass(client, to));
                std::thread::spawn(move || {
                    // Replies whose client has gone are read, too.
                    let _ = std::io::copy(&mut { server }, &mut Lost(from));
                    back.ended.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, gate }
    }

    fn shut_after(&self, requests: usize) {
        *self.gate.passes.lock() = requests;
    }

    fn open(&self) {
        *self.gate.passes.lock() = usize::MAX;
        self.gate.opened.notify_all();
    }
}

impl Gate {
    fn pass(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut block = [0; 65_536];
        while let Ok(read @ 1..) = from.read(&mut block) {
            let mut passes = self.passes.lock();
            while *passes == 0 {
                self.opened.wait(&mut passes);
            }
            *passes -= 1;
            drop(passes);
            if to.write_all(&block[..read]).is_err() {
                break;
            }
        }
        // etcd answers what it has got, and ends then: it would drop the request of a client that has gone.
        std::thread::sleep(Duration::from_millis(500));
        let _ = to.shutdown(std::net::Shutdown::Write);
    }
}

/// Receiver that may have gone.
struct Lost(TcpStream);

impl Write for Lost {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _has_gone = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn by(etcd: &Etcd, way: &Way, patience: Duration) -> EtcdOptions {
    let mut options = in_etcd(etcd);
    options.client.patience = patience;
    options.client.endpoints = vec![way.address.clone(), etcd.address.clone()];
    options
}

#[test]
fn a_write_that_was_held_up_does_not_undo_a_later_one() {
    let Some(etcd) = Etcd::start() else { return };
    let way = Way::to(&etcd);
    let first = EtcdRecords::new(&by(&etcd, &way, Duration::from_millis(500))).unwrap();
    assert!(first.wait(&mut || false).unwrap());
    until(|| first.write(&[record(1, b"first")]).is_ok());
    way.shut_after(0);
    let lost = first.write(&[record(1, b"held up")]);
    assert!(matches!(lost, Err(StoreError::Unknown(_))), "{lost:?}");
    // By the other way.
    until(|| first.write(&[record(1, b"later")]).is_ok());
    way.open();
    until(|| way.gate.ended.load(Ordering::SeqCst) > 0);
    assert_eq!(first.find("groups", 1).unwrap().unwrap(), b"later");
}

#[test]
fn a_member_is_told_that_a_state_may_be_stored_when_etcd_has_not_answered() {
    let Some(etcd) = Etcd::start() else { return };
    let way = Way::to(&etcd);
    let folder = tempfile::tempdir().unwrap();
    let options = by(&etcd, &way, Duration::from_millis(500));
    let service = GroupService::in_etcd(&folder.path().join("one.redb"), &options).unwrap();
    service.set_limits(quick());
    let turn = Service::turn(&service).unwrap();
    assert!(turn.wait(&mut || false).unwrap());
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let (group, id) = served.group("warm-passive", "");
    served.add(&group, "a");
    until(|| served.primary(id).is_some());
    let store = |number| {
        let replication = &served.replication;
        replication.store_state(id, &at("a"), 1, number, b"state")
    };
    let mut number = 0;
    until(|| {
        number += 1;
        store(number).is_ok()
    });
    way.shut_after(0);
    let Err(AdministrationStoreStateError::System(exception)) = store(number + 1) else {
        panic!("it has not waited for etcd");
    };
    assert_eq!(exception.kind(), SystemExceptionKind::PersistStore);
    assert_eq!(exception.completed(), CompletionStatus::Maybe);
    way.open();
}

#[test]
fn a_renewal_that_was_held_up_does_not_undo_a_later_one() {
    let Some(etcd) = Etcd::start() else { return };
    let way = Way::to(&etcd);
    let first = EtcdRecords::new(&by(&etcd, &way, Duration::from_millis(500))).unwrap();
    assert!(first.wait(&mut || false).unwrap());
    let client = Client::new(&etcd.client()).unwrap();
    let lease = || {
        let range = json!({ "key": BASE64.encode(b"/test/holder") });
        let reply = client.call("/v3/kv/range", &range).unwrap();
        punctual_etcd::records(&reply).unwrap()[0].lease
    };
    // The lease is granted; that the key gets it is held up.
    way.shut_after(1);
    assert!(first.confirm().is_err());
    until(|| first.confirm().is_ok());
    let last = lease();
    way.open();
    until(|| way.gate.ended.load(Ordering::SeqCst) > 0);
    assert_eq!(lease(), last);
    assert!(first.has_right());
}

#[test]
fn a_renewal_does_not_wait_for_a_way_to_etcd_that_hangs() {
    let Some(etcd) = Etcd::start() else { return };
    let way = Way::to(&etcd);
    let mut options = by(&etcd, &way, Duration::from_secs(600));
    options.lease = Duration::from_secs(12);
    let first = EtcdRecords::new(&options).unwrap();
    assert!(first.wait(&mut || false).unwrap());
    let client = Client::new(&etcd.client()).unwrap();
    let revision = || {
        let range = json!({ "key": BASE64.encode(b"/test/holder") });
        punctual_etcd::revision(&client.call("/v3/kv/range", &range).unwrap())
    };
    let before = revision();
    way.shut_after(0);
    // It comes by the other way; on a machine that is busier than a right lasts, the end of the right is noted at least.
    until(|| revision() > before || first.loss().is_some());
    way.open();
}

#[test]
fn only_the_server_with_the_right_writes_and_another_one_takes_it_afterwards() {
    let Some(etcd) = Etcd::start() else { return };
    let first = EtcdRecords::new(&in_etcd(&etcd)).unwrap();
    assert!(
        first.write(&[record(1, b"x")]).is_err(),
        "it has not waited for its turn"
    );
    assert!(first.wait(&mut || false).unwrap());
    let many: Vec<SharedRecord> = (0..250).map(|number| record(number, b"value")).collect();
    first.write(&many).unwrap();
    first
        .write(&[SharedRecord {
            value: None,
            ..record(0, b"")
        }])
        .unwrap();
    assert_eq!(first.find("groups", 7).unwrap().unwrap(), b"value");
    assert_eq!(first.find("groups", 0).unwrap(), None);
    let second = EtcdRecords::new(&in_etcd(&etcd)).unwrap();
    let mut looks = 0;
    let waited = second.wait(&mut || {
        looks += 1;
        looks > 3
    });
    assert!(!waited.unwrap(), "the first has the right");
    assert!(first.confirm().is_ok() && first.has_right());
    drop(first);
    assert!(second.wait(&mut || false).unwrap());
    let all = second.read().unwrap();
    assert_eq!(all.len(), 249);
    assert!(all.contains(&record(249, b"value")));
    assert_eq!(second.loss(), None);
}

#[test]
fn a_server_that_etcd_does_not_answer_loses_the_right_before_another_one_has_it() {
    let Some(etcd) = Etcd::start() else { return };
    let mut options = in_etcd(&etcd);
    options.client.patience = Duration::from_millis(200);
    options.lease = Duration::from_secs(1);
    let first = EtcdRecords::new(&options).unwrap();
    assert!(first.wait(&mut || false).unwrap());
    // It renews its right, or has lost it already.
    etcd.signal(Signal::STOP);
    until(|| first.loss().is_some());
    assert!(!first.has_right() && first.confirm().is_err());
    assert!(first.write(&[record(1, b"late")]).is_err());
    etcd.signal(Signal::CONT);
    let second = EtcdRecords::new(&in_etcd(&etcd)).unwrap();
    assert!(second.wait(&mut || false).unwrap());
    assert!(second.read().unwrap().is_empty());
}

#[test]
fn another_server_has_the_groups_and_states_of_the_one_before() {
    let Some(etcd) = Etcd::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serve = |name: &str| {
        let service = GroupService::in_etcd(&folder.path().join(name), &in_etcd(&etcd)).unwrap();
        service.set_limits(quick());
        assert!(
            Service::turn(&service)
                .unwrap()
                .wait(&mut || false)
                .unwrap()
        );
        Served::serve(tempfile::tempdir().unwrap(), service)
    };
    let served = serve("one.redb");
    let (group, id) = served.group("warm-passive", "");
    let servant = punctual::poa::servant_of::<crate::idl::Register, _>(Counter::named("a"));
    let object = served.activate(servant);
    let joined = served
        .replication
        .join(Some(&group), &at("a"), Some(&object), 60_000)
        .unwrap();
    until(|| served.primary(id).is_some());
    served
        .replication
        .store_state(id, &at("a"), joined.token, 1, b"kept")
        .unwrap();
    let update = |number: u64| {
        let stored = number.to_string().into_bytes();
        let replication = &served.replication;
        replication.store_update(id, &at("a"), joined.token, number, number - 1, &stored)
    };
    // More than one transaction of etcd writes. The state that follows ends the log all the same.
    for number in 2..150 {
        update(number).unwrap();
    }
    served
        .replication
        .store_state(id, &at("a"), joined.token, 150, b"kept, too")
        .unwrap();
    for number in 151..154 {
        update(number).unwrap();
    }
    drop(served);

    let served = serve("two.redb");
    assert_eq!(served.primary(id).as_deref(), Some("a"));
    let (updates, state) = served.replication.stored_updates(id).unwrap();
    assert_eq!(state, b"kept, too");
    assert_eq!(updates, [b"151", b"152", b"153"]);
    let standing = served
        .replication
        .renew(id, &at("a"), joined.token, &[])
        .unwrap();
    assert!(standing.is_primary);
    // Of a domain that both have.
    assert_eq!(
        served
            .replication
            .get_object_group_ref_from_id(id)
            .unwrap()
            .unwrap()
            .ior()
            .group()
            .unwrap()
            .domain,
        group.ior().group().unwrap().domain
    );
}
