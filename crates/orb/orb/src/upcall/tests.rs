//! Tests of the call context with nested upcalls.

use super::frame::RequestSource;
use super::peer::RequestPeer;
use super::stack::{
    OnObject, Serving, WithinProcess, about_to_block, in_upcall, in_upcall_of, is_wanted_elsewhere,
    noted_object, noted_objects, request_peer, serves_alone,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Request source that counts how often its connection is handed over.
#[derive(Default)]
struct Source(AtomicU64);

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
        }
    }
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
