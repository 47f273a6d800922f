//! Tests of the budget of the peers' memory.

use super::evictable::Evictable;
use super::received::{Account, FREE, Received};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

#[derive(Debug, Default)]
struct Connection(AtomicBool);

impl Evictable for Connection {
    fn evict(&self, reason: &str) {
        assert!(reason.contains("limits.received"), "{reason}");
        self.0.store(true, Ordering::Relaxed);
    }

    fn log_eviction(&self, _: &str) {}
}

impl Connection {
    fn count_closed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

const MIB: usize = 1 << 20;

fn peers(received: &Arc<Received>, names: &[&str]) -> Vec<(Arc<Connection>, Account)> {
    let one = |name: &&str| {
        let connection = Arc::new(Connection::default());
        let this: Arc<dyn Evictable> = connection.clone();
        let account = received.account((*name).into(), Arc::downgrade(&this), false);
        (connection, account)
    };
    names.iter().map(one).collect()
}

#[test]
fn the_peer_that_holds_most_makes_room_and_the_other_is_served() {
    let received = Arc::new(Received::new(8 * MIB));
    let mut peers = peers(&received, &["hostile", "hostile", "hostile", "kind"]);
    for (_, account) in &mut peers[..3] {
        assert_eq!(account.holds(2 * MIB), Ok(()));
    }
    let (kind, account) = &mut peers[3];
    assert_eq!(account.holds(3 * MIB), Ok(()));
    assert!(!kind.count_closed());
    let gone = peers.iter().filter(|(one, _)| one.count_closed()).count();
    assert_eq!(gone, 1);
    // A closed connection may hold nothing more.
    for (one, account) in &mut peers {
        assert_eq!(account.holds(2 * MIB).is_err(), one.count_closed());
    }
    // It counts until it has freed what it holds.
    assert_eq!(received.total(), 8 * MIB);
    peers.retain(|(one, _)| !one.count_closed());
    assert_eq!(received.total(), 6 * MIB);
    drop(peers);
    assert_eq!(received.total(), 0);
    assert!(received.is_empty());
}

#[test]
fn one_peer_has_three_quarters_at_most() {
    let received = Arc::new(Received::new(8 * MIB));
    let mut peers = peers(&received, &["one", "one"]);
    assert_eq!(peers[0].1.holds(5 * MIB), Ok(()));
    // The larger of the two is closed.
    assert_eq!(peers[1].1.holds(2 * MIB), Ok(()));
    assert!(peers[0].0.count_closed());
    assert!(peers[1].1.holds(7 * MIB).is_err());
}

#[test]
fn what_is_in_progress_counts_and_stays() {
    let received = Arc::new(Received::new(8 * MIB));
    let mut peers = peers(&received, &["one", "other"]);
    assert_eq!(peers[0].1.holds(5 * MIB), Ok(()));
    let served = peers[0].1.hands_on(5 * MIB, 0);
    assert_eq!(received.total(), 5 * MIB);
    assert!(served.is_some() && peers[0].1.hands_on(FREE, 0).is_none());
    assert!(peers[1].1.holds(4 * MIB).is_err());
    drop(served);
    assert_eq!(peers[0].1.holds(4 * MIB), Ok(()));
}

#[test]
fn short_messages_are_not_counted() {
    let received = Arc::new(Received::new(0));
    let mut peers = peers(&received, &["one"]);
    assert_eq!(peers[0].1.holds(FREE), Ok(()));
    assert!(peers[0].1.holds(FREE + 1).is_err());
}

/// Test connection that reports when it is closed.
#[derive(Debug)]
struct Telling(Sender<()>);

impl Evictable for Telling {
    fn evict(&self, _: &str) {
        self.0.send(()).unwrap();
    }

    fn log_eviction(&self, _: &str) {}
}

/// Returns an account that waits, its connection, and a channel that receives when that is closed.
fn waiting(received: &Arc<Received>, peer: &str) -> (Arc<dyn Evictable>, Account, Receiver<()>) {
    let (told, closed) = channel();
    let connection: Arc<dyn Evictable> = Arc::new(Telling(told));
    let account = received.account(peer.into(), Arc::downgrade(&connection), true);
    (connection, account, closed)
}

#[test]
fn who_needs_room_waits_until_the_closed_connection_has_freed_its_bytes() {
    let received = Arc::new(Received::new(8 * MIB));
    let (_hostile, mut hostile, closed) = waiting(&received, "hostile");
    let (_kind, mut kind, _) = waiting(&received, "kind");
    assert_eq!(hostile.holds(6 * MIB), Ok(()));
    std::thread::scope(|scope| {
        let grown = scope.spawn(|| kind.holds(5 * MIB));
        closed.recv().unwrap();
        assert_eq!(received.total(), 11 * MIB);
        assert!(!grown.is_finished());
        assert!(hostile.holds(6 * MIB).is_err());
        hostile.holds(0).unwrap();
        assert_eq!(grown.join().unwrap(), Ok(()));
    });
    assert_eq!(received.total(), 5 * MIB);
}

#[test]
fn who_waits_for_room_and_is_closed_itself_stops_waiting() {
    let received = Arc::new(Received::new(8 * MIB));
    let (_first, mut first, first_closed) = waiting(&received, "first");
    let (_second, mut second, second_closed) = waiting(&received, "second");
    assert_eq!(first.holds(6 * MIB), Ok(()));
    std::thread::scope(|scope| {
        let grown = scope.spawn(|| {
            let grown = second.holds(5 * MIB);
            second.holds(0).unwrap();
            grown
        });
        first_closed.recv().unwrap();
        let third = scope.spawn(|| {
            let (_third, mut third, _) = waiting(&received, "third");
            third.holds(4 * MIB)
        });
        second_closed.recv().unwrap();
        assert!(grown.join().unwrap().is_err());
        first.holds(0).unwrap();
        assert_eq!(third.join().unwrap(), Ok(()));
    });
    assert_eq!(received.total(), 0);
}

#[test]
fn a_reply_makes_room_at_the_expense_of_the_largest_and_counts_until_it_is_dropped() {
    let received = Arc::new(Received::new(8 * MIB));
    let hostile: Arc<Connection> = Arc::default();
    let kind: Arc<Connection> = Arc::default();
    let charge = |of: &Arc<Connection>, peer: &str, octets| {
        let connection: Arc<dyn Evictable> = of.clone();
        received.charge_closable(&peer.into(), Arc::downgrade(&connection), octets)
    };
    let (unsent, granted) = charge(&hostile, "hostile", 6 * MIB);
    assert_eq!(granted, Ok(()));
    drop(unsent);
    let (unsent, granted) = charge(&hostile, "hostile", 3 * MIB);
    assert_eq!(granted, Ok(()));
    let (_more, granted) = charge(&hostile, "hostile", 7 * MIB);
    assert!(granted.is_err());
    assert_eq!(received.total(), 10 * MIB);
    // The larger one was refused itself, and the smaller one stays.
    assert!(!hostile.count_closed());
    drop(_more);
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| charge(&kind, "kind", 2 * MIB).1);
        assert_eq!(sent.join().unwrap(), Ok(()));
    });
    drop(unsent);
    assert_eq!(received.total(), 0);
}
