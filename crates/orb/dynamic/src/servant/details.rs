//! Data for interceptors on a request whose servant knows its operations at run time.

use punctual_any::{Any, OperationDescription, ParameterMode, TypeCode};
use punctual_cdr::{CdrError, Decoder};
use punctual_orb::{ArgumentValues, Context, OperationDetails};

/// Received arguments, and the operation as far as the servant has described it.
#[derive(Debug)]
pub(super) struct ServedOperation {
    incoming: Vec<Any>,
    described: Option<(OperationDescription, Context)>,
}

impl ServedOperation {
    /// Creates the data for an operation of which only the received arguments are known.
    pub(super) fn unknown(incoming: Vec<Any>) -> Self {
        Self {
            incoming,
            described: None,
        }
    }

    /// Creates the data for an operation that the servant has described.
    pub(super) fn of(
        operation: &OperationDescription,
        incoming: Vec<Any>,
        context: Context,
    ) -> Self {
        Self {
            incoming,
            described: Some((operation.clone(), context)),
        }
    }
}

impl OperationDetails for ServedOperation {
    fn arguments(&self) -> ArgumentValues {
        let mut incoming = self.incoming.iter().cloned();
        let Some((operation, _)) = &self.described else {
            return incoming.map(|value| (ParameterMode::In, value)).collect();
        };
        let argument = |mode| match mode {
            ParameterMode::Out => (mode, Any::default()),
            _ => (mode, incoming.next().unwrap_or_default()),
        };
        let modes = operation.parameters.iter().map(|parameter| parameter.mode);
        modes.map(argument).collect()
    }

    fn is_described(&self) -> bool {
        self.described.is_some()
    }

    fn exceptions(&self) -> Vec<TypeCode> {
        let exceptions = self.described.iter().flat_map(|(one, _)| &one.exceptions);
        exceptions
            .map(|exception| exception.type_code.clone())
            .collect()
    }

    fn contexts(&self) -> Vec<String> {
        let contexts = self.described.iter().flat_map(|(one, _)| &one.contexts);
        contexts.cloned().collect()
    }

    fn operation_context(&self) -> Context {
        let described = self.described.as_ref();
        described.map_or_else(Context::new, |(_, context)| context.clone())
    }

    fn results(&self, reply: &mut Decoder<'_>) -> Result<(Any, ArgumentValues), CdrError> {
        let (mut result, mut arguments) = (Any::default(), self.arguments());
        let Some((operation, _)) = &self.described else {
            return Ok((result, arguments));
        };
        result.unmarshal_as(&operation.result, reply)?;
        let places = arguments.iter_mut().zip(&operation.parameters);
        for ((_, value), parameter) in places.filter(|(_, one)| one.mode != ParameterMode::In) {
            let mut returned = Any::default();
            returned.unmarshal_as(&parameter.type_code, reply)?;
            *value = returned;
        }
        Ok((result, arguments))
    }
}
