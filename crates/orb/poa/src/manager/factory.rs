//! The factory of POA managers (CORBA 3.3 part 1, §15.3.2.1): managers by their ids.

use super::PoaManager;
use crate::key::Nonce;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

/// There is a manager of that id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is a POA manager `{id}` already")]
pub struct ManagerExists {
    /// The id.
    pub id: String,
}

/// Makes POA managers, and finds those that adapters have or somebody holds. Cheap to clone.
#[derive(Clone)]
pub struct PoaManagerFactory {
    nonce: Nonce,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    managers: HashMap<String, Weak<super::Shared>>,
    /// How many managers there were when those that are gone were last forgotten.
    tidied: usize,
    /// Numbers for ids that are taken.
    next: u64,
}

impl PoaManagerFactory {
    pub(crate) fn new(nonce: Nonce) -> Self {
        Self {
            nonce,
            known: Arc::default(),
        }
    }

    /// A manager, in the holding state. There are no policies for managers in the standard, nor here.
    ///
    /// # Errors
    /// [`ManagerExists`].
    pub fn create_poa_manager(&self, id: &str) -> Result<PoaManager, ManagerExists> {
        let made = self.known.lock().make(id, self.nonce);
        made.ok_or_else(|| ManagerExists { id: id.to_owned() })
    }

    /// A manager for one adapter: of its name, or with a number behind it where that is taken.
    pub(crate) fn create_for(&self, adapter: &str) -> PoaManager {
        let mut known = self.known.lock();
        let mut id = adapter.to_owned();
        loop {
            if let Some(manager) = known.make(&id, self.nonce) {
                return manager;
            }
            known.next += 1;
            id = format!("{adapter} {}", known.next);
        }
    }

    /// All managers that there are.
    #[must_use]
    pub fn list(&self) -> Vec<PoaManager> {
        let known = self.known.lock();
        let live = known.managers.values().filter_map(Weak::upgrade);
        live.map(|shared| PoaManager { shared }).collect()
    }

    /// The manager of that id, if there is one.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<PoaManager> {
        let shared = self.known.lock().managers.get(id)?.upgrade()?;
        Some(PoaManager { shared })
    }
}

impl Known {
    fn make(&mut self, id: &str, nonce: Nonce) -> Option<PoaManager> {
        let taken = self.managers.get(id);
        if taken.is_some_and(|one| one.strong_count() > 0) {
            return None;
        }
        // Now and then, so that each costs little however many there are.
        if self.managers.len() >= 2 * self.tidied.max(8) {
            self.managers.retain(|_, one| one.strong_count() > 0);
            self.tidied = self.managers.len();
        }
        let manager = PoaManager::new(id, nonce);
        let weak = Arc::downgrade(&manager.shared);
        self.managers.insert(id.to_owned(), weak);
        Some(manager)
    }
}

impl fmt::Debug for PoaManagerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}
