//! CORBA exceptions: the errors that a caller gets when a call does not return (CORBA 3.3 part 1,
//! Annex A).
//!
//! Lower-level crates have small typed errors of their own. This module converts them to standard
//! exceptions, with a minor code, a completion status, and a message that names the endpoint, the
//! phase and the operating system's reason. The message is not sent to the peer.

mod lower;
pub mod minor;
mod operation;
mod standard;
mod user;

pub(crate) use lower::{
    argument_exception, cdr_exception, code_set_exception, unmarshal_exception,
    unsupported_code_set,
};
pub use operation::OperationError;
pub use standard::{CompletionStatus, SystemException, SystemExceptionKind};
pub use user::UserException;
