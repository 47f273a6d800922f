//! Arguments of requests: CORBA's `NamedValue`.

use punctual_any::{Any, ParameterMode, TypeCode};
use punctual_orb::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};

/// Argument: its name, its direction, its type, and its value, if it has one.
#[derive(Clone, Debug)]
pub struct Argument {
    name: String,
    mode: ParameterMode,
    type_code: TypeCode,
    value: Option<Any>,
}

impl Argument {
    pub(super) fn new(name: &str, mode: ParameterMode, type_code: &TypeCode) -> Self {
        Self {
            name: name.to_owned(),
            mode,
            type_code: type_code.clone(),
            value: None,
        }
    }

    pub(super) fn with_value(name: &str, mode: ParameterMode, value: Any) -> Self {
        Self {
            value: Some(value.clone()),
            ..Self::new(name, mode, value.type_code())
        }
    }

    /// Returns the argument's name, which is not sent in the request.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the argument's direction: `in`, `out` or `inout`.
    #[must_use]
    pub fn mode(&self) -> ParameterMode {
        self.mode
    }

    /// Returns the argument's type code.
    #[must_use]
    pub fn type_code(&self) -> &TypeCode {
        &self.type_code
    }

    /// Returns the value, if there is one: the given one, or the returned one.
    #[must_use]
    pub fn value(&self) -> Option<&Any> {
        self.value.as_ref()
    }

    pub(super) fn value_mut(&mut self) -> Option<&mut Any> {
        self.value.as_mut()
    }

    pub(super) fn set_value(&mut self, value: Any) {
        self.value = Some(value);
    }

    /// Swaps the returned value in, and leaves the former value in `returned`, where its buffer is
    /// reused.
    pub(super) fn exchange_value(&mut self, returned: &mut Any) {
        std::mem::swap(self.value.get_or_insert_default(), returned);
    }

    pub(super) fn goes_out(&self) -> bool {
        self.mode != ParameterMode::Out
    }

    pub(super) fn comes_back(&self) -> bool {
        self.mode != ParameterMode::In
    }
}

fn bad_param(detail: String) -> SystemException {
    SystemException::new(Kind::BadParam, minor::VALUE, CompletionStatus::No).with_detail(detail)
}

pub(super) fn missing_value_error(argument: &Argument) -> SystemException {
    bad_param(format!(
        "argument `{}` has no value; it is of type {}",
        argument.name, argument.type_code
    ))
}

pub(super) fn mismatch(argument: &Argument, given: &TypeCode) -> SystemException {
    bad_param(format!(
        "argument `{}` is of type {}, not {given}",
        argument.name, argument.type_code
    ))
}

pub(super) fn missing(index: usize, operation: &str) -> SystemException {
    bad_param(format!("`{operation}` has no argument {index}"))
}

pub(super) fn comes_back_oneway(argument: &Argument) -> SystemException {
    bad_param(format!(
        "argument `{}` is out or inout, which a one-way operation cannot have",
        argument.name
    ))
}
