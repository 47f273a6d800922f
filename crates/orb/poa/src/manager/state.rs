//! The states of a manager (CORBA 3.3 part 1, §15.3.2.2).

/// What happens to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerState {
    /// They wait. The state that a manager begins in.
    Holding,
    /// They are served.
    Active,
    /// They are turned away with TRANSIENT.
    Discarding,
    /// They are turned away for good, with OBJ_ADAPTER.
    Inactive,
}

/// The manager has been deactivated, which is for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the POA manager is inactive, which is for good")]
pub struct AdapterInactive;

raised_as_bad_inv_order!(AdapterInactive);
