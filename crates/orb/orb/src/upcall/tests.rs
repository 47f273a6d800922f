//! Tests of the call context with nested upcalls.

use super::frame::RequestSource;
use super::peer::RequestPeer;
use super::stack::{
    OnObject, Serving, WithinProcess, about_to_block, charge_results, in_upcall, in_upcall_of,
    is_wanted_elsewhere, noted_object, noted_objects, request_peer, serves_alone,
};
use crate::budget::{Hold, Received};
use crate::exception::SystemExceptionKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Memory budget for results in these tests, in bytes.
const ROOM: usize = 100_000;

/// Request source that counts how often it is handed over.
struct Source(AtomicU64, Arc<Received>);

impl Default for Source {
    fn default() -> Self {
        Self(AtomicU64::default(), Arc::new(Received::new(ROOM)))
    }
}

impl RequestSource for Source {
    fn hand_over(self: Arc<Self>, _: u64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn has_received_more(&self) -> bool {
        true
    }

    fn longest_block(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }

    fn is_served_alone(&self) -> bool {
        true
    }

    fn peer(&self) -> RequestPeer {
        RequestPeer {
            address: punctual_link::Address::iiop("127.0.0.1", 1),
            certificates: vec![vec![0x30]],
            is_owner: false,
        }
    }

    fn charge_results(&self) -> Hold {
        self.1.charge_results(&"peer".into())
    }
}

#[test]
fn results_count_until_the_upcall_that_makes_them_ends_however_deep_objects_nest_in_it() {
    let source = Arc::new(Source::default());
    charge_results(ROOM).unwrap();
    let serving = Serving::enter(7, source.clone());
    {
        let _upcall = serving.upcall(None);
        charge_results(16_000).unwrap();
        assert_eq!(source.1.total(), 0);
        {
            let _outer = OnObject::enter([1, 2, 3, 4]);
            let _inner = OnObject::enter([5, 6, 7, 8]);
            let _nested = WithinProcess::enter(7);
            charge_results(20_000).unwrap();
        }
        assert_eq!(source.1.total(), 20_000);
        let inner = Arc::new(Source::default());
        let nested = Serving::enter(7, inner.clone());
        {
            let _upcall = nested.upcall(None);
            charge_results(30_000).unwrap();
        }
        assert_eq!((inner.1.total(), source.1.total()), (0, 20_000));
        drop(nested);
        charge_results(70_000).unwrap();
        assert_eq!(source.1.total(), 70_000);
        // One peer has three quarters at most.
        let refused = charge_results(80_000).unwrap_err();
        assert_eq!(refused.kind(), SystemExceptionKind::NoResources);
    }
    assert!(source.1.is_empty());
    {
        let _upcall = serving.upcall(None);
        assert_eq!(source.1.total(), 0);
    }
    // Work on the main thread is an upcall by itself.
    let elsewhere = Serving::for_another(7, source.clone());
    charge_results(20_000).unwrap();
    drop(elsewhere);
    assert!(source.1.is_empty());
}

#[test]
fn a_connection_is_handed_over_once_an_upcall_however_deep_objects_nest_in_it() {
    let source = Arc::new(Source::default());
    let serving = Serving::enter(7, source.clone());
    assert_eq!((about_to_block(), in_upcall_of(7)), (None, false));
    for expected in 1..3 {
        let _upcall = serving.upcall(None);
        let _outer = OnObject::enter([1, 2, 3, 4]);
        {
            let _inner = OnObject::enter([5, 6, 7, 8]);
            assert_eq!(noted_objects(), [[5, 6, 7, 8], [1, 2, 3, 4]]);
            assert!(is_wanted_elsewhere() && serves_alone() && in_upcall_of(7));
            assert_eq!(about_to_block(), Some(Duration::from_secs(1)));
        }
        assert_eq!(request_peer().unwrap().certificates, [[0x30]]);
        about_to_block();
        assert!(!is_wanted_elsewhere());
        assert_eq!(source.0.load(Ordering::Relaxed), expected);
        assert_eq!(noted_object(), Some([1, 2, 3, 4]));
    }
    assert_eq!((noted_object(), in_upcall()), (None, false));
    assert_eq!(request_peer(), None);
}

#[test]
fn upcalls_within_the_process_see_the_request_around_them() {
    let source = Arc::new(Source::default());
    let serving = Serving::enter(7, source.clone());
    let upcall = serving.upcall(None);
    {
        let _outer = OnObject::enter([1, 2, 3, 4]);
        let _within: Vec<WithinProcess> = (0..40).map(|_| WithinProcess::enter(9)).collect();
        assert!(in_upcall_of(7) && in_upcall_of(9) && serves_alone());
        assert_eq!(noted_objects(), [[1, 2, 3, 4]]);
        assert_eq!(about_to_block(), Some(Duration::from_secs(1)));
    }
    about_to_block();
    assert_eq!(source.0.load(Ordering::Relaxed), 1);
    assert!(!in_upcall_of(9));
    drop(upcall);
    assert!(!in_upcall_of(7));
}
