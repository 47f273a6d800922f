//! States of a manager (CORBA 3.3 part 1, §15.3.2.2).

/// State of a POA manager, which determines the treatment of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerState {
    /// Requests are held back until the state changes. This is the initial state.
    Holding,
    /// Requests are served by the adapters of the manager.
    Active,
    /// Requests are refused with TRANSIENT.
    Discarding,
    /// Requests are refused permanently, with OBJ_ADAPTER.
    Inactive,
}

/// Error of a manager that has been deactivated, and cannot be activated again.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the POA manager has been deactivated and cannot be activated again")]
pub struct AdapterInactive;

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for AdapterInactive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

raised_as_bad_inv_order!(AdapterInactive);
