//! Polling model (CORBA 3.3 part 2, §22.13).

use super::generated::asynchronous::{Clerk, ClerkCopiesError};
use super::support::watchdog;
use super::{Pair, collocated};
use punctual::policy::Collocation;
use punctual::{ListenEndpoint, SystemExceptionKind as Kind};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

/// Calls every operation with a poller, and checks that values of every type are passed and
/// returned unchanged.
fn all_come_back(clerk: &Clerk) {
    let sums: Vec<_> = (0..100).map(|a| clerk.sendp_add(a, 1)).collect();
    for (a, sum) in (0..100).zip(sums).rev() {
        assert_eq!(sum.wait().unwrap(), a + 1);
    }
    let copies = clerk.sendp_copies("ab", &3);
    let refused = clerk.sendp_copies("ab", &0);
    assert_eq!(copies.wait().unwrap(), ("ababab".to_owned(), 0, true));
    match refused.wait() {
        Err(ClerkCopiesError::Refused(refused)) => assert_eq!(refused.why, "no copies of ab"),
        other => panic!("{other:?}"),
    }
    let large = vec![7; 300_000];
    assert_eq!(clerk.sendp_back(&large).wait().unwrap(), large);
    assert_eq!(clerk.sendp_self_or_nil(None).wait().unwrap(), None);
    let other = clerk.sendp_self_or_nil(Some(clerk)).wait().unwrap();
    assert_eq!(other.as_ref(), Some(clerk));
    clerk.sendp_set_rate(5).wait().unwrap();
    assert_eq!(clerk.sendp_get_rate().wait().unwrap(), 5);
    let stumbled = clerk.sendp_stumble().wait().unwrap_err();
    assert_eq!(stumbled.kind(), Kind::Unknown);
}

#[test]
fn what_a_call_brings_a_poller_brings_over_each_link() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let folder = tempfile_in_tmp();
    for endpoint in [
        ListenEndpoint::iiop("127.0.0.1", 0),
        format!("uiop://{folder}/clerk").parse().unwrap(),
        format!("shmiop://{folder}/clerk-shm").parse().unwrap(),
    ] {
        let pair = Pair::at(endpoint);
        all_come_back(&pair.clerk);
        pair.end();
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfile_in_tmp() -> String {
    let folder = std::env::temp_dir().join(format!("punctual-polling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn calls_within_the_process_are_made_at_once() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for way in [Collocation::ThruPoa, Collocation::Direct, Collocation::None] {
        let (orb, clerk) = collocated(way);
        all_come_back(&clerk);
        if way != Collocation::None {
            assert!(clerk.sendp_add(1, 2).is_ready(Duration::ZERO));
        }
        orb.shutdown(true).unwrap();
    }
}

#[test]
fn a_poller_is_ready_when_its_reply_has_come_and_not_before() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let mut waits = pair.clerk.sendp_wait_at("north");
    assert!(!waits.is_ready(Duration::ZERO));
    assert!(!waits.is_ready(Duration::from_millis(10)));
    // Other calls are served meanwhile, by synchronous calls and by pollers.
    assert_eq!(pair.clerk.add(2, 3).unwrap(), 5);
    let waits = waits.wait_for(Duration::from_millis(1)).unwrap_err();
    pair.clerk.sendp_open("north").wait().unwrap();
    assert_eq!(waits.wait_for(LONG).unwrap().unwrap(), 5);
    pair.end();
}

#[test]
fn threads_that_wait_for_pollers_of_one_connection_read_for_one_another() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let clerk = &pair.clerk;
            scope.spawn(move || {
                for round in 0..50 {
                    let both = [clerk.sendp_add(thread, round), clerk.sendp_add(round, 1)];
                    let direct = clerk.add(thread, 1).unwrap();
                    let [first, second] = both.map(|poller| poller.wait().unwrap());
                    assert_eq!(
                        (first, second, direct),
                        (thread + round, round + 1, thread + 1)
                    );
                }
            });
        }
    });
    pair.end();
}
