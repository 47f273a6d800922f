//! What generated code says of the operations of an interface: which types travel. For whoever reads requests beside stub and
//! skeleton, such as interceptors and traces; neither of the two needs it.

use crate::context::Context;
use punctual_any::{Any, ParameterMode, TypeBuilder, TypeCode, TypeIndex};
use punctual_cdr::{CdrError, Decoder, Unmarshal};

/// Arguments, each with the way it goes.
pub type ArgumentValues = Vec<(ParameterMode, Any)>;

/// Describes a type, as [`Typed::describe`](punctual_any::Typed::describe) does.
pub type Describe = fn(&mut TypeBuilder) -> TypeIndex;

/// What travels with requests to an operation and with their replies. The IDL compiler makes them.
#[derive(Clone, Copy, Debug)]
pub struct OperationTypes {
    name: &'static str,
    result: Describe,
    parameters: &'static [(&'static str, ParameterMode, Describe)],
    exceptions: &'static [Describe],
    contexts: &'static [&'static str],
}

/// The operations that an interface declares itself.
pub trait DescribedOperations {
    /// In the order of the IDL; the halves of attributes are operations.
    const OWN_TYPES: &'static [OperationTypes];
}

impl OperationTypes {
    /// An operation: its name on the wire, its result, its parameters in their order, and the user exceptions that it may raise.
    #[must_use]
    pub const fn new(
        name: &'static str,
        result: Describe,
        parameters: &'static [(&'static str, ParameterMode, Describe)],
        exceptions: &'static [Describe],
    ) -> Self {
        Self {
            name,
            result,
            parameters,
            exceptions,
            contexts: &[],
        }
    }

    /// The same with a `context` clause.
    #[must_use]
    pub const fn with_contexts(self, contexts: &'static [&'static str]) -> Self {
        Self { contexts, ..self }
    }

    /// The one of that name.
    #[must_use]
    pub fn find(operations: &'static [Self], name: &str) -> Option<&'static Self> {
        operations.iter().find(|operation| operation.name == name)
    }

    /// The type of the result.
    #[must_use]
    pub fn result(&self) -> TypeCode {
        TypeBuilder::described(self.result)
    }

    /// The name of each parameter.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parameters.iter().map(|(name, ..)| *name)
    }

    /// Name, mode and type of each parameter.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, ParameterMode, TypeCode)> {
        self.parameters
            .iter()
            .map(|(name, mode, describe)| (*name, *mode, TypeBuilder::described(*describe)))
    }

    /// The types of the user exceptions.
    #[must_use]
    pub fn exceptions(&self) -> Vec<TypeCode> {
        let exceptions = self.exceptions.iter();
        exceptions
            .map(|describe| TypeBuilder::described(*describe))
            .collect()
    }

    /// The names of the `context` clause.
    #[must_use]
    pub fn contexts(&self) -> &'static [&'static str] {
        self.contexts
    }

    /// Reads the arguments of a request; those that only come back have no value.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub fn arguments(&self, request: &mut Decoder<'_>) -> Result<ArgumentValues, CdrError> {
        let argument = |(_, mode, type_code): (_, ParameterMode, TypeCode)| {
            let mut value = Any::default();
            if mode != ParameterMode::Out {
                value.unmarshal_as(&type_code, request)?;
            }
            Ok((mode, value))
        };
        self.parameters().map(argument).collect()
    }

    /// Reads the values of the `context` clause, which stand behind the arguments.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub fn context(&self, request: &mut Decoder<'_>) -> Result<Context, CdrError> {
        self.arguments(request)?;
        match self.contexts {
            [] => Ok(Context::new()),
            _ => Context::unmarshal(request),
        }
    }

    /// Reads what a reply brings: the result, and the arguments that come back.
    ///
    /// # Errors
    /// What is wrong with the reply.
    pub fn results(&self, reply: &mut Decoder<'_>) -> Result<(Any, ArgumentValues), CdrError> {
        let mut result = Any::default();
        result.unmarshal_as(&self.result(), reply)?;
        let argument = |(_, mode, type_code): (_, ParameterMode, TypeCode)| {
            let mut value = Any::default();
            if mode != ParameterMode::In {
                value.unmarshal_as(&type_code, reply)?;
            }
            Ok((mode, value))
        };
        let arguments = self
            .parameters()
            .map(argument)
            .collect::<Result<_, CdrError>>()?;
        Ok((result, arguments))
    }
}
