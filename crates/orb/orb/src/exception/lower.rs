//! Conversion of errors of lower-level crates to standard exceptions.

use super::minor;
use super::standard::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_any::{AnyError, TypeCodeError};
use punctual_cdr::{CdrError, Decoder, FixedError};
use punctual_giop::SystemExceptionBody;
use punctual_giop::code_sets::Unsupported;

/// Returns the exception for a value that could not be marshaled.
pub(crate) fn cdr_exception(error: CdrError, completed: CompletionStatus) -> SystemException {
    let (kind, minor) = match error {
        CdrError::BoundExceeded { .. } | CdrError::InnerNul => (Kind::BadParam, minor::VALUE),
        CdrError::CharacterNotInCodeSet | CdrError::BadCharacter => {
            (Kind::DataConversion, minor::CHARACTER)
        }
        CdrError::WideNotNegotiated => (Kind::BadParam, minor::WIDE_NOT_NEGOTIATED),
        CdrError::WideCodeSetUnsupported(_) => {
            (Kind::CodesetIncompatible, minor::CODE_SET_UNSUPPORTED)
        }
        CdrError::WideInGiop10 if completed == CompletionStatus::No => {
            (Kind::Marshal, minor::WIDE_ARGUMENT_IN_GIOP_1_0)
        }
        CdrError::WideInGiop10 => (Kind::Marshal, minor::WIDE_RESULT_IN_GIOP_1_0),
        CdrError::NilReference => (Kind::BadParam, minor::NIL),
        CdrError::LengthOverLimit { .. }
        | CdrError::TooDeep { .. }
        | CdrError::ReadAgain { .. }
        | CdrError::TooManyValues { .. } => (Kind::Marshal, minor::LIMIT),
        CdrError::UnknownValue => (Kind::Marshal, minor::NO_VALUE_FACTORY),
        CdrError::BadTypeCode(_) => (Kind::BadTypecode, minor::ENCODING),
        _ => (Kind::Marshal, minor::ENCODING),
    };
    SystemException::new(kind, minor, completed).with_detail(error.to_string())
}

/// Returns the exception for a value that could not be unmarshaled. A value that is invalid for its
/// type is the sender's fault here (MARSHAL), whereas in marshaling it would be the caller's
/// (BAD_PARAM).
pub(crate) fn unmarshal_exception(error: CdrError, completed: CompletionStatus) -> SystemException {
    match error {
        CdrError::BoundExceeded { .. } | CdrError::InnerNul => {
            SystemException::new(Kind::Marshal, minor::ENCODING, completed)
                .with_detail(error.to_string())
        }
        _ => cdr_exception(error, completed),
    }
}

/// Returns the exception for an argument that could not be marshaled. For wide text the exception
/// depends on whether the reference announces code sets (CORBA 3.3 part 2, §7.10.2.6).
pub(crate) fn argument_exception(error: CdrError, announces_code_sets: bool) -> SystemException {
    let minor = match announces_code_sets {
        true => minor::WIDE_NOT_SUPPORTED,
        false => minor::NO_CODE_SETS,
    };
    match error {
        CdrError::WideNotNegotiated => {
            SystemException::new(Kind::InvObjref, minor, CompletionStatus::No)
                .with_detail(error.to_string())
        }
        _ => cdr_exception(error, CompletionStatus::No),
    }
}

/// Returns a client's exception for a server that shares no code set with it (CORBA 3.3 part 2,
/// §7.10.2.6).
pub(crate) fn code_set_exception(what: impl std::fmt::Display) -> SystemException {
    let (kind, minor) = (Kind::CodesetIncompatible, minor::NO_COMMON_CODE_SET);
    SystemException::new(kind, minor, CompletionStatus::No).with_detail(what.to_string())
}

/// Returns a server's exception for a client that chose a code set which the server does not have
/// (CORBA 3.3 part 2, §7.10.2.5).
pub(crate) fn unsupported_code_set(error: Unsupported) -> SystemException {
    let (kind, minor) = (Kind::CodesetIncompatible, minor::CODE_SET_UNSUPPORTED);
    SystemException::new(kind, minor, CompletionStatus::No).with_detail(error.to_string())
}

impl SystemException {
    /// Reads the exception from the body of a reply with the status SYSTEM_EXCEPTION (CORBA 3.3
    /// part 2, §9.4.3.2).
    ///
    /// # Errors
    /// If the body cannot be decoded.
    pub fn received(body: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let body = SystemExceptionBody::decode(body)?;
        let completed = CompletionStatus::from_number(body.completed);
        Ok(match Kind::from_repository_id(body.repository_id) {
            Some(kind) => {
                let exception = Self::new(kind, body.minor, completed);
                let meaning = exception.meaning();
                exception.with_detail(format!("raised by the server: {meaning}"))
            }
            None => Self::new(Kind::Unknown, body.minor, completed)
                .with_detail(format!("raised by the server as `{}`", body.repository_id)),
        })
    }
}

/// Converts the error of a servant that fails to create a value, or to read one that it received as
/// an Any; the completion status is COMPLETED_NO.
impl From<CdrError> for SystemException {
    fn from(error: CdrError) -> Self {
        cdr_exception(error, CompletionStatus::No)
    }
}

/// Converts to BAD_PARAM for an Any that holds another type.
impl From<AnyError> for SystemException {
    fn from(error: AnyError) -> Self {
        match error {
            AnyError::Cdr(error) => error.into(),
            AnyError::TypeMismatch { .. } => of_value(Kind::BadParam, error),
        }
    }
}

impl From<TypeCodeError> for SystemException {
    fn from(error: TypeCodeError) -> Self {
        of_value(Kind::BadTypecode, error)
    }
}

impl From<FixedError> for SystemException {
    fn from(error: FixedError) -> Self {
        of_value(Kind::DataConversion, error)
    }
}

fn of_value(kind: Kind, error: impl std::error::Error) -> SystemException {
    SystemException::new(kind, minor::VALUE, CompletionStatus::No).with_detail(error.to_string())
}
