//! Errors of the lower crates as standard exceptions.

use super::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use punctual_cdr::CdrError;

/// A value that could not be marshaled or unmarshaled.
pub(crate) fn cdr_exception(error: CdrError, completed: CompletionStatus) -> SystemException {
    let (kind, minor) = match error {
        CdrError::BoundExceeded { .. } | CdrError::InnerNul => (Kind::BadParam, minor::VALUE),
        CdrError::CharacterNotInCodeSet | CdrError::BadCharacter => {
            (Kind::DataConversion, minor::CHARACTER)
        }
        CdrError::WideNotNegotiated | CdrError::WideInGiop10 => {
            (Kind::InvObjref, minor::WIDE_NOT_SUPPORTED)
        }
        CdrError::NilReference => (Kind::BadParam, minor::NIL),
        CdrError::LengthOverLimit { .. }
        | CdrError::TooDeep { .. }
        | CdrError::TooManyValues { .. } => (Kind::Marshal, minor::LIMIT),
        CdrError::UnknownValue => (Kind::Marshal, minor::NO_VALUE_FACTORY),
        CdrError::BadTypeCode(_) => (Kind::BadTypecode, minor::ENCODING),
        _ => (Kind::Marshal, minor::ENCODING),
    };
    SystemException::new(kind, minor, completed).with_detail(error.to_string())
}

/// No code set that both sides know (CORBA 3.3 part 2, §7.10.2.6).
pub(crate) fn code_set_exception(what: impl std::fmt::Display) -> SystemException {
    SystemException::new(
        Kind::CodesetIncompatible,
        minor::omg(1),
        CompletionStatus::No,
    )
    .with_detail(what.to_string())
}
