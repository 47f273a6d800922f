//! POA managers, which decide whether requests are served, held, or refused (CORBA 3.3 part 1,
//! §15.3.2).

mod admission;
mod factory;
mod poa_manager;
mod state;

pub(crate) use admission::inactive;
pub use factory::{ManagerExists, PoaManagerFactory};
pub(crate) use poa_manager::{Managed, would_wait_for_itself};
pub use poa_manager::{ManagerError, PoaManager};
pub use state::{AdapterInactive, ManagerState};
