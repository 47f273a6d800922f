//! Mutexes with a priority ceiling.

use crate::setting::{LIMIT, at, fifo, on_a_thread, ordinary, scheduled};
use crate::support::watchdog;
use punctual::SystemExceptionKind as Kind;
use punctual::rt::{Propagated, RtOrb};
use std::sync::Arc;
use std::time::Duration;

const FIFO: u32 = 1;

/// Returns an RTORB whose CORBA priorities equal the native ones.
fn direct() -> Option<Arc<RtOrb>> {
    fifo(Propagated::default())
}

#[test]
fn whoever_holds_a_mutex_with_a_ceiling_runs_at_that_and_at_its_own_priority_before_and_behind() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = direct() else {
        return;
    };
    let mutex = rt.create_mutex_with_ceiling(at(40)).unwrap();
    assert_eq!(mutex.ceiling(), Some(at(40)));
    on_a_thread(|| {
        rt.current().set_the_priority(at(10)).unwrap();
        for _ in 0..2 {
            let held = mutex.lock().unwrap();
            assert_eq!(scheduled(), (FIFO, 40));
            assert_eq!(
                rt.current().the_priority(),
                Ok(at(10)),
                "its calls carry its own"
            );
            // Locking twice is an error, after which it still holds the mutex.
            assert_eq!(mutex.lock().unwrap_err().kind(), Kind::BadInvOrder);
            assert_eq!(scheduled(), (FIFO, 40));
            drop(held);
            assert_eq!(scheduled(), (FIFO, 10));
        }
        let tried = mutex.try_lock(Duration::ZERO).unwrap().unwrap();
        assert_eq!(scheduled(), (FIFO, 40));
        // Another thread does not get it, and its priority has not been raised in vain.
        on_a_thread(|| {
            rt.current().set_the_priority(at(10)).unwrap();
            assert!(mutex.try_lock(Duration::ZERO).unwrap().is_none());
            assert_eq!(scheduled(), (FIFO, 10));
        });
        drop(tried);
        assert_eq!(scheduled(), (FIFO, 10));
    });
}

#[test]
fn mutexes_with_ceilings_are_unlocked_in_any_order() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = direct() else {
        return;
    };
    let [low, high] = [20, 40].map(|ceiling| rt.create_mutex_with_ceiling(at(ceiling)).unwrap());
    on_a_thread(|| {
        rt.current().set_the_priority(at(10)).unwrap();
        let (first, second) = (low.lock().unwrap(), high.lock().unwrap());
        assert_eq!(scheduled(), (FIFO, 40));
        drop(first);
        assert_eq!(scheduled(), (FIFO, 40));
        drop(second);
        assert_eq!(scheduled(), (FIFO, 10));

        let (first, second) = (high.lock().unwrap(), low.lock().unwrap());
        assert_eq!(scheduled(), (FIFO, 40), "not below a ceiling that it is at");
        drop(second);
        assert_eq!(scheduled(), (FIFO, 40));
        drop(first);
        assert_eq!(scheduled(), (FIFO, 10));
    });
}

#[test]
fn a_thread_above_the_ceiling_is_refused_and_an_inner_mutex_is_judged_by_its_own_priority() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = direct() else {
        return;
    };
    let [low, high] = [20, 40].map(|ceiling| rt.create_mutex_with_ceiling(at(ceiling)).unwrap());
    on_a_thread(|| {
        rt.current().set_the_priority(at(30)).unwrap();
        let refused = low.lock().unwrap_err();
        assert_eq!(refused.kind(), Kind::BadParam);
        assert!(refused.to_string().contains("ceiling, 20"), "{refused}");
        let _held = high.lock().unwrap();
        assert_eq!(low.lock().unwrap_err().kind(), Kind::BadParam);
        assert_eq!(scheduled(), (FIFO, 40));
    });
}

#[test]
fn a_ceiling_without_a_native_priority_is_refused_and_one_that_the_kernel_does_not_hear_of_changes_nothing()
 {
    let _watchdog = watchdog(LIMIT);
    if let Some(rt) = direct() {
        let refused = rt.create_mutex_with_ceiling(at(1_000)).unwrap_err();
        assert_eq!(refused.kind(), Kind::DataConversion);
    }
    let mutex = ordinary(Propagated::default()).create_mutex_with_ceiling(at(1_000));
    let mutex = mutex.unwrap();
    let before = scheduled();
    let held = mutex.lock().unwrap();
    assert_eq!(scheduled(), before);
    on_a_thread(|| assert!(mutex.try_lock(Duration::ZERO).unwrap().is_none()));
    drop(held);
    assert_eq!(scheduled(), before);
}
