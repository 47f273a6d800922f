//! Admission of a manager's requests, by its state (CORBA 3.3 part 1, §15.3.2.2).
//!
//! A request that is to be served *first* counts itself in, at its object or at its adapter, and
//! *then* checks that the manager is active; a thread that changes the state first stores it and
//! then reads the counts. Both are sequentially consistent, so that one of the two sees the other:
//! no request passes without being waited for.

use super::state::{AdapterInactive, ManagerState};
use parking_lot::{Condvar, Mutex, MutexGuard};
use punctual_orb::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, minor, serves_alone,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Upper bound of the requests that are held at once; each occupies its connection's thread. A
/// reactive endpoint's single thread holds none.
const MAX_HELD: usize = 1024;

/// State of a manager, by which it decides whether requests are served.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Set while the state is active, for a check without the lock.
    active: AtomicBool,
    /// Set if the state was ever active. Relaxed: only log messages depend on it.
    was_active: AtomicBool,
    held: AtomicUsize,
    state: Mutex<ManagerState>,
    changed: Condvar,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            active: AtomicBool::new(false),
            was_active: AtomicBool::new(false),
            held: AtomicUsize::new(0),
            state: Mutex::new(ManagerState::Holding),
            changed: Condvar::new(),
        }
    }
}

impl Admission {
    /// Returns whether the manager is active. A caller that serves a request must have counted it
    /// in before.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst)
    }

    /// Returns whether the manager has been active at any time.
    pub(crate) fn was_active(&self) -> bool {
        self.was_active.load(Ordering::Relaxed)
    }

    pub(crate) fn state(&self) -> ManagerState {
        *self.state.lock()
    }

    pub(crate) fn change(&self, to: ManagerState) -> Result<(), AdapterInactive> {
        let mut state = self.state.lock();
        if *state == ManagerState::Inactive {
            return Err(AdapterInactive);
        }
        self.set(&mut state, to);
        Ok(())
    }

    /// Makes the manager inactive, permanently; returns `false` if it was inactive before.
    pub(crate) fn deactivate(&self) -> bool {
        let mut state = self.state.lock();
        let was_inactive = *state == ManagerState::Inactive;
        self.set(&mut state, ManagerState::Inactive);
        !was_inactive
    }

    /// Waits with a request, which must not be counted in, while the manager holds requests;
    /// returns an error if the request is refused. The state may have changed again by the time
    /// that the request has counted itself in.
    #[cold]
    pub(crate) fn admit(&self) -> Result<(), SystemException> {
        let mut state = self.state.lock();
        if *state == ManagerState::Holding {
            self.hold(&mut state)?;
        }
        match *state {
            ManagerState::Holding | ManagerState::Active => Ok(()),
            ManagerState::Discarding => Err(turned_away("the POA discards requests")),
            ManagerState::Inactive => Err(inactive()),
        }
    }

    fn hold(&self, state: &mut MutexGuard<'_, ManagerState>) -> Result<(), SystemException> {
        if serves_alone() {
            return Err(turned_away(
                "the POA holds requests, and a reactive endpoint has no thread to wait with this one",
            ));
        }
        if self.held.fetch_add(1, Ordering::Relaxed) >= MAX_HELD {
            self.held.fetch_sub(1, Ordering::Relaxed);
            let why = format!("{MAX_HELD} requests are held back already");
            return Err(turned_away(&why));
        }
        while **state == ManagerState::Holding {
            self.changed.wait(state);
        }
        self.held.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Sets the state, and the flag with it. The caller holds the lock.
    fn set(&self, state: &mut ManagerState, to: ManagerState) {
        *state = to;
        if to == ManagerState::Active {
            self.was_active.store(true, Ordering::Relaxed);
        }
        self.active
            .store(to == ManagerState::Active, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

/// Returns the error for a request to an adapter whose manager is inactive.
pub(crate) fn inactive() -> SystemException {
    SystemException::new(Kind::ObjAdapter, minor::omg(1), CompletionStatus::No)
        .with_detail("the POA is inactive")
}

fn turned_away(why: &str) -> SystemException {
    SystemException::new(Kind::Transient, minor::DISCARDED, CompletionStatus::No).with_detail(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn it_begins_holding_and_never_leaves_inactive() {
        let admission = Admission::default();
        assert_eq!(admission.state(), ManagerState::Holding);
        assert!(!admission.is_active());
        admission.change(ManagerState::Active).unwrap();
        assert!(admission.is_active());
        admission.change(ManagerState::Holding).unwrap();
        assert!(admission.deactivate());
        assert!(!admission.deactivate());
        assert_eq!(admission.change(ManagerState::Active), Err(AdapterInactive));
        assert_eq!(admission.state(), ManagerState::Inactive);
    }

    #[test]
    fn each_state_admits_or_turns_away_in_its_own_way() {
        let admission = Admission::default();
        admission.change(ManagerState::Active).unwrap();
        assert!(admission.admit().is_ok());
        admission.change(ManagerState::Discarding).unwrap();
        assert_eq!(admission.admit().unwrap_err().kind(), Kind::Transient);
        admission.deactivate();
        assert_eq!(admission.admit().unwrap_err().kind(), Kind::ObjAdapter);
    }

    #[test]
    fn a_held_request_goes_on_when_the_manager_is_activated_and_is_told_when_it_is_deactivated() {
        for (to, admitted) in [
            (ManagerState::Active, true),
            (ManagerState::Inactive, false),
        ] {
            let admission = Arc::new(Admission::default());
            let held = admission.clone();
            let request = std::thread::spawn(move || held.admit());
            while admission.held.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            admission.change(to).unwrap();
            assert_eq!(request.join().unwrap().is_ok(), admitted);
        }
    }

    #[test]
    fn no_more_are_held_than_there_is_room_for() {
        let admission = Admission::default();
        admission.held.store(MAX_HELD, Ordering::Relaxed);
        let refused = admission.admit().unwrap_err();
        assert_eq!(refused.kind(), Kind::Transient);
        assert!(refused.to_string().contains("1024 requests"), "{refused}");
        assert_eq!(admission.held.load(Ordering::Relaxed), MAX_HELD);
    }
}
