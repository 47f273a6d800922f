//! Reasons for which an operation of the naming service is refused.

use punctual::{CompletionStatus, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::cos_naming::naming_context::{AlreadyBound, InvalidName, NotEmpty, NotFoundReason};
use crate::cos_naming::{self, Name};
use crate::extension;
use crate::store::{ContextId, StoreError, Target, Ttl};

/// Reason for which a naming operation is refused.
#[derive(Clone, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The name, or a part of it, is not bound or is bound to something unsuitable.
    #[error("{}", not_found(*.why, .rest))]
    NotFound {
        /// Reason in the terms of the standard's NotFound exception.
        why: NotFoundReason,
        /// Remaining components, the first of which cannot be resolved.
        rest: Name,
    },
    /// The name leads through a context that is not in this server: one of another server, or a
    /// destroyed one.
    #[error("the name leads through a context of another server, or a destroyed one")]
    Elsewhere {
        /// Binding target at which the resolution of the name stopped.
        context: Target,
        /// Remaining components of the name, to be resolved at that target.
        rest: Name,
    },
    /// The name is invalid.
    #[error("the name is invalid: {0}")]
    InvalidName(&'static str),
    /// The name is already bound.
    #[error("the name is bound already")]
    AlreadyBound,
    /// The context cannot be destroyed because it has bindings.
    #[error("the context has bindings")]
    NotEmpty,
    /// The context does not exist, or no longer exists.
    #[error("the context does not exist")]
    NoSuchContext,
    /// The root naming context cannot be destroyed.
    #[error("the root context cannot be destroyed")]
    Root,
    /// A nil reference was passed instead of a naming context.
    #[error("a nil reference is not a naming context")]
    NilContext,
    /// The time to live of a binding is out of range.
    #[error("{}", Ttl::BOUNDS)]
    BadTtl,
    /// A nil reference was passed for a member of an object group.
    #[error("a nil reference cannot be a member of a group")]
    NilMember,
    /// The reported load is not a valid number.
    #[error("a load must be a number of at least 0")]
    BadLoad,
    /// The group has no member, or none that is alive.
    #[error("the group has no member now, or none that answers")]
    NoMember,
    /// A configured limit of the naming service is exceeded.
    #[error("the limit of {0} is reached (Limits)")]
    LimitExceeded(String),
    /// The peer has no right to change that context.
    #[error("the peer may not change this context")]
    NotPermitted,
    /// The group service, which has the groups of this one, cannot be reached or refuses.
    #[error("the group service does not do it: {0}")]
    GroupService(SystemException),
    /// The change could not be stored by the naming service.
    #[error("it could not be stored: {0}")]
    Store(StoreError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn not_found(why: NotFoundReason, rest: &Name) -> String {
    let what = match why {
        NotFoundReason::MissingNode => "is not bound",
        NotFoundReason::NotContext => "is not bound to a context",
        NotFoundReason::NotObject => "is bound to a context",
    };
    let first = rest.get(..1).unwrap_or_default();
    let first = first.iter().map(|one| (one.id.as_str(), one.kind.as_str()));
    format!("`{}` {what}", punctual_ior::name_to_text(first))
}

impl Refusal {
    /// Returns the refusal for the component at position `at` of a name.
    pub(crate) fn not_found(
        why: NotFoundReason,
        name: &[cos_naming::NameComponent],
        at: usize,
    ) -> Self {
        let rest = name.get(at..).unwrap_or_default().to_vec();
        Refusal::NotFound { why, rest }
    }

    /// Returns whether the group service could not be reached, or did not answer in time.
    pub(crate) fn is_away(&self) -> bool {
        match self {
            Self::GroupService(exception) => exception.kind() == SystemExceptionKind::Transient,
            _ => false,
        }
    }

    /// Returns whether the same request may succeed later without a change of access rules.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::GroupService(exception) => exception.kind() != SystemExceptionKind::NoPermission,
            _ => true,
        }
    }

    /// Returns the refusal for a context that an operation was called on and that no longer exists.
    pub(crate) fn missing(_: ContextId) -> Self {
        Refusal::NoSuchContext
    }
}

/// Converts refusals to exceptions, for operations without a matching user exception.
impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        use SystemExceptionKind as Kind;
        if let Refusal::GroupService(exception) = refusal {
            return exception;
        }
        let kind = match &refusal {
            Refusal::NoSuchContext => Kind::ObjectNotExist,
            Refusal::LimitExceeded(_) => Kind::NoResources,
            Refusal::NotPermitted | Refusal::Root => Kind::NoPermission,
            Refusal::Store(StoreError::Away(_) | StoreError::Unknown(_)) => Kind::Transient,
            Refusal::Store(_) => Kind::PersistStore,
            Refusal::NilContext | Refusal::BadTtl | Refusal::NilMember | Refusal::BadLoad => {
                Kind::BadParam
            }
            Refusal::NoMember => Kind::Transient,
            // Operations raise a user exception for each of these that can occur.
            _ => Kind::BadParam,
        };
        let completed = match &refusal {
            Refusal::Store(StoreError::Unknown(_)) => CompletionStatus::Maybe,
            _ => CompletionStatus::No,
        };
        SystemException::new(kind, 0, completed).with_detail(refusal.to_string())
    }
}

/// Converts refusals to the error types of operations, by the user exceptions that each operation
/// declares.
macro_rules! raised {
    ($($error:path: $($exception:ident)*;)*) => {
        $(
            impl From<Refusal> for $error {
                fn from(refusal: Refusal) -> Self {
                    match refusal {
                        $(raised!(@pattern $exception rest why) => raised!(@value $exception rest why),)*
                        refusal => Self::System(refusal.into()),
                    }
                }
            }
        )*
    };
    (@pattern NotFound $rest:ident $why:ident) => { Refusal::NotFound { why: $why, rest: $rest } };
    (@value NotFound $rest:ident $why:ident) => {
        Self::NotFound(cos_naming::naming_context::NotFound { why: $why, rest_of_name: $rest })
    };
    (@pattern InvalidName $rest:ident $why:ident) => { Refusal::InvalidName(_) };
    (@value InvalidName $rest:ident $why:ident) => { Self::InvalidName(InvalidName) };
    (@pattern AlreadyBound $rest:ident $why:ident) => { Refusal::AlreadyBound };
    (@value AlreadyBound $rest:ident $why:ident) => { Self::AlreadyBound(AlreadyBound) };
    (@pattern NotEmpty $rest:ident $why:ident) => { Refusal::NotEmpty };
    (@value NotEmpty $rest:ident $why:ident) => { Self::NotEmpty(NotEmpty) };
}

raised! {
    cos_naming::NamingContextBindError: NotFound InvalidName AlreadyBound;
    cos_naming::NamingContextRebindError: NotFound InvalidName;
    cos_naming::NamingContextBindContextError: NotFound InvalidName AlreadyBound;
    cos_naming::NamingContextRebindContextError: NotFound InvalidName;
    cos_naming::NamingContextResolveError: NotFound InvalidName;
    cos_naming::NamingContextUnbindError: NotFound InvalidName;
    cos_naming::NamingContextBindNewContextError: NotFound InvalidName AlreadyBound;
    cos_naming::NamingContextDestroyError: NotEmpty;
    cos_naming::NamingContextExtToStringError: InvalidName;
    cos_naming::NamingContextExtToNameError: InvalidName;
    cos_naming::NamingContextExtToUrlError: InvalidName;
    cos_naming::NamingContextExtResolveStrError: NotFound InvalidName;
    extension::ExtendedContextBindForError: NotFound InvalidName AlreadyBound;
    extension::ExtendedContextAboutError: NotFound InvalidName;
    extension::ExtendedContextBindGroupError: NotFound InvalidName AlreadyBound;
    extension::ExtendedContextJoinError: NotFound InvalidName;
    extension::ExtendedContextLeaveError: NotFound InvalidName;
    extension::ExtendedContextReportError: NotFound InvalidName;
    extension::ExtendedContextMembersError: NotFound InvalidName;
}
