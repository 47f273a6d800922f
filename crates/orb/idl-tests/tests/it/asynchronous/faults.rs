//! Servers that do not answer, answer twice, answer late, or die.

use super::giop_server::{CANCEL, REQUEST, serve};
use super::handler_objects::{Handler, Told};
use super::support::watchdog;
use punctual::{Interface, Orb, SystemExceptionKind as Kind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Number of calls in flight at once, on one connection.
const MANY: u32 = 100_000;

#[test]
fn of_100_000_calls_to_a_server_that_answers_half_and_dies_each_handler_is_called_once() {
    let _watchdog = watchdog(Duration::from_secs(300));
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = serve(&client, |mut peer| {
        let requests: Vec<u32> = (0..MANY).map(|_| peer.next().unwrap().id).collect();
        for id in requests.iter().step_by(2) {
            peer.answer(*id, 1);
        }
    });
    let called: Arc<Vec<AtomicU32>> = Arc::new((0..MANY).map(|_| AtomicU32::new(0)).collect());
    let (say, heard) = mpsc::channel();
    for number in 0..MANY {
        let (called, say) = (called.clone(), say.clone());
        let handler = move |sum: Result<i32, punctual::SystemException>| {
            let before = called
                .get(number as usize)
                .map(|one| one.fetch_add(1, Ordering::Relaxed));
            assert_eq!(before, Some(0));
            say.send(sum.map_err(|error| error.kind())).unwrap();
        };
        clerk.sendc_add(handler, 0, 1);
    }
    drop(say);
    let heard: Vec<_> = heard.iter().collect();
    server.join().unwrap();
    let answered = heard.iter().filter(|one| **one == Ok(1)).count();
    let failed = heard.iter().filter(|one| **one == Err(Kind::CommFailure));
    assert_eq!(
        (answered, failed.count()),
        (MANY as usize / 2, MANY as usize / 2)
    );
    assert!(called.iter().all(|one| one.load(Ordering::Relaxed) == 1));
    client.shutdown(true).unwrap();
}

#[test]
fn of_100_000_calls_to_a_server_that_answers_half_and_dies_a_handler_object_is_called_for_each() {
    let _watchdog = watchdog(Duration::from_secs(300));
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = serve(&client, |mut peer| {
        let requests: Vec<u32> = (0..MANY).map(|_| peer.next().unwrap().id).collect();
        for id in requests.iter().step_by(2) {
            peer.answer(*id, 1);
        }
    });
    let (handler, heard) = Handler::new();
    let handler = Arc::new(handler);
    for _ in 0..MANY {
        clerk.sendc_add(handler.clone(), 0, 1);
    }
    drop(handler);
    // Each call drops the handler after calling it.
    let heard: Vec<Told> = heard.iter().map(|(told, _)| told).collect();
    server.join().unwrap();
    let failed = Told::Failed("add", Kind::CommFailure);
    let count = |told: &Told| heard.iter().filter(|one| *one == told).count();
    assert_eq!(heard.len(), MANY as usize);
    assert_eq!(
        (count(&Told::Sum(1)), count(&failed)),
        (MANY as usize / 2, MANY as usize / 2)
    );
    client.shutdown(true).unwrap();
}

#[test]
fn a_call_that_is_dropped_is_cancelled_and_its_reply_is_nobodys() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = serve(&client, |mut peer| {
        let dropped = peer.next().unwrap();
        let cancel = peer.next().unwrap();
        let next = peer.next().unwrap();
        // Late, twice, never asked for; then the awaited one.
        for id in [dropped.id, dropped.id, 4444, next.id] {
            peer.answer(id, 9);
        }
        let _end = peer.next();
        (dropped, cancel, next)
    });
    drop(clerk.add_async(1, 1));
    assert_eq!(clerk.add_async(1, 1).wait().unwrap(), 9);
    client.shutdown(true).unwrap();
    let (dropped, cancel, next) = server.join().unwrap();
    assert_eq!((cancel.kind, cancel.id), (CANCEL, dropped.id));
    assert_eq!(next.kind, REQUEST);
    assert_ne!(next.id, dropped.id);
}

#[test]
fn who_waits_in_vain_is_told_in_time_however_it_waits() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = serve(&client, |mut peer| while peer.next().is_some() {});
    let limit = Duration::from_millis(50);
    let object = clerk.as_object().with_timeout(limit);
    let clerk = super::Clerk::from_object(object);
    let began = Instant::now();
    let (say, heard) = mpsc::channel();
    clerk.sendc_add(move |sum: Result<i32, _>| say.send(sum).unwrap(), 1, 1);
    let polled = clerk.sendp_add(1, 1);
    let awaited = smol::block_on(clerk.add_async(1, 1)).unwrap_err();
    assert!(began.elapsed() >= limit);
    assert_eq!(awaited.kind(), Kind::Timeout, "{awaited}");
    assert_eq!(polled.wait().unwrap_err().kind(), Kind::Timeout);
    assert_eq!(heard.recv().unwrap().unwrap_err().kind(), Kind::Timeout);
    client.shutdown(true).unwrap();
    server.join().unwrap();
}

/// Deadlines at varying offsets from the ticks of the coarse clock; each call must end with
/// TIMEOUT.
#[test]
fn who_waits_in_vain_is_told_wherever_in_a_tick_the_time_ends() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = serve(&client, |mut peer| while peer.next().is_some() {});
    for round in 0..100_u64 {
        let limit = Duration::from_micros(1_000 + round * 7_919 % 20_000);
        let clerk = super::Clerk::from_object(clerk.as_object().with_timeout(limit));
        let (say, heard) = mpsc::channel();
        let (say_too, heard_too) = mpsc::channel();
        clerk.sendc_add(move |sum: Result<i32, _>| say.send(sum).unwrap(), 1, 1);
        let later = Instant::now() + Duration::from_micros(round * 104_729 % 3_000);
        while Instant::now() < later {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        clerk.sendc_add(move |sum: Result<i32, _>| say_too.send(sum).unwrap(), 1, 1);
        let awaited = smol::block_on(clerk.add_async(1, 1)).unwrap_err();
        assert_eq!(awaited.kind(), Kind::Timeout, "{awaited}");
        let too = heard_too.recv().unwrap().unwrap_err();
        assert_eq!(too.kind(), Kind::Timeout, "{too}");
        assert_eq!(heard.recv().unwrap().unwrap_err().kind(), Kind::Timeout);
    }
    client.shutdown(true).unwrap();
    server.join().unwrap();
}

#[test]
fn handlers_of_an_orb_that_ends_are_called() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = serve(&client, |mut peer| while peer.next().is_some() {});
    let (say, heard) = mpsc::channel();
    for _ in 0..100 {
        let say = say.clone();
        clerk.sendc_add(move |sum: Result<i32, _>| say.send(sum).unwrap(), 1, 1);
    }
    drop(say);
    client.shutdown(false).unwrap();
    let heard: Vec<_> = heard.iter().collect();
    assert_eq!(heard.len(), 100);
    for one in heard {
        assert_eq!(one.unwrap_err().kind(), Kind::CommFailure);
    }
    server.join().unwrap();
}
