//! The factory of POA managers (CORBA 3.3 part 1, §15.3.2.1): managers by their ids.

use super::PoaManager;
use crate::key::Nonce;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// There is a manager of that id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is a POA manager `{id}` already")]
pub struct ManagerExists {
    /// The id.
    pub id: String,
}

/// Makes POA managers, and finds those that adapters have or somebody holds. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PoaManagerFactory {
    nonce: Nonce,
    managers: Arc<Mutex<Vec<Weak<super::Shared>>>>,
}

impl PoaManagerFactory {
    pub(crate) fn new(nonce: Nonce) -> Self {
        Self {
            nonce,
            managers: Arc::default(),
        }
    }

    /// A manager, in the holding state. There are no policies for managers in the standard, nor here.
    ///
    /// # Errors
    /// [`ManagerExists`].
    pub fn create_poa_manager(&self, id: &str) -> Result<PoaManager, ManagerExists> {
        let mut managers = self.managers.lock();
        managers.retain(|one| one.strong_count() > 0);
        let mut known = managers.iter().filter_map(Weak::upgrade);
        if known.any(|one| one.id == id) {
            return Err(ManagerExists { id: id.to_owned() });
        }
        let manager = PoaManager::new(id, self.nonce);
        managers.push(Arc::downgrade(&manager.shared));
        Ok(manager)
    }

    /// A manager for one adapter, with an id that nobody else has.
    pub(crate) fn create_for(&self, adapter: &str) -> PoaManager {
        let mut id = adapter.to_owned();
        for number in 2_u64.. {
            match self.create_poa_manager(&id) {
                Ok(manager) => return manager,
                Err(_) => id = format!("{adapter} {number}"),
            }
        }
        PoaManager::new(&id, self.nonce)
    }

    /// All managers that there are.
    #[must_use]
    pub fn list(&self) -> Vec<PoaManager> {
        let managers = self.managers.lock();
        let live = managers.iter().filter_map(Weak::upgrade);
        live.map(|shared| PoaManager { shared }).collect()
    }

    /// The manager of that id, if there is one.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<PoaManager> {
        self.list().into_iter().find(|manager| manager.id() == id)
    }
}
