//! Reasons why constraints cannot be evaluated.

use std::fmt;

use punctual_cdr::CdrError;
use thiserror::Error;

/// Reason why a constraint cannot be evaluated over an event, which makes it false.
#[derive(Clone, PartialEq, Eq, Error)]
pub enum Failure {
    /// The event has no such component, or it is not of the kind that the component's next step needs.
    #[error("the event has no such component")]
    Absent,
    /// An operator has operands of types that it does not take, or the result is not a boolean.
    #[error("an operand has the wrong type")]
    Type,
    /// A division has the divisor 0.
    #[error("division by zero")]
    DivisionByZero,
    /// A result has more than 127 bits and a sign.
    #[error("an integer is too large")]
    Overflow,
    /// The evaluation took more steps than [`Limits::steps`](crate::Limits::steps).
    #[error("the evaluation takes too many steps")]
    Steps,
    /// A value in the event is not encoded as its type says.
    #[error(transparent)]
    Encoding(#[from] CdrError),
}

/// Shows the message of Display, so that it is readable where `main` returns the error.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
