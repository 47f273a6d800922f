//! The states of a manager (CORBA 3.3 part 1, §15.3.2.2).

use punctual_orb::{DispatchError, SystemException, SystemExceptionKind};

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

impl From<AdapterInactive> for SystemException {
    fn from(error: AdapterInactive) -> Self {
        SystemExceptionKind::BadInvOrder.because(error.to_string())
    }
}

impl From<AdapterInactive> for DispatchError {
    fn from(error: AdapterInactive) -> Self {
        Self::System(error.into())
    }
}
