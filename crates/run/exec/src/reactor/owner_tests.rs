//! Tests of the owner's word, step by step. In a file of its own, as `tests/models` includes
//! `owner.rs` alone.

use super::owner::{Owner, Readiness, Retired};

const BOTH: Readiness = Readiness::READ.and(Readiness::WRITE);

#[test]
fn one_owns_and_is_told_of_what_happens_meanwhile() {
    let owner = Owner::new();
    assert_eq!(owner.offer(0, Readiness::READ), Some(Readiness::READ));
    assert_eq!(owner.offer(0, Readiness::WRITE), None);
    assert!(!owner.post(0, Readiness::READ));
    assert_eq!(owner.release(0), Some(BOTH));
    assert_eq!(owner.release(0), None);
    assert_eq!(owner.offer(0, Readiness::END), Some(Readiness::END));
}

#[test]
fn what_is_posted_is_queued_once_and_goes_with_whoever_comes_first() {
    let owner = Owner::new();
    assert!(owner.post(0, Readiness::NUDGE));
    assert!(!owner.post(0, Readiness::DEADLINE));
    let all = Readiness::NUDGE
        .and(Readiness::DEADLINE)
        .and(Readiness::READ);
    assert_eq!(owner.offer(0, Readiness::READ), Some(all));
    assert_eq!(owner.unqueue(0), None);
    assert_eq!(owner.release(0), None);
    assert!(owner.post(0, Readiness::NUDGE));
    assert_eq!(owner.unqueue(0), Some(Readiness::NUDGE));
}

#[test]
fn what_is_handed_over_with_something_left_is_queued() {
    let owner = Owner::new();
    assert!(owner.offer(0, Readiness::READ).is_some());
    assert_eq!(owner.hand_over(0, Readiness::NONE), Ok(false));
    assert!(owner.offer(0, Readiness::READ).is_some());
    assert!(owner.offer(0, Readiness::WRITE).is_none());
    assert_eq!(owner.hand_over(0, Readiness::READ), Ok(true));
    assert_eq!(owner.unqueue(0), Some(BOTH));
    assert_eq!(owner.retire(0), Retired::Later);
    assert!(owner.hand_over(0, Readiness::NONE).is_err());
}

#[test]
fn what_was_said_of_one_that_is_gone_goes_to_nobody() {
    let owner = Owner::new();
    assert!(owner.offer(0, Readiness::READ).is_some());
    assert_eq!(owner.retire(0), Retired::Later);
    assert_eq!(owner.retire(0), Retired::Stale);
    assert_eq!(owner.release(0), Some(Readiness::RETIRED));
    assert_eq!(owner.vacate(0), 1);
    assert_eq!(owner.offer(0, Readiness::READ), None);
    assert!(!owner.post(0, Readiness::READ));
    assert_eq!(owner.retire(0), Retired::Stale);
    assert_eq!(owner.retire(1), Retired::Mine);
    assert_eq!(owner.generation(), 1);
}
