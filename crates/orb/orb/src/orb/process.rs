//! The ORBs of this process that listen.
//!
//! References say only by an address and a key where their objects are: which ORB of the process that means
//! has to be found by asking all of them. That is why this one list is the process's, and no ORB's.

use super::handle::{Orb, WeakOrb};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LISTENING: Mutex<Vec<WeakOrb>> = Mutex::new(Vec::new());

/// An ORB begins to listen.
pub(super) fn join(orb: &Orb) {
    let mut listening = lock();
    let is_other = |one: &WeakOrb| one.upgrade().is_some_and(|one| !one.is_same(orb));
    listening.retain(is_other);
    listening.push(orb.downgrade());
}

/// Those there are now, in the order in which they began.
pub(crate) fn listening() -> Vec<Orb> {
    lock().iter().filter_map(WeakOrb::upgrade).collect()
}

fn lock() -> MutexGuard<'static, Vec<WeakOrb>> {
    LISTENING.lock().unwrap_or_else(PoisonError::into_inner)
}
