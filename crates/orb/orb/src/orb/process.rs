//! List of the ORBs of this process that listen.
//!
//! References locate their objects only by an address and a key: to find the ORB of the process
//! that this means, all of them have to be asked. That is why this one list belongs to the process,
//! not to an ORB.

use super::handle::{Orb, WeakOrb};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LISTENING: Mutex<Vec<WeakOrb>> = Mutex::new(Vec::new());

/// Adds an ORB that begins to listen.
pub(super) fn join(orb: &Orb) {
    let mut listening = lock();
    let is_other = |one: &WeakOrb| one.upgrade().is_some_and(|one| !one.is_same(orb));
    listening.retain(is_other);
    listening.push(orb.downgrade());
}

/// Returns the present ORBs, in the order in which they began to listen.
pub(crate) fn listening() -> Vec<Orb> {
    lock().iter().filter_map(WeakOrb::upgrade).collect()
}

fn lock() -> MutexGuard<'static, Vec<WeakOrb>> {
    LISTENING.lock().unwrap_or_else(PoisonError::into_inner)
}
