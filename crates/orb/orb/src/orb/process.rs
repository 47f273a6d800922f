//! List of the ORBs of this process that listen.
//!
//! A reference locates its object only by an address and a key. To find out which ORB of the
//! process it refers to, all of them must be searched; therefore this list is global to the
//! process.

use super::handle::{Orb, WeakOrb};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LISTENING: Mutex<Vec<WeakOrb>> = Mutex::new(Vec::new());

/// Adds an ORB to the process's list of listening ORBs.
pub(super) fn join(orb: &Orb) {
    let mut listening = lock();
    let is_other = |one: &WeakOrb| one.upgrade().is_some_and(|one| !one.is_same(orb));
    listening.retain(is_other);
    listening.push(orb.downgrade());
}

/// Returns the listening ORBs, in the order in which they began to listen.
pub(crate) fn listening() -> Vec<Orb> {
    lock().iter().filter_map(WeakOrb::upgrade).collect()
}

fn lock() -> MutexGuard<'static, Vec<WeakOrb>> {
    LISTENING.lock().unwrap_or_else(PoisonError::into_inner)
}
