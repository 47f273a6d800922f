//! Reasons for which a definition is not made, changed or removed.

use punctual::{CompletionStatus, SystemException, SystemExceptionKind, minor};
use thiserror::Error;

/// Reason for which a definition is not made, changed or removed (CORBA 3.3 part 1, §14.5.1 and
/// table A.3).
#[derive(Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Another definition has the same repository id.
    #[error("the repository id `{0}` is taken")]
    IdTaken(String),
    /// The container already has a definition with the same name.
    #[error("the name `{0}` is taken in its scope")]
    NameTaken(String),
    /// The container does not allow definitions of this kind.
    #[error("{0} cannot contain the definition")]
    Misplaced(String),
    /// Another definition refers to the one to be removed.
    #[error("`{0}` refers to the definition")]
    InUse(String),
    /// The definition does not exist.
    #[error("the definition does not exist")]
    NoSuchDefinition,
    /// The reference is nil, or not to an object of this repository.
    #[error("{0} is not in this repository")]
    Foreign(&'static str),
    /// The input is not possible in IDL.
    #[error("{0}")]
    Invalid(&'static str),
    /// The standard's repository has no definition for this IDL.
    #[error("{0} has no definition in CORBA 3.3's Interface Repository")]
    NotDefinable(String),
    /// Types nest too deep, or inheritance has a cycle.
    #[error("the type nests too deep, or in itself")]
    TooDeep,
    /// The repository is served read-only.
    #[error("the repository is served read-only")]
    ReadOnly,
    /// The peer has no right to change the repository.
    #[error("the peer may not change the repository")]
    NotPermitted,
    /// The repository's quota is used up.
    #[error("the quota of {0} would be exceeded (Quota)")]
    QuotaExceeded(String),
    /// The change could not be stored.
    #[error("it could not be stored: {0}")]
    Storage(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Reason why an Interface Repository cannot be served.
#[derive(Clone, Error)]
#[error("the repository cannot be served: {0}")]
pub struct ServeError(pub(crate) String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        use SystemExceptionKind as Kind;
        let (kind, minor) = match &refusal {
            Refusal::IdTaken(_) => (Kind::BadParam, minor::omg(2)),
            Refusal::NameTaken(_) => (Kind::BadParam, minor::omg(3)),
            Refusal::Misplaced(_) => (Kind::BadParam, minor::omg(4)),
            Refusal::InUse(_) => (Kind::BadInvOrder, minor::omg(1)),
            Refusal::NoSuchDefinition => (Kind::ObjectNotExist, 0),
            Refusal::Foreign(_) | Refusal::Invalid(_) | Refusal::NotDefinable(_) => {
                (Kind::BadParam, 0)
            }
            Refusal::TooDeep => (Kind::ImpLimit, 0),
            Refusal::QuotaExceeded(_) => (Kind::NoResources, 0),
            Refusal::ReadOnly | Refusal::NotPermitted => (Kind::NoPermission, 0),
            Refusal::Storage(_) => (Kind::PersistStore, 0),
        };
        SystemException::new(kind, minor, CompletionStatus::No).with_detail(refusal.to_string())
    }
}
