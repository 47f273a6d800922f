//! Reasons for which constraints are not taken, and their exceptions.

use punctual::SystemException;

use crate::cos_notify_filter::{
    ConstraintExp, ConstraintId, ConstraintNotFound, InvalidConstraint,
};
use crate::refusal::Refusal;

/// Reason for which constraints are not taken.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BadConstraints {
    /// This one is wrong; the reason is logged.
    Invalid(Box<ConstraintExp>),
    NotFound(ConstraintId),
    /// There would be more than this many.
    TooMany(usize),
    /// The filter has been destroyed, or cannot be stored.
    Refused(Refusal),
}

impl From<Refusal> for BadConstraints {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl BadConstraints {
    /// Returns the exception of an operation that adds constraints.
    pub(super) fn of_adding<E>(self) -> E
    where
        E: From<InvalidConstraint> + From<SystemException>,
    {
        match self {
            Self::Invalid(constr) => InvalidConstraint { constr: *constr }.into(),
            Self::TooMany(limit) => SystemException::from(too_many(limit)).into(),
            Self::Refused(refusal) => SystemException::from(refusal).into(),
            // An operation that adds names no ids.
            Self::NotFound(_) => SystemException::from(Refusal::Destroyed("filter")).into(),
        }
    }

    /// Returns the exception of an operation that changes constraints.
    pub(super) fn of_changing<E>(self) -> E
    where
        E: From<InvalidConstraint> + From<ConstraintNotFound> + From<SystemException>,
    {
        match self {
            Self::NotFound(id) => ConstraintNotFound { id }.into(),
            other => other.of_adding(),
        }
    }
}

const fn too_many(limit: usize) -> Refusal {
    Refusal::Full {
        what: "constraints of the filter",
        option: "most-constraints",
        limit,
    }
}
