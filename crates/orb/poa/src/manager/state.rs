//! States of a manager (CORBA 3.3 part 1, §15.3.2.2).

/// State of a manager: the treatment of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerState {
    /// Requests wait. The initial state.
    Holding,
    /// Requests are served.
    Active,
    /// Requests are refused with TRANSIENT.
    Discarding,
    /// Requests are refused for good, with OBJ_ADAPTER.
    Inactive,
}

/// Error of a manager that has been deactivated, which is for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the POA manager is inactive, which is for good")]
pub struct AdapterInactive;

raised_as_bad_inv_order!(AdapterInactive);
