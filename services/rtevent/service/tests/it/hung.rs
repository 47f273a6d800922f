//! Many consumers that hang at once.

use crate::support::{Served, event, eventually, header, orb, wants};
use punctual::{Interface, ObjectRef};
use punctual_rtevent::{Dispatching, Threads, ThreadsOptions};
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::rtec_event_comm::PushConsumer;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Number of consumers that hang: more than a level has threads that are not blocked.
const HUNG: usize = 200;
/// Number of events, which together are more than a socket takes that is not read.
const EVENTS: i32 = 64;
const PAYLOAD: [u8; 16 << 10] = [0; 16 << 10];

/// Returns options with threads that are replaced soon, and pushes that hang for as long as the test takes.
fn options() -> ServiceOptions {
    let threads = ThreadsOptions {
        blocked_after: Duration::from_millis(5),
        ..ThreadsOptions::default()
    };
    let threads = Arc::new(Threads::new(threads).unwrap());
    let mut options = ServiceOptions {
        push_timeout: Duration::from_secs(600),
        ..ServiceOptions::default()
    };
    options.channel.dispatching = Dispatching::Queued(threads);
    options
}

/// Connects a consumer at a socket that accepts connections and reads nothing.
fn connect_hung(served: &Served, path: &Path) -> UnixListener {
    let listener = UnixListener::bind(path).unwrap();
    let orb = served.channel.as_object().orb();
    let reference = format!("corbaloc:uiop:1.2@{}|consumer", path.display());
    connect(served, orb.string_to_object(&reference).unwrap());
    listener
}

fn connect(served: &Served, consumer: ObjectRef) {
    let consumer = PushConsumer::from_object(consumer);
    let proxy = served.proxy_supplier();
    let filter = wants(&[header(0, 0)]);
    proxy
        .connect_push_consumer(Some(&consumer), &filter)
        .unwrap();
}

#[test]
fn consumers_whose_sockets_are_not_read_delay_no_other_of_their_level() {
    let served = Served::new(options());
    let folder = tempfile::tempdir().unwrap();
    let paths = (0..HUNG).map(|number| folder.path().join(number.to_string()));
    let hung: Vec<_> = paths.map(|path| connect_hung(&served, &path)).collect();
    let (own, poa) = orb();
    let inbox = Arc::new(crate::support::Inbox::default());
    let living: PushConsumer = poa.activate(inbox.clone()).unwrap();
    let text = own.object_to_string(living.as_object()).unwrap();
    let client = served.channel.as_object().orb();
    connect(&served, client.string_to_object(&text).unwrap());
    let supplier = served.supplier();
    for kind in 0..EVENTS {
        supplier.push(&[event(16 + kind, 0, &PAYLOAD)]).unwrap();
        inbox.events(kind as usize + 1);
    }
    assert_eq!(
        inbox.kinds(EVENTS as usize),
        (16..16 + EVENTS).collect::<Vec<_>>()
    );
    eventually("the others' events wait, as their pushes hang", || {
        let consumers = served.service.channel().statistics().consumers;
        consumers
            .iter()
            .filter(|one| one.pushed < EVENTS as u64)
            .count()
            == HUNG
    });
    drop(hung);
    own.shutdown(true).unwrap();
}
