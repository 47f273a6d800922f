//! Factory of POA managers (CORBA 3.3 part 1, §15.3.2.1): managers by their ids.

use super::poa_manager::{PoaManager, Shared};
use crate::key::Nonce;
use parking_lot::Mutex;
use punctual_orb::WeakOrb;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

/// Error of making a manager with an id that is already in use.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("a POA manager `{id}` exists already")]
pub struct ManagerExists {
    /// Id of the manager that is already in use.
    pub id: String,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for ManagerExists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Factory of POA managers. It also finds the managers that are in use by adapters or held by the
/// application. Cheap to clone.
#[derive(Clone)]
pub struct PoaManagerFactory {
    orb: WeakOrb,
    nonce: Nonce,
    known: Arc<Mutex<ManagerTable>>,
}

#[derive(Default)]
struct ManagerTable {
    managers: HashMap<String, Weak<Shared>>,
    /// Number of entries after dropped managers were last removed.
    tidied: usize,
    /// Last number that was appended to a name in use, to make an id.
    next: u64,
}

impl PoaManagerFactory {
    pub(crate) fn new(orb: WeakOrb, nonce: Nonce) -> Self {
        Self {
            orb,
            nonce,
            known: Arc::default(),
        }
    }

    /// Makes a manager, in the holding state. There are no policies for managers in the standard,
    /// nor here.
    ///
    /// # Errors
    /// [`ManagerExists`].
    pub fn create_poa_manager(&self, id: &str) -> Result<PoaManager, ManagerExists> {
        let made = self.make(&mut self.known.lock(), id);
        made.ok_or_else(|| ManagerExists { id: id.to_owned() })
    }

    /// Makes a manager for one adapter. Its id is the adapter's name, with a number appended if
    /// that is in use.
    pub(crate) fn create_for(&self, adapter: &str) -> PoaManager {
        let mut known = self.known.lock();
        let mut id = adapter.to_owned();
        loop {
            if let Some(manager) = self.make(&mut known, &id) {
                return manager;
            }
            known.next += 1;
            id = format!("{adapter} {}", known.next);
        }
    }

    /// Returns all POA managers of the ORB.
    #[must_use]
    pub fn list(&self) -> Vec<PoaManager> {
        let known = self.known.lock();
        let live = known.managers.values().filter_map(Weak::upgrade);
        live.map(|shared| PoaManager { shared }).collect()
    }

    /// Returns the manager with this id, if there is one.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<PoaManager> {
        let shared = self.known.lock().managers.get(id)?.upgrade()?;
        Some(PoaManager { shared })
    }

    /// Makes a manager with this id; returns `None` if the id is in use.
    fn make(&self, known: &mut ManagerTable, id: &str) -> Option<PoaManager> {
        let taken = known.managers.get(id);
        if taken.is_some_and(|one| one.strong_count() > 0) {
            return None;
        }
        // Dropped managers are removed now and then, so that the cost per manager is constant.
        if known.managers.len() >= 2 * known.tidied.max(8) {
            known.managers.retain(|_, one| one.strong_count() > 0);
            known.tidied = known.managers.len();
        }
        let manager = PoaManager::new(id, self.orb.clone(), self.nonce);
        let weak = Arc::downgrade(&manager.shared);
        known.managers.insert(id.to_owned(), weak);
        Some(manager)
    }
}

impl fmt::Debug for PoaManagerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

raised_as_bad_inv_order!(ManagerExists);
