//! Pollers whose requests are sent in a row, which the transport may hold back like one-ways in a
//! flood. How many it holds back depends on the time between them; what matters is that none stays.

use super::desk::Desk;
use super::holding::Holding;
use super::support::watchdog;
use super::{Pair, until};
use punctual::asynchronous::Amh;
use punctual::policy::Collocation;
use punctual::{ListenEndpoint, Orb, Poller};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);
const ROW: usize = 200;
/// Time after which no test ends: the flusher sends nothing meanwhile.
const NEVER: Duration = Duration::from_secs(3600);

type Waits = Poller<i32>;

/// Makes a server, a client whose transport may hold requests back for `gather`, and a row of calls
/// that are not answered yet.
fn row(gather: Duration) -> (Arc<Desk>, Pair, Vec<Waits>) {
    let (desk, link) = (Desk::new(), Holding::default());
    let client = Orb::builder().link(Arc::new(link.clone()));
    let client = client.configure(|config| {
        config.collocation = Collocation::None;
        config.one_way_gather = gather;
    });
    let server = Orb::builder().link(Arc::new(link.clone()));
    let server = server.listen(ListenEndpoint::new("holding", "127.0.0.1:0"));
    let servant = Amh::shared(desk.clone());
    let pair = Pair::of_orbs(server.build().unwrap(), client.build().unwrap(), servant);
    // The first call makes the connection, and later ones take the fast path.
    assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
    let waits: Vec<_> = (0..ROW).map(|_| pair.clerk.sendp_wait_at("gate")).collect();
    println!("{} of {ROW} requests were held back", link.messages());
    (desk, pair, waits)
}

fn end(desk: &Desk, pair: Pair, waits: Vec<Waits>) {
    desk.open_gate("gate");
    for one in waits {
        assert_eq!(one.wait().unwrap(), 4);
    }
    pair.end();
}

#[test]
fn a_row_of_requests_arrives_though_no_caller_waits() {
    let _watchdog = watchdog(LIMIT);
    let (desk, pair, waits) = row(Duration::from_millis(2));
    until(|| desk.waiting() == ROW);
    end(&desk, pair, waits);
}

#[test]
fn requests_that_are_held_back_leave_when_a_caller_waits_for_one() {
    let _watchdog = watchdog(LIMIT);
    let (desk, pair, mut waits) = row(NEVER);
    // The first one has been sent long ago: what leaves are those behind it.
    assert!(!waits[0].is_ready(Duration::from_millis(1)));
    until(|| desk.waiting() == ROW);
    // Another row begins.
    waits.extend((0..ROW).map(|_| pair.clerk.sendp_wait_at("gate")));
    assert!(!waits[0].is_ready(Duration::ZERO));
    until(|| desk.waiting() == 2 * ROW);
    end(&desk, pair, waits);
}

#[test]
fn requests_that_are_held_back_leave_when_one_is_polled() {
    let _watchdog = watchdog(LIMIT);
    let (desk, pair, mut waits) = row(NEVER);
    let mut last = pin!(waits.pop().unwrap());
    let mut context = Context::from_waker(Waker::noop());
    assert!(last.as_mut().poll(&mut context).is_pending());
    until(|| desk.waiting() == ROW);
    end(&desk, pair, waits);
}

#[test]
fn requests_that_are_held_back_leave_with_a_synchronous_call_and_with_a_poller_that_is_dropped() {
    let _watchdog = watchdog(LIMIT);
    let (desk, pair, mut waits) = row(NEVER);
    assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
    until(|| desk.waiting() == ROW);
    waits.extend((0..ROW).map(|_| pair.clerk.sendp_wait_at("gate")));
    // CancelRequest follows it.
    drop(waits.pop());
    until(|| desk.waiting() == 2 * ROW);
    end(&desk, pair, waits);
}

#[test]
fn an_orb_that_ends_takes_along_the_requests_that_were_held_back() {
    let _watchdog = watchdog(LIMIT);
    let (desk, pair, waits) = row(NEVER);
    let ends = std::thread::spawn({
        let client = pair.client.clone();
        move || client.shutdown(true)
    });
    until(|| desk.waiting() == ROW);
    desk.open_gate("gate");
    ends.join().unwrap().unwrap();
    drop(waits);
    pair.server.shutdown(true).unwrap();
}
