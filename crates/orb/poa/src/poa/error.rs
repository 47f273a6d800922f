//! Errors of the operations of an adapter.

use crate::adapter::CreateError;
use crate::{IorTableError, ManagerError};
use punctual_orb::{
    CompletionStatus, DispatchError, SystemException, SystemExceptionKind as Kind, minor,
};
use std::borrow::Cow;
use std::fmt;

/// Error of an operation of an adapter (the user exceptions of `PortableServer::POA`).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoaError {
    /// The reference was not created by this POA.
    #[error("the reference was not made by this POA")]
    WrongAdapter,
    /// The adapter's policies do not allow the operation; the value is the policy that it needs.
    #[error("the POA's policies do not allow it: it needs {0}")]
    WrongPolicy(&'static str),
    /// No object is active under this id.
    #[error("the object is not active")]
    ObjectNotActive,
    /// An object with this id is already active.
    #[error("an object with this id is active already")]
    ObjectAlreadyActive,
    /// The servant is active, and may be active under one id only.
    #[error("the servant is active already (UNIQUE_ID allows one id for each servant)")]
    ServantAlreadyActive,
    /// The servant does not incarnate any active object.
    #[error("the servant is not active")]
    ServantNotActive,
    /// The POA has no default servant.
    #[error("the POA has no default servant")]
    NoServant,
    /// The operation of the POA failed with this system exception.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Formats the error as its `Display` text, so that it is also readable when `main` returns it.
impl fmt::Debug for PoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<PoaError> for SystemException {
    /// Converts to a system exception, for callers that do not distinguish the errors.
    fn from(error: PoaError) -> Self {
        let kind = match &error {
            PoaError::System(exception) => return exception.clone(),
            PoaError::WrongPolicy(_) => Kind::InvPolicy,
            PoaError::WrongAdapter => Kind::BadParam,
            PoaError::ObjectNotActive => Kind::ObjectNotExist,
            PoaError::ObjectAlreadyActive
            | PoaError::ServantAlreadyActive
            | PoaError::ServantNotActive
            | PoaError::NoServant => Kind::BadInvOrder,
        };
        Self::new(kind, minor::VALUE, CompletionStatus::No).with_detail(error.to_string())
    }
}

/// Reason why a child POA could not be created.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreatePoaError {
    /// The POA already has a child with this name.
    #[error("a POA `{0}` exists already")]
    AdapterAlreadyExists(String),
    /// A policy is given twice, or conflicts with the others.
    #[error("the POA `{name}` cannot have its policy number {index}: {why}")]
    InvalidPolicy {
        /// Name of the child that was to be made.
        name: String,
        /// Index of the first wrong policy in the given list, from 0.
        index: u16,
        /// Description of the problem with the policy.
        why: Cow<'static, str>,
    },
    /// System exception: IMP_LIMIT for names that are too long or too many, BAD_PARAM for a name
    /// with a NUL or another ORB's manager, BAD_INV_ORDER for the name of a POA that is still being
    /// destroyed.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Formats the error as its `Display` text, so that it is also readable when `main` returns it.
impl fmt::Debug for CreatePoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl CreatePoaError {
    pub(super) fn new(name: &str, why: CreateError) -> Self {
        let name = name.to_owned();
        match why {
            CreateError::Exists => Self::AdapterAlreadyExists(name),
            CreateError::Conflict(conflict) => Self::InvalidPolicy {
                name,
                index: u16::try_from(conflict.index).unwrap_or(u16::MAX),
                why: conflict.why,
            },
            CreateError::System(exception) => Self::System(exception),
        }
    }
}

/// Reason why a child POA could not be found.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindPoaError {
    /// There is no such child, and no adapter activator made it.
    #[error("the POA `{0}` does not exist")]
    AdapterNonExistent(String),
    /// The search failed with this system exception: OBJ_ADAPTER if the adapter activator failed.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Formats the error as its `Display` text, so that it is also readable when `main` returns it.
impl fmt::Debug for FindPoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Converts errors to system exceptions, for `?` where a servant or a servant manager calls its POA
/// and does not distinguish the errors.
macro_rules! raised_as_standard_exceptions {
    ($($error:ident: $($variant:pat => $kind:ident),+;)*) => {
        $(
            impl From<$error> for SystemException {
                fn from(error: $error) -> Self {
                    let kind = match &error {
                        $error::System(exception) => return exception.clone(),
                        $($variant => Kind::$kind,)+
                    };
                    Self::new(kind, minor::VALUE, CompletionStatus::No).with_detail(error.to_string())
                }
            }

            impl From<$error> for DispatchError {
                fn from(error: $error) -> Self {
                    Self::System(error.into())
                }
            }
        )*
    };
}

raised_as_standard_exceptions! {
    CreatePoaError:
        CreatePoaError::AdapterAlreadyExists(_) => BadInvOrder,
        CreatePoaError::InvalidPolicy { .. } => InvPolicy;
    FindPoaError: FindPoaError::AdapterNonExistent(_) => ObjAdapter;
    ManagerError: ManagerError::AdapterInactive(_) => BadInvOrder;
    IorTableError:
        IorTableError::AlreadyBound(_) => BadInvOrder,
        IorTableError::NotFound(_) => ObjectNotExist;
}

impl From<PoaError> for DispatchError {
    fn from(error: PoaError) -> Self {
        Self::System(error.into())
    }
}
