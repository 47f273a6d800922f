//! The POA manager: whether requests are served, held, or turned away (CORBA 3.3 part 1, §15.3.2).

use punctual_orb::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Requests that may be held back at once; each holds its connection's thread.
const MAX_HELD: usize = 1024;

/// What happens to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerState {
    /// They wait. The state that a POA begins in.
    Holding,
    /// They are served.
    Active,
    /// They are turned away with TRANSIENT.
    Discarding,
    /// They are turned away for good, with OBJ_ADAPTER.
    Inactive,
}

/// The manager has been deactivated, which is for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdapterInactive;

impl std::fmt::Display for AdapterInactive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the POA manager is inactive, which is for good")
    }
}

impl std::error::Error for AdapterInactive {}

/// Decides for its POAs whether requests are served.
#[derive(Clone, Debug)]
pub struct PoaManager {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The state again, for a glance without the lock.
    glance: AtomicU8,
    held: AtomicUsize,
    state: Mutex<ManagerState>,
    changed: Condvar,
}

impl PoaManager {
    pub(crate) fn new() -> Self {
        let shared = Shared {
            glance: AtomicU8::new(ManagerState::Holding as u8),
            held: AtomicUsize::new(0),
            state: Mutex::new(ManagerState::Holding),
            changed: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The present state.
    #[must_use]
    pub fn state(&self) -> ManagerState {
        *self.lock()
    }

    /// Serves requests, those held back first.
    ///
    /// # Errors
    /// [`AdapterInactive`] after [`PoaManager::deactivate`].
    pub fn activate(&self) -> Result<(), AdapterInactive> {
        self.change(ManagerState::Active)
    }

    /// Lets requests wait. Those in progress go on.
    ///
    /// # Errors
    /// [`AdapterInactive`] after [`PoaManager::deactivate`].
    pub fn hold_requests(&self) -> Result<(), AdapterInactive> {
        self.change(ManagerState::Holding)
    }

    /// Turns requests away with TRANSIENT, those held back too. Those in progress go on.
    ///
    /// # Errors
    /// [`AdapterInactive`] after [`PoaManager::deactivate`].
    pub fn discard_requests(&self) -> Result<(), AdapterInactive> {
        self.change(ManagerState::Discarding)
    }

    /// Turns requests away for good. Those in progress go on.
    pub fn deactivate(&self) {
        self.set(&mut self.lock(), ManagerState::Inactive);
    }

    /// Lets a request in, waits with it while requests are held, or says why it is turned away.
    pub(crate) fn admit(&self) -> Result<(), SystemException> {
        // Acquire pairs with the Release in `set`.
        if self.shared.glance.load(Ordering::Acquire) == ManagerState::Active as u8 {
            return Ok(());
        }
        self.admit_slowly()
    }

    #[cold]
    fn admit_slowly(&self) -> Result<(), SystemException> {
        let mut state = self.lock();
        if *state == ManagerState::Holding {
            if self.shared.held.fetch_add(1, Ordering::Relaxed) >= MAX_HELD {
                self.shared.held.fetch_sub(1, Ordering::Relaxed);
                return Err(turned_away(&format!(
                    "{MAX_HELD} requests are held back already"
                )));
            }
            while *state == ManagerState::Holding {
                state = self
                    .shared
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            self.shared.held.fetch_sub(1, Ordering::Relaxed);
        }
        match *state {
            ManagerState::Holding | ManagerState::Active => Ok(()),
            ManagerState::Discarding => Err(turned_away("the POA discards requests")),
            ManagerState::Inactive => Err(inactive()),
        }
    }

    fn change(&self, to: ManagerState) -> Result<(), AdapterInactive> {
        let mut state = self.lock();
        if *state == ManagerState::Inactive {
            return Err(AdapterInactive);
        }
        self.set(&mut state, to);
        Ok(())
    }

    /// Under the lock, so that the glance never says what was overtaken.
    fn set(&self, state: &mut ManagerState, to: ManagerState) {
        *state = to;
        self.shared.glance.store(to as u8, Ordering::Release);
        self.shared.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ManagerState> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A POA that serves no more.
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

    #[test]
    fn it_begins_holding_and_never_leaves_inactive() {
        let manager = PoaManager::new();
        assert_eq!(manager.state(), ManagerState::Holding);
        manager.activate().unwrap();
        manager.hold_requests().unwrap();
        manager.deactivate();
        assert_eq!(manager.activate(), Err(AdapterInactive));
        assert_eq!(manager.state(), ManagerState::Inactive);
    }

    #[test]
    fn each_state_admits_or_turns_away_in_its_own_way() {
        let manager = PoaManager::new();
        manager.activate().unwrap();
        assert!(manager.admit().is_ok());
        manager.discard_requests().unwrap();
        assert_eq!(manager.admit().unwrap_err().kind(), Kind::Transient);
        manager.deactivate();
        assert_eq!(manager.admit().unwrap_err().kind(), Kind::ObjAdapter);
    }

    #[test]
    fn a_held_request_goes_on_when_the_manager_is_activated() {
        let manager = PoaManager::new();
        let held = manager.clone();
        let request = std::thread::spawn(move || held.admit());
        while manager.shared.held.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        manager.activate().unwrap();
        assert!(request.join().unwrap().is_ok());
    }
}
