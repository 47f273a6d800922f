//! What a manager's requests pass.
//!
//! A request that is to be served *first* counts itself in, at the object that it is for or at its adapter,
//! and *then* looks whether the door is open; whoever closes it first says so and then looks who is in.
//! Both are sequentially consistent, so that one of the two sees the other: nobody waits for requests that
//! have passed unseen, and none passes that is not waited for.

use super::{AdapterInactive, ManagerState};
use parking_lot::{Condvar, Mutex, MutexGuard};
use punctual_orb::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, minor, serves_alone,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Requests that may be held back at once; each holds its connection's thread. The one thread of reactive
/// endpoints holds none.
const MAX_HELD: usize = 1024;

/// Open, or why not.
#[derive(Debug)]
pub(crate) struct Door {
    /// Whether the state is active, for a glance without the lock.
    open: AtomicBool,
    held: AtomicUsize,
    state: Mutex<ManagerState>,
    changed: Condvar,
}

impl Default for Door {
    fn default() -> Self {
        Self {
            open: AtomicBool::new(false),
            held: AtomicUsize::new(0),
            state: Mutex::new(ManagerState::Holding),
            changed: Condvar::new(),
        }
    }
}

impl Door {
    /// To be asked by who has counted itself in.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst)
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

    /// Closes it for good; `false` if it was.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.state.lock();
        let was_closed = *state == ManagerState::Inactive;
        self.set(&mut state, ManagerState::Inactive);
        !was_closed
    }

    /// Waits with a request, which must not be counted in, while requests are held; or says why it is
    /// turned away. The door may be closed again by the time that the request has counted itself in.
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

    /// Under the lock, so that the glance never says what was overtaken.
    fn set(&self, state: &mut ManagerState, to: ManagerState) {
        *state = to;
        self.open
            .store(to == ManagerState::Active, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

/// An adapter that serves no more.
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
        let door = Door::default();
        assert_eq!(door.state(), ManagerState::Holding);
        assert!(!door.is_open());
        door.change(ManagerState::Active).unwrap();
        assert!(door.is_open());
        door.change(ManagerState::Holding).unwrap();
        assert!(door.close());
        assert!(!door.close());
        assert_eq!(door.change(ManagerState::Active), Err(AdapterInactive));
        assert_eq!(door.state(), ManagerState::Inactive);
    }

    #[test]
    fn each_state_admits_or_turns_away_in_its_own_way() {
        let door = Door::default();
        door.change(ManagerState::Active).unwrap();
        assert!(door.admit().is_ok());
        door.change(ManagerState::Discarding).unwrap();
        assert_eq!(door.admit().unwrap_err().kind(), Kind::Transient);
        door.close();
        assert_eq!(door.admit().unwrap_err().kind(), Kind::ObjAdapter);
    }

    #[test]
    fn a_held_request_goes_on_when_the_door_opens_and_is_told_when_it_closes() {
        for (to, admitted) in [
            (ManagerState::Active, true),
            (ManagerState::Inactive, false),
        ] {
            let door = Arc::new(Door::default());
            let held = door.clone();
            let request = std::thread::spawn(move || held.admit());
            while door.held.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            door.change(to).unwrap();
            assert_eq!(request.join().unwrap().is_ok(), admitted);
        }
    }

    #[test]
    fn no_more_are_held_than_there_is_room_for() {
        let door = Door::default();
        door.held.store(MAX_HELD, Ordering::Relaxed);
        let refused = door.admit().unwrap_err();
        assert_eq!(refused.kind(), Kind::Transient);
        assert!(refused.to_string().contains("1024 requests"), "{refused}");
        assert_eq!(door.held.load(Ordering::Relaxed), MAX_HELD);
    }
}
